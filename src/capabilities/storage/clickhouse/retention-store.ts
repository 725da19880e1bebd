import type { Columnar } from '../../../platform/columnar/index.ts'
import {
  type BucketCount,
  type CensusBucket,
  type CensusQuery,
  type CountQuery,
  type HeldBy,
  maxCensusBuckets,
  maxCountedBuckets,
  maxRetentionIds,
  type OpenSlice,
  type RetentionSlice,
  type RetentionStore,
  type TracesQuery,
} from '../retention-contract.ts'
import {
  type ChangesOf,
  estimateBytes,
  type RowChanges,
  rowChanges,
  toSeconds,
} from './change-rows.ts'
import { type Condition, nanoParameter, ofProject, type ProjectCondition } from './conditions.ts'
import { countUser, createErasure, heldAmong } from './erase-user.ts'
import {
  contentMasks,
  day_s,
  dayOf,
  environmentOf,
  heldTracesSql,
  inSlice,
  retainedTables,
} from './retention-conditions.ts'
import { shareChanges } from './shared-changes.ts'
import { type Read, reader } from './store-failure.ts'
import { tableTargets } from './table-target.ts'

/** Opens the removal and counting of data in ClickHouse. */
export function openClickHouseRetentionStore({ columnar }: { columnar: Columnar }): RetentionStore {
  const read = reader(columnar)
  const targetOf = tableTargets(columnar)
  const share = shareChanges()
  const changesOf: ChangesOf = async (kind, signal) =>
    rowChanges(columnar, await targetOf(kind), kind, { signal, share })
  return {
    store: 'clickhouse',
    kinds: ['observations', 'traces', 'events', 'links', 'correlations'],
    deleteRows: async (slice, signal) =>
      changePartitions(await changesOf(slice.kind, signal), slice, inSlice(slice)),
    maskContent: async (slice, signal) => maskContent(await changesOf(slice.kind, signal), slice),
    ...createErasure({ read, changesOf, tableOf: (kind) => kind }),
    countUser: (about) => countUser(read, about),
    census: async (asked) => census(read, await changesOf(asked.kind), asked),
    countBuckets: async (asked) => countBuckets(read, await changesOf(asked.slice.kind), asked),
    heldTraces: (slice, holds) => heldTraces(read, slice, holds),
    tracesOf: (slice, asked) => findTraces(read, slice, asked),
    heldAmong: async (project_id, trace_ids, holds) => {
      const held = new Set<string>()
      for (const group of groupHolds(holds)) {
        for (const id of await heldAmong(read, { project_id, trace_ids }, group)) held.add(id)
      }
      return [...held]
    },
    heldOwners: (project_id, holds) => heldOwners(read, project_id, holds),
  }
}

async function changePartitions(
  changes: RowChanges,
  slice: RetentionSlice,
  condition: ProjectCondition,
  set?: string,
): Promise<void> {
  for (const { partition_id } of await changes.parts(toSeconds(slice))) {
    if (set === undefined) await changes.deleteIn(partition_id, condition)
    else await changes.updateIn(partition_id, set, condition)
  }
}

async function maskContent(changes: RowChanges, slice: RetentionSlice): Promise<void> {
  const { set } = contentMasks[slice.kind]
  await changePartitions(changes, slice, inSlice({ ...slice, with_content: true }), set)
}

async function census(
  read: Read,
  changes: RowChanges,
  asked: CensusQuery,
): Promise<CensusBucket[]> {
  const { project_id, kind, before, from, with_content, environments } = asked
  const { time } = retainedTables[kind]
  const environment = environmentOf(kind, environments)
  const { where, params } = contentMasks[kind]
  const wanted = ofProject(
    project_id,
    { sql: `${time} < ${nanoParameter('before')}`, params: { before } },
    from === undefined
      ? undefined
      : { sql: `${time} >= ${nanoParameter('from')}`, params: { from } },
    with_content ? { sql: where, params } : undefined,
  )
  type Row = { day: string; env: string; records: string }
  const rows = await read<Row>(
    project_id,
    `SELECT toString(${dayOf(kind)}) AS day,
       ${environment.sql} AS env, count() AS records
     FROM ${kind} WHERE ${wanted.sql}
     GROUP BY day, env ORDER BY toInt64(day), env LIMIT ${maxCensusBuckets}`,
    { ...wanted.params, ...environment.params },
  )
  const days = rows.map(({ day }) => Number(day))
  const least = Math.min(...days)
  const parts =
    days.length === 0
      ? []
      : await changes.parts({ from: least * day_s, to: (Math.max(...days) + 1) * day_s })
  return rows.map(({ day, env, records }) => {
    const window = { from: Number(day) * day_s, to: (Number(day) + 1) * day_s }
    const bytes = estimateBytes(Number(records), parts, window)
    return { day: Number(day), environment: env, rows: Number(records), bytes }
  })
}

/** Maximum holds of one statement: their values are sent in the URL, at most 1 MiB. */
const holds_max = 200

function groupHolds(holds: readonly HeldBy[]): HeldBy[][] {
  const groups: HeldBy[][] = []
  for (let at = 0; at < holds.length; at += holds_max) groups.push(holds.slice(at, at + holds_max))
  return groups
}

