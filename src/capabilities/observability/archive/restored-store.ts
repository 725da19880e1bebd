import {
  type Columnar,
  type QueryParams,
  renderStatement,
} from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../stores/index.ts'
import { columnsSql } from './archive-store.ts'
import type { NsWindow } from './days.ts'
import { asArchiveFailure } from './failures.ts'
import { type ArchivedKind, archivedKinds } from './kinds.ts'
import type { ArchivedColumn } from './manifest.ts'
import { quoted, rowHash, rowHashColumn } from './row-hash.ts'

/** Where the rows of slices lie. Rejects with `store_unavailable`. */
export type RestoredStore = {
  /** The columns of a kind that can be restored. */
  columnsOf(kind: RecordKind): Promise<ArchivedColumn[]>
  /** Adds the rows of a file to a slice; again is fine, rows replace themselves. */
  insertFile(file: FileToInsert): Promise<void>
  /** The rows of a kind and window that a slice holds. */
  sums(asked: SumsQuery): Promise<{ rows: number; row_checksum: string }>
  /** A page of the users with rows in a slice, by their ids. */
  users(slice: SliceKey, page: { after: string; limit: number }): Promise<string[]>
  /** Takes out the rows of users, and of their traces those that name no user; counts them. */
  eraseUsers(slice: SliceKey, user_ids: readonly string[]): Promise<number>
  /** Takes out the rows of a user from all slices of a project. */
  eraseUser(about: { project_id: string; user_id: string }): Promise<void>
  /** Takes out the slice. */
  dropSlice(slice_id: string): Promise<void>
}

export type SliceKey = { slice_id: string; project_id: string }
export type FileToInsert = SliceKey & {
  kind: RecordKind
  columns: readonly ArchivedColumn[]
  bytes: Buffer
  signal: AbortSignal
}
export type SumsQuery = SliceKey & {
  kind: ArchivedKind
  columns: readonly ArchivedColumn[]
  window: NsWindow
  /** Of rows that lie there more than once only one; takes longer. */
  each_once: boolean
  signal: AbortSignal
}

export type RestoredStoreOptions = {
  columnar: Columnar
  /** The cluster that the tables are on; one server without it. */
  cluster?: string | undefined
}

/** Opens the tables of slices. */
export function openRestoredStore(options: RestoredStoreOptions): RestoredStore {
  const { columnar } = options
  const query = <Row>(sql: string, params: QueryParams, signal?: AbortSignal) =>
    asArchiveFailure(columnar.query<Row>(sql, params, { timeout_ms, ...(signal && { signal }) }))
  return {
    columnsOf: async (kind) => {
      const columns = await query<ArchivedColumn>(columnsSql, { table: tableOf(kind) })
      return columns.filter(({ name }) => name !== 'slice_id')
    },
    insertFile: (file) => asArchiveFailure(insertFile(columnar, file)),
    sums: async ({ window, slice_id, project_id, ...asked }) => {
      const params = { slice: slice_id, project: project_id, ...window }
      const [row] = await query<{ rows: string; row_checksum: string }>(
        sumsSql(asked),
        params,
        asked.signal,
      )
      return { rows: Number(row?.rows ?? 0), row_checksum: row?.row_checksum ?? '0' }
    },
    users: async ({ slice_id, project_id }, page) => {
      const params = { slice: slice_id, project: project_id, ...page }
      return (await query<{ user_id: string }>(usersSql, params)).map(({ user_id }) => user_id)
    },
    eraseUsers: (slice, user_ids) => asArchiveFailure(eraseUsers(options, slice, user_ids)),
    eraseUser: ({ project_id, user_id }) =>
      asArchiveFailure(eraseUsers(options, { project_id }, [user_id])).then(() => undefined),
    dropSlice: (slice_id) => asArchiveFailure(dropSlice(options, slice_id)),
  }
}

/** A statement takes seconds; this is for a machine that is much too busy. */
const timeout_ms = 600_000

function tableOf(kind: RecordKind): string {
  return `restored_${kind}`
}

async function insertFile(columnar: Columnar, file: FileToInsert): Promise<void> {
  const { kind, columns, slice_id, project_id, bytes, signal } = file
  const names = columns.map(({ name }) => quoted(name))
  const values = columns.map((column) => insertedValue(column))
  const structure = [...columns.map(givenColumn), `${rowHashColumn} UInt64`].join(', ')
  const statement = `INSERT INTO ${tableOf(kind)} (\`slice_id\`, ${names.join(', ')})
SELECT {slice:UUID}, ${values.join(', ')} FROM input('${structure.replaceAll("'", "\\'")}')`
  const params = { slice: slice_id, project: project_id }
  await columnar.insertParquet(statement, bytes, { params, signal, timeout_ms, settings })
}

const settings = { input_format_parquet_allow_missing_columns: 0, max_insert_block_size: 25_000 }

/** A slice is of one project, whatever stands in a file. */
function insertedValue({ name, type }: ArchivedColumn): string {
  if (name === 'project_id') return '{project:UUID}'
  return type === 'UUID' ? `toUUID(${quoted(name)})` : quoted(name)
}

function givenColumn({ name, type }: ArchivedColumn): string {
  return `${quoted(name)} ${type === 'UUID' ? 'String' : type}`
}

