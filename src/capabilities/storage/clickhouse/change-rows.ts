import { problem } from '../../../kernel/problem.ts'
import {
  type Columnar,
  ColumnarError,
  patchSettings,
  type QueryParams,
} from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../record-contract.ts'
import { type ClusterChange, changeOnCluster } from './cluster-changes.ts'
import type { ProjectCondition } from './conditions.ts'
import type { ConditionWork, SharedChanges } from './shared-changes.ts'
import { asStoreFailure } from './store-failure.ts'
import type { TableTarget } from './table-target.ts'

/** Bound of a statement, which rewrites parts and may wait for merges. */
const statement_ms_max = 600_000

/** A partition: its rows and bytes, and its times in seconds since 1970. */
type PartStats = {
  partition_id: string
  rows: number
  bytes: number
  from: number
  to: number
}

const second_ns = 1_000_000_000n

/** A window in seconds since 1970. */
type SecondWindow = { from: number; to: number }

/** Widens a window of nanoseconds to whole seconds. */
export function toSeconds({ from, to }: { from: bigint; to: bigint }): SecondWindow {
  return { from: Number(from / second_ns), to: Number((to + second_ns - 1n) / second_ns) }
}

/** Estimates the bytes of records from the mean row size of the window's partitions. */
export function estimateBytes(
  records: number,
  parts: readonly PartStats[],
  window: SecondWindow,
): number {
  const around = parts.filter(({ from, to }) => from < window.to && to >= window.from)
  const rows = around.reduce((all, part) => all + part.rows, 0)
  const bytes = around.reduce((all, part) => all + part.bytes, 0)
  return rows === 0 ? 0 : Math.round((records * bytes) / rows)
}

/** Statements that change the rows of one table, partition by partition. */
export type RowChanges = {
  /** Lists the partitions that may have rows in a window of seconds since 1970. */
  parts(window: { from: number; to: number }): Promise<PartStats[]>
  /** Lists the partitions with rows of a condition. */
  holding(condition: ProjectCondition): Promise<string[]>
  /** Lists the partitions that store rows of a condition, including rows marked as deleted. */
  storing(condition: ProjectCondition): Promise<string[]>
  /**
   * Deletes the rows of a condition in a partition, combined with concurrent requests where changes
   * are shared. Drops whole parts where all rows match. Returns false if no rows are left that are
   * only marked as deleted.
   */
  deleteIn(partition_id: string, condition: ProjectCondition): Promise<boolean>
  /** Updates columns of the rows of a condition in a partition. */
  updateIn(partition_id: string, set: string, condition: ProjectCondition): Promise<void>
  /** Updates columns of the rows of a condition in all partitions, by a patch where there are any. */
  update(set: string, condition: ProjectCondition): Promise<void>
  /** Deletes the rows of a condition in all partitions. */
  remove(condition: ProjectCondition): Promise<void>
  /** Drops a partition with all of its rows. */
  dropPartition(partition_id: string): Promise<void>
  /** Removes the bytes of deleted rows from disk, without waiting for merges. */
  purge(partition_id: string): Promise<void>
}

/** Opens the changes of a kind's table. */
export type ChangesOf = (kind: RecordKind, signal?: AbortSignal) => Promise<RowChanges>

/** Maximum partitions listed of a table: days of sixteen years, and other years. */
const partitions_max = 10_000