async function heldTraces(
  read: Read,
  slice: OpenSlice,
  holds: readonly HeldBy[],
): Promise<string[]> {
  const found = new Set<string>()
  const { sql, params } = inSlice(slice)
  for (const group of groupHolds(holds)) {
    const held = heldTracesSql(group)
    const rows = await read<{ id: string }>(
      slice.project_id,
      `SELECT DISTINCT toString(trace_id) AS id FROM ${slice.kind}
       WHERE ${sql} AND trace_id GLOBAL IN (${held.sql})
       ORDER BY id LIMIT ${maxRetentionIds + 1}`,
      { ...params, ...held.params },
    )
    for (const { id } of rows) found.add(id)
  }
  return [...found].toSorted()
}

async function findTraces(read: Read, slice: OpenSlice, asked: TracesQuery): Promise<string[]> {
  const { environment: wanted, environments, after } = asked
  const { sql, params } = inSlice(slice)
  const environment = environmentOf(slice.kind, environments)
  const rows = await read<{ id: string }>(
    slice.project_id,
    `SELECT DISTINCT toString(trace_id) AS id FROM ${slice.kind}
     WHERE ${sql} AND ${environment.sql} = {wanted:String} AND toString(trace_id) > {after:String}
     ORDER BY id LIMIT ${maxRetentionIds}`,
    { ...params, ...environment.params, wanted, after: after ?? '' },
  )
  return rows.map(({ id }) => id)
}

async function heldOwners(read: Read, project_id: string, holds: readonly HeldBy[]) {
  const owners = { task_ids: new Set<string>(), conversation_ids: new Set<string>() }
  for (const group of groupHolds(holds)) {
    const held = heldTracesSql(group)
    const rows = await read<{ task_id: string; conversation_id: string }>(
      project_id,
      `SELECT DISTINCT task_id, conversation_id FROM observations
       WHERE project_id = {project:UUID} AND trace_id GLOBAL IN (${held.sql})
       LIMIT ${maxRetentionIds}`,
      held.params,
    )
    for (const { task_id, conversation_id } of rows) {
      if (task_id !== '') owners.task_ids.add(task_id)
      if (conversation_id !== '') owners.conversation_ids.add(conversation_id)
    }
  }
  return { task_ids: [...owners.task_ids], conversation_ids: [...owners.conversation_ids] }
}

type BucketRow = Record<'day' | 'env' | 'going' | 'free' | 'held', string>

/** Counts the rows of a slice by day and environment: to delete, held, and late. */
async function countBuckets(
  read: Read,
  changes: RowChanges,
  asked: CountQuery,
): Promise<BucketCount[]> {
  const { kind, held_trace_ids, ...slice } = asked.slice
  const { identity } = retainedTables[kind]
  const environment = environmentOf(kind, asked.environments)
  const within = inSlice({ kind, ...slice })
  const free = notHeld(held_trace_ids)
  const early = beforeBound(kind, asked.bounds)
  const records = (condition: string) => `uniqExactIf((${identity}), ${condition})`
  const going = records(`${free.sql} AND ${early.sql}`)
  const rows = await read<BucketRow>(
    slice.project_id,
    `SELECT toString(${dayOf(kind)}) AS day, ${environment.sql} AS env,
       ${going} AS going,
       ${asked.bounds.length === 0 ? 'going' : records(free.sql)} AS free,
       ${held_trace_ids.length === 0 ? '0' : records(`NOT (${free.sql})`)} AS held
     FROM ${kind} WHERE ${within.sql}
     GROUP BY day, env ORDER BY toInt64(day), env LIMIT ${maxCountedBuckets}`,
    { ...within.params, ...environment.params, ...free.params, ...early.params },
  )
  const parts = rows.length === 0 ? [] : await changes.parts(toSeconds(asked.slice))
  return rows.map(({ day, env, going, free: unheld, held }) => {
    const window = { from: Number(day) * day_s, to: (Number(day) + 1) * day_s }
    return {
      day: Number(day),
      environment: env,
      rows: Number(going),
      bytes: estimateBytes(Number(going), parts, window),
      held_rows: Number(held),
      late_rows: Math.max(0, Number(unheld) - Number(going)),
    }
  })
}

function notHeld(held: readonly string[]): Condition {
  if (held.length === 0) return { sql: 'true', params: {} }
  return { sql: 'trace_id NOT IN {held:Array(UUID)}', params: { held } }
}

/** The bound of days without one, later than any row. */
const never_ms = 2n ** 62n

function beforeBound(kind: CountQuery['slice']['kind'], bounds: CountQuery['bounds']): Condition {
  if (bounds.length === 0) return { sql: 'true', params: {} }
  return {
    sql: `toUnixTimestamp64Milli(ingested_at) < transform(toInt64(${dayOf(kind)}),
         {bound_days:Array(Int64)}, {bounds:Array(Int64)}, toInt64(${never_ms}))`,
    params: {
      bound_days: bounds.map(({ day }) => BigInt(day)),
      bounds: bounds.map(({ stored_before_ms }) => BigInt(stored_before_ms)),
    },
  }
}
