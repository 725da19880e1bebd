import type { RecordKind } from '../record-contract.ts'
import {
  type HeldBy,
  retentionIds_max,
  type UserCount,
  type UserErasure,
} from '../retention-contract.ts'
import type { ChangesOf } from './change-rows.ts'
import { allOf, type Condition } from './conditions.ts'
import { heldTracesSql, ofProject, retainedTables } from './retention-conditions.ts'
import type { Read } from './store-failure.ts'

/** Kinds whose rows name a user, and those whose rows are known by their trace only. */
const withUser = ['observations', 'traces'] as const
const withoutUser = ['events', 'links', 'correlations'] as const

/**
 * Deletes what hangs on the user's traces first, a group of traces after the other, and the rows
 * that name the user last: a run that was killed finds the traces by them again.
 */
export async function eraseUser(
  { read, changesOf }: { read: Read; changesOf: ChangesOf },
  { project_id, user_id, held_trace_ids, purge }: UserErasure,
): Promise<void> {
  const about = { project_id, user_id, held_trace_ids }
  const touched = new Map<string, { kind: RecordKind; partition_id: string }>()
  const deleteAll = async (kind: RecordKind, condition: Condition) => {
    const changes = await changesOf(kind)
    for (const partition_id of await changes.holding(condition)) {
      const changed = await changes.deleteIn(partition_id, condition)
      if (changed) touched.set(`${kind} ${partition_id}`, { kind, partition_id })
    }
  }
  for (let after = ''; ; ) {
    const ids = await tracesOfUser(read, { ...about, after })
    const last = ids.at(-1)
    if (last === undefined) break
    const ofTraces = allOf([ofProject(project_id), { sql: inTraces, params: { traces: ids } }])
    for (const kind of withoutUser) await deleteAll(kind, ofTraces)
    for (const kind of withUser) {
      await deleteAll(kind, allOf([ofTraces, { sql: "user_id = ''", params: {} }]))
    }
    after = last
  }
  for (const kind of withUser) await deleteAll(kind, allOf([ofUser(about), notHeld(about)]))
  if (!purge) return
  for (const { kind, partition_id } of touched.values()) {
    await (await changesOf(kind)).purge(partition_id)
  }
}

type OfUser = Omit<UserErasure, 'purge'>

const inTraces = 'trace_id IN {traces:Array(UUID)}'

function ofUser({ project_id, user_id }: Pick<OfUser, 'project_id' | 'user_id'>): Condition {
  return allOf([
    ofProject(project_id),
    { sql: 'user_id = {user:String}', params: { user: user_id } },
  ])
}

function notHeld({ held_trace_ids: held }: Pick<OfUser, 'held_trace_ids'>): Condition | undefined {
  if (held.length === 0) return undefined
  return { sql: 'trace_id NOT IN {held:Array(UUID)}', params: { held } }
}

const ofUserSql = `SELECT trace_id FROM observations
  WHERE project_id = {project:UUID} AND user_id = {user:String}
  UNION DISTINCT SELECT trace_id FROM traces
  WHERE project_id = {project:UUID} AND user_id = {user:String}`

async function tracesOfUser(read: Read, about: OfUser & { after: string }): Promise<string[]> {
  const kept = notHeld(about)
  const rows = await read<{ id: string }>(
    `SELECT toString(trace_id) AS id FROM (${ofUserSql})
     WHERE id > {after:String} ${kept === undefined ? '' : `AND ${kept.sql}`}
     ORDER BY id LIMIT ${retentionIds_max}`,
    { project: about.project_id, user: about.user_id, after: about.after, ...kept?.params },
  )
  return rows.map(({ id }) => id)
}

/** The user's traces that something holds, sorted; at most `retentionIds_max` + 1. */
export async function heldTracesOfUser(
  read: Read,
  { project_id, user_id }: Pick<OfUser, 'project_id' | 'user_id'>,
  holds: readonly HeldBy[],
): Promise<string[]> {
  const held = heldTracesSql(holds)
  const rows = await read<{ id: string }>(
    `SELECT toString(trace_id) AS id FROM (${ofUserSql})
     WHERE trace_id GLOBAL IN (${held.sql}) ORDER BY id LIMIT ${retentionIds_max + 1}`,
    { project: project_id, user: user_id, ...held.params },
  )
  return rows.map(({ id }) => id)
}

/** What there is of a user in each kind, each record once. */
export async function userCounts(
  read: Read,
  { project_id, user_id, held_trace_ids }: OfUser,
): Promise<UserCount[]> {
  const counts: UserCount[] = []
  for (const kind of [...withUser, ...withoutUser]) {
    const owned = (withUser as readonly RecordKind[]).includes(kind)
      ? "AND user_id IN ({user:String}, '')"
      : ''
    const { identity } = retainedTables[kind]
    const [row] = await read<{ records: string; held: string }>(
      `SELECT uniqExact(${identity}) AS records,
         uniqExactIf((${identity}), trace_id IN {held:Array(UUID)}) AS held
       FROM ${kind}
       WHERE project_id = {project:UUID} ${owned} AND trace_id GLOBAL IN (${ofUserSql})`,
      { project: project_id, user: user_id, held: held_trace_ids },
    )
    counts.push({ kind, rows: Number(row?.records ?? 0), held_rows: Number(row?.held ?? 0) })
  }
  return counts
}
