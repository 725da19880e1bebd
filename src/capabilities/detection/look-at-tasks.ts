import { type ContextLedger, ledgerOf } from './context/index.ts'
import type { DetectionDeps } from './detection-deps.ts'
import { type Examination, examineRun } from './examine-run.ts'
import { earlierLedger, type TaskFacts } from './findings/store.ts'
import type { Place, TaskRun } from './reconstruction/contract.ts'
import type { DetectionSettings } from './registry.ts'
import { readHistories } from './worker/read-histories.ts'
import type { TaskHistory } from './worker/task-history.ts'

/** A task that is to be looked at. */
export type TaskToLook = {
  facts: TaskFacts
  /** Of the task's detection. */
  epoch: string
  /** What was read of it before. */
  history: TaskHistory | undefined
  settings: DetectionSettings
}

/** A task as it was read and put in order. */
export type TaskRead = {
  facts: TaskFacts
  settings: DetectionSettings
  history: TaskHistory
  run: TaskRun
  /** What earlier tasks of the conversation said. */
  prior: ContextLedger | undefined
}

/** What a look at a task saw; nothing of it is written yet. */
export type TaskLook = TaskRead & {
  examination: Examination
  ledger: ContextLedger | null
  user_ids: readonly string[]
  has: (place: Place) => boolean
}

/** Stored starts are rounded to milliseconds, and spans without a call may begin before. */
const startSlack_ms = 60_000

/**
 * Reads what is new of tasks of one project and runs all detectors on each, one after the other.
 * Answers them in the order given. Rejects with `store_unavailable`.
 */
export async function lookAtTasks(
  ports: Pick<DetectionDeps, 'db' | 'store'>,
  tasks: readonly TaskToLook[],
): Promise<TaskLook[]> {
  const looks: TaskLook[] = []
  for await (const read of readTasks(ports, tasks)) looks.push(lookAt(read))
  return looks
}

/** Reads what is new of tasks of one project, in the order given, without those that changed. */
export async function* readTasks(
  { db, store }: Pick<DetectionDeps, 'db' | 'store'>,
  tasks: readonly TaskToLook[],
): AsyncGenerator<TaskRead> {
  const project_id = tasks[0]?.facts.project_id ?? ''
  const asked = tasks.map(askedOf)
  const histories = await readHistories(store, project_id, asked)
  for (const [at, { facts, settings }] of tasks.entries()) {
    const one = asked[at]
    const history = one && histories.get(one)
    if (history === undefined) continue
    const prior = (await earlierLedger(db, facts)) as ContextLedger | undefined
    const run = { ...history.run(), state: facts.implicit ? ('running' as const) : facts.state }
    yield { facts, settings, history, run, prior }
  }
}

function askedOf({ facts, epoch, history }: TaskToLook) {
  const { project_id, task_id, conversation_id, started_at, calls } = facts
  const from_ms = Math.max(0, Date.parse(started_at) - startSlack_ms)
  return {
    ...{ project_id, task_id, epoch, calls, history },
    conversation_id: conversation_id ?? '',
    from: BigInt(from_ms) * 1_000_000n,
  }
}

function lookAt(read: TaskRead): TaskLook {
  const { facts, settings, history, run, prior } = read
  return {
    ...read,
    examination: examineRun(run, settings, prior),
    ledger: facts.conversation_id === null ? null : keptLedger(ledgerOf(run, prior)),
    user_ids: history.users(),
    has: (place) => history.has(place),
  }
}

function keptLedger(ledger: ContextLedger): ContextLedger | null {
  return ledger.entries.length === 0 ? null : ledger
}
