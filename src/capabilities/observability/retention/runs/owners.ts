import type { HeldBy, RetentionStore } from '../../stores/index.ts'
import { day_ms, daysIn, eachDays, firstKeptDay, type RetentionRules } from '../policy/rules.ts'
import type { RetentionDb } from '../retention-deps.ts'
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

/** What decides which tasks and conversations are due. */
export type OwnersAsked = {
  db: RetentionDb
  store: Pick<RetentionStore, 'heldOwners'>
  project_id: string
  rules: RetentionRules
  now_ms: number
  /** Read anew before each statement: a hold may be placed while a run is under way. */
  holds: () => Promise<readonly HeldBy[]>
}

const tasks_max = 5_000

/** Tasks and conversations that a run would delete now. */
export async function dueOwners(asked: OwnersAsked): Promise<OwnerBucket[]> {
  const found: OwnerBucket[] = []
  for (const due of await dueTasks(asked)) {
    found.push(...(await countTasks(asked.db, due)).map((one) => ({ ...one, kind: tasks })))
  }
  const conversations = await countConversations(asked.db, await dueConversations(asked))
  return [...found, ...conversations.map((one) => ({ ...one, kind: talks }))]
}

/** Hears of what was deleted, in the transaction that deletes it. */
type Told = (db: RetentionDb, buckets: OwnerBucket[]) => Promise<void>

/** Deletes them, a group after the other. */
export async function deleteDueOwners(
  asked: OwnersAsked,
  signal: AbortSignal,
  told: Told,
): Promise<void> {
  for (let group = 0; group < asked.rules.environments.length + 1; group += 1) {
    await untilNone({ asked, signal, told }, async (db) => {
      const due = (await dueTasks(asked))[group]
      const gone = due === undefined ? [] : await deleteTasks(db, due, tasks_max)
      return gone.map((one) => ({ ...one, kind: tasks }))
    })
  }
  await untilNone({ asked, signal, told }, async (db) => {
    const gone = await deleteConversations(db, await dueConversations(asked), tasks_max)
    return gone.map((one) => ({ ...one, kind: talks }))
  })
}

const tasks = 'tasks' as const
const talks = 'conversations' as const

async function untilNone(
  { asked, signal, told }: { asked: OwnersAsked; signal: AbortSignal; told: Told },
  work: (db: RetentionDb) => Promise<OwnerBucket[]>,
): Promise<void> {
  for (let is_done = false; !is_done; ) {
    signal.throwIfAborted()
    is_done = await asked.db.transaction().execute(async (transaction) => {
      const gone = await work(transaction)
      await told(transaction, gone)
      return gone.length === 0
    })
  }
}

/** One for each environment with rules, and one for all others. */
async function dueTasks(asked: OwnersAsked): Promise<DueOwners[]> {
  const { rules, now_ms } = asked
  const held = await heldOwners(asked)
  const names = rules.environments.map(({ environment }) => environment)
  return [
    ...names.map((only) => ({
      ...held.tasks,
      before: beforeOf(now_ms, daysIn(rules, only).traces),
      environments: { only },
    })),
    {
      ...held.tasks,
      before: beforeOf(now_ms, rules.days.traces),
      environments: { but: names },
    },
  ]
}

/** They have no environment: one goes by the shortest days, but after the last of its tasks. */
async function dueConversations(asked: OwnersAsked): Promise<DueOwners> {
  const { rules, now_ms } = asked
  const held = await heldOwners(asked)
  const all = eachDays(rules, 'traces')
  const finite = all.filter((days) => days !== null)
  const before = beforeOf(now_ms, finite.length === 0 ? null : Math.min(...finite))
  const before_taskless = beforeOf(now_ms, all.includes(null) ? null : Math.max(...finite))
  return { ...held.conversations, before, before_taskless, environments: { but: [] } }
}

function beforeOf(now_ms: number, days: number | null): Date | null {
  return days === null ? null : new Date(firstKeptDay(now_ms, days) * day_ms)
}

async function heldOwners({ store, project_id, holds }: OwnersAsked) {
  const active = await holds()
  const valuesOf = (kind: HeldBy['kind']) =>
    active.filter((hold) => hold.kind === kind).map(({ value }) => value)
  const { task_ids, conversation_ids } =
    active.length === 0
      ? { task_ids: [], conversation_ids: [] }
      : await store.heldOwners(project_id, active)
  const held_users = valuesOf('user')
  const held_conversations = [...conversation_ids, ...valuesOf('conversation')]
  // A task without a name of its own has the id of its trace.
  const held_tasks = [...task_ids, ...valuesOf('task'), ...valuesOf('trace')]
  const both = { project_id, held_users, held_conversations }
  return {
    tasks: { ...both, held_ids: held_tasks },
    conversations: { ...both, held_ids: held_conversations },
  }
}
