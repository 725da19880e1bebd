import type { Columnar } from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../record-contract.ts'
import {
  type ErasureTarget,
  type HeldBy,
  maxRetentionIds,
  type UserCount,
  type UserErasure,
} from '../retention-contract.ts'
import { type ChangesOf, rowChanges } from './change-rows.ts'
import { ofProject, type ProjectCondition } from './conditions.ts'
import { heldTracesSql, retainedTables } from './retention-conditions.ts'
import { type Read, reader } from './store-failure.ts'
import { tableTargets } from './table-target.ts'

/** Kinds whose rows have a user. Rows of other kinds are found by their trace. */
const withUser = ['observations', 'traces'] as const

const kinds = [...withUser, 'events', 'links', 'correlations'] as const

/** Returns the table of a kind. */
type TableOf = (kind: RecordKind) => string

/** Opens the erasure of users in tables with the columns of the kinds. */
export function openClickHouseErasure(options: {
  columnar: Columnar
  tableOf: TableOf
}): Required<Omit<ErasureTarget, 'countHeld'>> {
  const { columnar, tableOf } = options
  const read = reader(columnar)
  const targetOf = tableTargets(columnar)
  const changesOf: ChangesOf = async (kind, signal) =>
    rowChanges(columnar, await targetOf(tableOf(kind)), tableOf(kind), { signal })
  return createErasure({ read, changesOf, tableOf })
}

/** Opens the erasure of users over the changes of a store. */
export function createErasure(options: {
  read: Read
  changesOf: ChangesOf
  tableOf: TableOf
}): Required<Omit<ErasureTarget, 'countHeld'>> {
  const { read, changesOf, tableOf } = options
  return {
    tracesOfUser: (about) => tracesOfUser(read, tableOf, about),
    eraseUser: async (about, signal) => {
      if (about.trace_ids.length === 0) return
      for (const kind of kinds) {
        const changes = await changesOf(kind, signal)
        const condition = ofUser(kind, about)
        for (const partition_id of await changes.holding(condition)) {
          await changes.deleteIn(partition_id, condition)
        }
      }
    },
    purgeUser: async (about, signal) => {
      if (about.trace_ids.length === 0) return false
      let is_rewritten = false
      for (const kind of kinds) {
        const changes = await changesOf(kind, signal)
        for (const partition_id of await changes.storing(ofUser(kind, about))) {
          await changes.purge(partition_id)
          is_rewritten = true
        }
      }
      return is_rewritten
    },
  }
}

/** Selects rows of the traces with this user or no user. */
function ofUser(
  kind: RecordKind,
  { project_id, user_id, trace_ids }: Omit<UserErasure, 'held_trace_ids'>,
): ProjectCondition {
  const hasUser = (withUser as readonly RecordKind[]).includes(kind)
  return ofProject(
    project_id,
    { sql: 'trace_id IN {traces:Array(UUID)}', params: { traces: trace_ids } },
    hasUser ? { sql: "user_id IN ({user:String}, '')", params: { user: user_id } } : undefined,
  )
}

async function tracesOfUser(
  read: Read,
  tableOf: TableOf,
  about: { project_id: string; user_id: string; after: string },
): Promise<string[]> {
  const each = withUser.map(
    (kind) => `SELECT trace_id FROM ${tableOf(kind)}
    WHERE project_id = {project:UUID} AND user_id = {user:String}`,
  )
  const { project_id, user_id: user, after } = about
  const rows = await read<{ id: string }>(
    project_id,
    `SELECT toString(trace_id) AS id FROM (${each.join(' UNION DISTINCT ')})
     WHERE id > {after:String} ORDER BY id LIMIT ${maxRetentionIds}`,
    { user, after },
  )
  return rows.map(({ id }) => id)
}

/** Returns the held traces among the given ones. */
export async function heldAmong(
  read: Read,
  about: { project_id: string; trace_ids: readonly string[] },
  holds: readonly HeldBy[],
): Promise<string[]> {
  const held = heldTracesSql(holds)
  const rows = await read<{ id: string }>(
    about.project_id,
    `SELECT DISTINCT toString(trace_id) AS id FROM (${held.sql})
     WHERE trace_id IN {traces:Array(UUID)}`,
    { traces: about.trace_ids, ...held.params },
  )
  return rows.map(({ id }) => id)
}

/** Counts the rows of `ofUser` by kind, each record once. */
export async function countUser(
  read: Read,
  about: Omit<UserErasure, 'held_trace_ids'>,
): Promise<UserCount[]> {
  const counts: UserCount[] = []
  for (const kind of kinds) {
    const { sql, params } = ofUser(kind, about)
    const [row] = await read<{ records: string }>(
      about.project_id,
      `SELECT uniqExact(${retainedTables[kind].identity}) AS records FROM ${kind} WHERE ${sql}`,
      params,
    )
    counts.push({ kind, rows: Number(row?.records ?? 0) })
  }
  return counts
}
