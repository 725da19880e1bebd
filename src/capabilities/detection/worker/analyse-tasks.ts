import type { ContextMemory } from '../contract.ts'
import { readContextMemory } from '../facts/index.ts'
import { type Analysis, analyseRun } from '../findings/analyse-run.ts'
import { findEarlierMemory, type TaskFacts } from '../findings/tasks-store.ts'
import type { DetectionPorts } from '../ports.ts'
import type { Place, TaskRun } from '../reconstruction/index.ts'
import type { DetectionSettings } from '../settings/detector-settings.ts'
import { readHistories, toHistoryRequest } from './read-histories.ts'
import type { TaskHistory } from './task-history.ts'

/** A task to analyse. */
type TaskToAnalyse = {
  facts: TaskFacts
  /** Epoch of the task's detection. */
  epoch: string
  /** Observations already read. */
  history: TaskHistory | undefined
  settings: DetectionSettings
}

/** A task with its reconstructed run. */
export type TaskRead = {
  facts: TaskFacts
  settings: DetectionSettings
  history: TaskHistory
  run: TaskRun
  /** Memory of earlier tasks of the conversation. */
  prior: ContextMemory | undefined
}

/** The result of analysing a task, not written yet. */
export type TaskAnalysis = TaskRead & {
  analysis: Analysis
  ledger: ContextMemory | null
  user_ids: readonly string[]
  has: (place: Place) => boolean
}

/**
 * Reads the new observations of tasks of one project and runs all detectors on each task, in the
 * given order. Rejects with `store_unavailable`.
 */
export async function analyseTasks(
  ports: Pick<DetectionPorts, 'db' | 'store' | 'calibrate'>,
  tasks: readonly TaskToAnalyse[],
): Promise<TaskAnalysis[]> {
  const analyses: TaskAnalysis[] = []
  for await (const read of readTasks(ports, tasks)) analyses.push(toAnalysis(read))
  const calibrated = await ports.calibrate?.(tasks[0]?.facts.project_id ?? '')
  if (calibrated === undefined) return analyses
  return analyses.map((one) => {
    const findings = one.analysis.findings.map((finding) => calibrated(finding))
    return { ...one, analysis: { ...one.analysis, findings } }
  })
}

/**
 * Reads the new observations of tasks of one project in the given order; skips tasks that changed
 * while being read.
 */
export async function* readTasks(
  { db, store }: Pick<DetectionPorts, 'db' | 'store'>,
  tasks: readonly TaskToAnalyse[],
): AsyncGenerator<TaskRead> {
  const project_id = tasks[0]?.facts.project_id ?? ''
  const requests = tasks.map(toHistoryRequest)
  const histories = await readHistories(store, project_id, requests)
  for (const [at, { facts, settings }] of tasks.entries()) {
    const one = requests[at]
    const history = one && histories.get(one)
    if (history === undefined) continue
    const prior = (await findEarlierMemory(db, facts)) as ContextMemory | undefined
    const run = { ...history.run(), state: facts.implicit ? ('running' as const) : facts.state }
    yield { facts, settings, history, run, prior }
  }
}

function toAnalysis(read: TaskRead): TaskAnalysis {
  const { facts, settings, history, run, prior } = read
  return {
    ...read,
    analysis: analyseRun(run, settings, prior),
    ledger: facts.conversation_id === null ? null : dropEmpty(readContextMemory(run, prior)),
    user_ids: history.users(),
    has: (place) => history.has(place),
  }
}

function dropEmpty(ledger: ContextMemory): ContextMemory | null {
  return ledger.entries.length === 0 ? null : ledger
}
