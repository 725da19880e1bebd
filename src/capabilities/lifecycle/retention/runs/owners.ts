import type { HeldBy, RetentionStore } from '../../../storage/index.ts'
import type { RetentionDb } from '../contract.ts'
import {
  day_ms,
  daysIn,
  eachDays,
  firstKeptDay,
  type RetentionRules,
} from '../retention-policy/rules.ts'
import {
  countConversations,
  countTasks,
  type DueOwners,
  deleteConversations,
  deleteTasks,
  type OwnerCount,
} from './owner-store.ts'

/** Tasks or conversations of one last day and environment. */
export type OwnerBucket = OwnerCount & { kind: 'tasks' | 'conversations' }

/** The inputs that decide which tasks and conversations are due. */
export type OwnersQuery = {
  db: RetentionDb
  store: Pick<RetentionStore, 'heldOwners'>
  project_id: string
  rules: RetentionRules
  now_ms: number
  /** Read before each statement, because a hold may be placed during a run. */
  holds: () => Promise<readonly HeldBy[]>
}

const owners_max = 5_000

/** Counts the tasks and conversations that a run would delete now. */
export async function countDueOwners(query: OwnersQuery): Promise<OwnerBucket[]> {
  const due = await findDueOwners(query)
  return [
    ...(await countTasks(query.db, due)).map((one) => ({ ...one, kind: tasks })),
    ...(await countConversations(query.db, due)).map((one) => ({ ...one, kind: talks })),
  ]
}

/** Records deleted buckets, in the transaction that deletes them. */
type Note = (db: RetentionDb, buckets: OwnerBucket[]) => Promise<void>

/** Deletes due tasks, then due conversations, which have to wait for their last task. */
export async function deleteDueOwners(
  query: OwnersQuery,
  signal: AbortSignal,
  note: Note,
): Promise<void> {
  await untilNone({ query, signal, note }, async (db) => {
    const gone = await deleteTasks(db, await findDueOwners(query), owners_max)
    return gone.map((one) => ({ ...one, kind: tasks }))
  })
  await untilNone({ query, signal, note }, async (db) => {
    const gone = await deleteConversations(db, await findDueOwners(query), owners_max)
    return gone.map((one) => ({ ...one, kind: talks }))
  })
}

const tasks = 'tasks' as const
const talks = 'conversations' as const

async function untilNone(
  { query, signal, note }: { query: OwnersQuery; signal: AbortSignal; note: Note },
  work: (db: RetentionDb) => Promise<OwnerBucket[]>,
): Promise<void> {
  for (let is_done = false; !is_done; ) {
    signal.throwIfAborted()
    is_done = await query.db.transaction().execute(async (transaction) => {
      const gone = await work(transaction)
      await note(transaction, gone)
      return gone.length === 0
    })
  }
}

/**
 * Returns the conditions for due tasks and conversations. Conversations have no environment: the
 * shortest days apply, or the longest for conversations without tasks.
 */
async function findDueOwners(query: OwnersQuery): Promise<DueOwners> {
  const { project_id, rules, now_ms } = query
  const held = await heldOwners(query)
  const all = eachDays(rules, 'traces')
  const finite = all.filter((days) => days !== null)
  const environments = rules.environments.map(({ environment }) => ({
    environment,
    before: beforeOf(now_ms, daysIn(rules, environment).traces),
  }))
  return {
    project_id,
    tasks: { before: beforeOf(now_ms, rules.days.traces), environments, held_ids: held.tasks },
    conversations: {
      before: beforeOf(now_ms, finite.length === 0 ? null : Math.min(...finite)),
      before_taskless: beforeOf(now_ms, all.includes(null) ? null : Math.max(...finite)),
      held_ids: held.conversations,
    },
    held_users: held.users,
  }
}

function beforeOf(now_ms: number, days: number | null): Date | null {
  return days === null ? null : new Date(firstKeptDay(now_ms, days) * day_ms)
}

async function heldOwners({ store, project_id, holds }: OwnersQuery) {
  const active = await holds()
  const valuesOf = (kind: HeldBy['kind']) =>
    active.filter((hold) => hold.kind === kind).map(({ value }) => value)
  const { task_ids, conversation_ids } =
    active.length === 0
      ? { task_ids: [], conversation_ids: [] }
      : await store.heldOwners(project_id, active)
  return {
    users: valuesOf('user'),
    conversations: [...conversation_ids, ...valuesOf('conversation')],
    // An implicit task has the id of its trace.
    tasks: [...task_ids, ...valuesOf('task'), ...valuesOf('trace')],
  }
}