/** Opens changes of a table. `readFrom`: the table for reads, in a cluster the distributed one. */
export function rowChanges(
  columnar: Columnar,
  target: TableTarget,
  readFrom: string,
  { signal: given, share }: { signal?: AbortSignal | undefined; share?: SharedChanges } = {},
): RowChanges {
  const { table, has_patches } = target
  const run = async (statement: Change, signal: AbortSignal | undefined) => {
    signal?.throwIfAborted()
    await refuseWhenBehind(columnar, target)
    await runChange(columnar, target, { ...statement, signal })
  }
  const hasRows = async ({ sql, params, projects }: ProjectCondition) => {
    const found = `SELECT 1 AS found FROM ${readFrom} WHERE ${sql} LIMIT 1`
    const rows = columnar.ofProjects(projects).query(found, params)
    return (await asStoreFailure(rows)).length > 0
  }
  const alter = (change: string, params: QueryParams = {}, kind: ChangeKind = {}) =>
    run({ sql: `ALTER TABLE ${table}${onCluster(target)} ${change}`, params, ...kind }, given)
  const remove = (
    partition: string,
    { sql, params }: ProjectCondition,
    signal: AbortSignal | undefined,
  ) => run({ sql: deleteStatement(target, partition, sql), params, is_deletion: true }, signal)
  const deleteIn = async (
    partition_id: string,
    condition: ProjectCondition,
    signal?: AbortSignal,
  ) => {
    // Names of parts are per server, so a cluster has to delete rows.
    if (target.cluster === undefined) await dropWholeParts(columnar, table, partition_id, condition)
    if (!(await hasRows(condition))) return false
    await remove(partitionOf(partition_id), condition, signal)
    return true
  }
  const partitionsWith = async (
    { sql, params, projects }: ProjectCondition,
    settings: Record<string, number> = {},
  ) => {
    const found = `SELECT _partition_id AS id FROM ${readFrom}
      WHERE ${sql} GROUP BY id ORDER BY id LIMIT ${partitions_max}`
    const rows = columnar.ofProjects(projects).query<{ id: string }>(found, params, { settings })
    return (await asStoreFailure(rows)).map(({ id }) => id)
  }
  return {
    parts: (window) => readParts(columnar, target, window),
    holding: (condition) => partitionsWith(condition),
    storing: (condition) => partitionsWith(condition, { apply_deleted_mask: 0 }),
    deleteIn: (partition_id, condition) => {
      if (share === undefined) return deleteIn(partition_id, condition, given)
      const work: ConditionWork = (all, signal) => deleteIn(partition_id, all, signal)
      return share(`${table} ${partition_id}`, { condition, signal: given, work })
    },
    updateIn: async (partition_id, set, condition) => {
      if (!(await hasRows(condition))) return
      const partition = partitionOf(partition_id)
      const change = `UPDATE ${set} ${partition} WHERE ${condition.sql}`
      await alter(change, condition.params, { is_deletion: true })
    },
    update: (set, { sql, params }) =>
      has_patches
        ? run({ sql: `UPDATE ${table} SET ${set} WHERE ${sql}`, params }, given)
        : alter(`UPDATE ${set} WHERE ${sql}`, params),
    remove: (condition) => remove('', condition, given),
    dropPartition: async (partition_id) =>
      alter(`DROP PARTITION ID '${checkPartition(partition_id)}'`, {}, { is_drop: true }),
    purge: async (partition_id) => {
      const partition = partitionOf(partition_id)
      if (has_patches) await alter(`APPLY PATCHES ${partition}`)
      await alter(`APPLY DELETED MASK ${partition}`, {}, { is_deletion: true })
    },
  }
}

type ChangeKind = {
  /** Whether data must be gone from every replica when it is done. */
  is_deletion?: boolean
  is_drop?: boolean
}
type Change = ChangeKind & { sql: string; params: QueryParams }

/** Runs a change on the one server, or once per shard of the cluster. Resolves when reads see it. */
async function runChange(
  columnar: Columnar,
  { database, table, cluster, has_patches }: TableTarget,
  change: Change & Pick<ClusterChange, 'signal'>,
): Promise<void> {
  const { sql, params, signal, is_deletion = false, is_drop = false } = change
  const changes = columnar.acrossProjects('changes of rows')
  if (cluster !== undefined) {
    const catalogue = columnar.acrossProjects('catalogue')
    const needs = { needs_all_replicas: is_deletion, is_mutation: !is_drop }
    const asked = { sql, params, signal, ...needs, timeout_ms: statement_ms_max }
    return changeOnCluster({ changes, catalogue }, { database, table, cluster }, asked)
  }
  await asStoreFailure(
    changes.command(sql, params, {
      timeout_ms: statement_ms_max,
      ...(has_patches && { settings: { ...patchSettings } }),
      ...(signal !== undefined && { signal }),
    }),
  )
}

function onCluster({ on_cluster }: TableTarget): string {
  return on_cluster === '' ? '' : ` ${on_cluster}`
}