function sumsSql({ kind, columns, each_once }: Omit<SumsQuery, keyof SliceKey | 'window'>): string {
  const identity = kind.position.map(({ column }) => quoted(column)).join(', ')
  const order = kind.order_before ? `${kind.order_before}, ${identity}` : identity
  const time = quoted(kind.time)
  return `SELECT count() AS rows, toString(sum(${rowHash(columns)})) AS row_checksum FROM (
  SELECT ${columns.map(({ name }) => quoted(name)).join(', ')} FROM ${tableOf(kind.kind)}
  WHERE slice_id = {slice:UUID} AND project_id = {project:UUID}
    AND ${time} >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND ${time} < fromUnixTimestamp64Nano({to:Int64}, 'UTC')${
      each_once ? `\n  ORDER BY ${order}\n  LIMIT 1 BY ${identity}` : ''
    }
)`
}

/** The kinds whose rows name a user; rows of the others belong to a trace. */
const namingUsers: readonly RecordKind[] = ['observations', 'traces']

const usersSql = `SELECT DISTINCT user_id FROM (
${namingUsers
  .map(
    (kind) => `  SELECT user_id FROM ${tableOf(kind)}
  WHERE slice_id = {slice:UUID} AND project_id = {project:UUID} AND user_id > {after:String}`,
  )
  .join('\n  UNION ALL\n')}
)
ORDER BY user_id LIMIT {limit:UInt32}`

/** Ids of one statement: they travel in its parameters. */
const ids_max = 1_000

type Rows = { kind: RecordKind; column: 'user_id' | 'trace_id'; ids: readonly string[] }
type Within = { project_id: string; slice_id?: string }

async function eraseUsers(
  options: RestoredStoreOptions,
  within: Within,
  user_ids: readonly string[],
): Promise<number> {
  let erased = 0
  for (let at = 0; at < user_ids.length; at += ids_max) {
    const users = user_ids.slice(at, at + ids_max)
    const traces = await tracesOf(options.columnar, within, users)
    for (const { kind } of archivedKinds) {
      if (namingUsers.includes(kind)) continue
      for (let from = 0; from < traces.length; from += ids_max) {
        const ids = traces.slice(from, from + ids_max)
        erased += await deleteRows(options, within, { kind, column: 'trace_id', ids })
      }
    }
    // Last, since they lead to the others: a deletion that broke off finds them again.
    for (const kind of namingUsers) {
      erased += await deleteRows(options, within, { kind, column: 'user_id', ids: users })
    }
  }
  return erased
}

const traces_max = 1_000_000

async function tracesOf(
  columnar: Columnar,
  within: Within,
  users: readonly string[],
): Promise<string[]> {
  const { condition, params } = scopeOf(within)
  const each = namingUsers.map(
    (kind) => `SELECT trace_id FROM ${tableOf(kind)}
  WHERE ${condition} AND user_id IN {users:Array(String)}`,
  )
  const sql = `SELECT DISTINCT trace_id FROM (${each.join(' UNION ALL ')}) LIMIT ${traces_max}`
  const found = await columnar.query<{ trace_id: string }>(
    sql,
    { ...params, users },
    { timeout_ms },
  )
  return found.map(({ trace_id }) => trace_id)
}

async function deleteRows(
  { columnar, cluster }: RestoredStoreOptions,
  within: Within,
  { kind, column, ids }: Rows,
): Promise<number> {
  const { condition, params } = scopeOf(within)
  const type = column === 'trace_id' ? 'UUID' : 'String'
  const where = `${condition} AND ${column} IN {ids:Array(${type})}`
  const values = { ...params, ids }
  const counted = `SELECT count() AS rows FROM ${tableOf(kind)} WHERE ${where}`
  const [row] = await columnar.query<{ rows: string }>(counted, values, { timeout_ms })
  const rows = Number(row?.rows ?? 0)
  if (rows === 0) return 0
  // A deletion rewrites something of every part that it may be about.
  const partition = within.slice_id === undefined ? '' : 'IN PARTITION {slice:UUID} '
  const statement = `DELETE FROM {{table:${tableOf(kind)}}} {{on_cluster}} `
  const text = `${rendered(statement, columnar, cluster)}${partition}WHERE ${where}`
  await columnar.command(text, values, {
    timeout_ms,
    settings: { lightweight_deletes_sync: 2 },
  })
  return rows
}

function scopeOf({ project_id, slice_id }: Within): { condition: string; params: QueryParams } {
  const ofProject = 'project_id = {project:UUID}'
  if (slice_id === undefined) return { condition: ofProject, params: { project: project_id } }
  return {
    condition: `slice_id = {slice:UUID} AND ${ofProject}`,
    params: { project: project_id, slice: slice_id },
  }
}

async function dropSlice(
  { columnar, cluster }: RestoredStoreOptions,
  slice_id: string,
): Promise<void> {
  for (const { kind } of archivedKinds) {
    const statement = `ALTER TABLE {{table:${tableOf(kind)}}} {{on_cluster}} DROP PARTITION `
    await columnar.command(
      `${rendered(statement, columnar, cluster)}{slice:UUID}`,
      { slice: slice_id },
      { timeout_ms },
    )
  }
}

function rendered(template: string, columnar: Columnar, cluster: string | undefined): string {
  const { database } = columnar
  return renderStatement(template, { database, ...(cluster !== undefined && { cluster }) })
}