/**
 * Returns the statement that marks rows as deleted. In a cluster it is the ALTER that ClickHouse
 * makes of a DELETE: an ALTER runs on one replica of each shard, in all versions.
 */
function deleteStatement(target: TableTarget, partition: string, where: string): string {
  const words = (parts: readonly string[]) => parts.filter((part) => part !== '').join(' ')
  if (target.cluster === undefined) {
    return words([`DELETE FROM ${target.table}`, partition, `WHERE ${where}`])
  }
  const table = `ALTER TABLE ${target.table}${onCluster(target)}`
  return words([table, 'UPDATE _row_exists = 0', partition, `WHERE ${where}`])
}

/** Refuses new changes while too many are running: retried statements would pile up. */
async function refuseWhenBehind(
  columnar: Columnar,
  { mutations, database, table }: TableTarget,
): Promise<void> {
  const [row] = await asStoreFailure(
    columnar.acrossProjects('catalogue').query<{ waiting: string }>(
      `SELECT count() AS waiting FROM ${mutations}
       WHERE database = {database:String} AND table = {table:String} AND NOT is_done`,
      { database, table },
    ),
  )
  if (Number(row?.waiting ?? 0) < mutations_max) return
  throw problem('store_unavailable', {
    detail: `The columnar store has ${row?.waiting} pending changes of ${table}. Try again later.`,
    retry_after_s: 60,
  })
}

/** Maximum pending changes of a table, of all projects. */
const mutations_max = 20

function partitionOf(partition_id: string): string {
  return `IN PARTITION ID '${checkPartition(partition_id)}'`
}

/** Checks a partition's name, which can't be a parameter in these statements. */
function checkPartition(partition_id: string): string {
  if (/^\w{1,64}$/.test(partition_id)) return partition_id
  throw new TypeError(`got the partition "${partition_id}", expected letters and digits`)
}

async function readParts(
  columnar: Columnar,
  { parts, database, table }: TableTarget,
  window: { from: number; to: number },
): Promise<PartStats[]> {
  type Row = Record<'partition_id' | 'rows' | 'bytes' | 'from' | 'to', string>
  const rows = await asStoreFailure(
    // A server that is left out in silence would keep its rows.
    columnar.acrossProjects('whole parts').query<Row>(
      `SELECT partition_id, toString(sum(rows)) AS rows, toString(sum(bytes_on_disk)) AS bytes,
         toString(min(toInt64(toUnixTimestamp(min_time)))) AS from,
         toString(max(toInt64(toUnixTimestamp(max_time)))) AS to
       FROM ${parts}
       WHERE database = {database:String} AND table = {table:String} AND active
         AND toInt64(toUnixTimestamp(min_time)) < {to:Int64}
         AND toInt64(toUnixTimestamp(max_time)) >= {from:Int64}
       GROUP BY partition_id ORDER BY partition_id`,
      { database, table, from: BigInt(window.from), to: BigInt(window.to) },
    ),
  )
  return rows.map(({ partition_id, rows, bytes, from, to }) => ({
    partition_id,
    rows: Number(rows),
    bytes: Number(bytes),
    from: Number(from),
    to: Number(to),
  }))
}

/**
 * Drops parts whose remaining rows all match the condition, which frees bytes without a rewrite.
 * Parts are immutable, so new rows are in other parts. A part that was merged meanwhile no longer
 * exists; the DELETE then removes its rows.
 */
async function dropWholeParts(
  columnar: Columnar,
  table: string,
  partition: string,
  { sql, params }: ProjectCondition,
): Promise<void> {
  // Must see the rows of other projects, which keep a part.
  const statements = columnar.acrossProjects('whole parts')
  const parts = await asStoreFailure(
    statements.query<{ part: string }>(
      `SELECT _part AS part FROM ${table} WHERE _partition_id = {partition:String}
       GROUP BY part HAVING count() = countIf(${sql})`,
      { ...params, partition },
    ),
  )
  for (const { part } of parts) {
    try {
      await asStoreFailure(
        statements.command(`ALTER TABLE ${table} DROP PART {part:String}`, { part }),
      )
    } catch (error) {
      if (!(error instanceof ColumnarError && error.code === noSuchPart)) throw error
    }
  }
}

/** NO_SUCH_DATA_PART. */
const noSuchPart = 232
