import { problem } from '../../kernel/problem.ts'
import { sleep } from '../../kernel/time.ts'
import { detectorsDigest } from './detectors/index.ts'
import { sumChanges } from './findings/compare-findings.ts'
import { detectionOf, ensureDetection, type TaskDetection } from './findings/detections-store.ts'
import type { Finding, FindingChanges, NotChecked } from './findings/finding.ts'
import { findingsOf } from './findings/findings-store.ts'
import { findTasks } from './findings/tasks-store.ts'
import { writeResult } from './findings/write-result.ts'
import { type DetectionDeps, defaultJudgeWork, judgeNow } from './judge/judge-task.ts'
import { planJudging } from './judge/question.ts'
import type { DetectionPorts } from './ports.ts'
import { findEffectiveSettings } from './settings/detector-settings.ts'
import { analyseTasks } from './worker/analyse-tasks.ts'

/** Which task, as it is stored (see `taskNamed` of tasks for what clients call it). */
export type DetectedTask = { project_id: string; task_id: string }

export type DetectOptions = {
  /** Only what these detectors find is changed; all of them when left out. */
  detectors?: readonly string[]
  /** Look also when nothing has come since the last time. */
  force?: boolean
  /** Aborts when nobody waits for the answer any more. */
  signal?: AbortSignal
}

/** What a task's detection came to. */
export type DetectionResult = {
  /** False: nothing had come since the last detection, whose result this is. */
  detected: boolean
  changes: FindingChanges
  /** All of the task that are not withdrawn, in the order in which they began. */
  findings: readonly Finding[]
  not_checked: readonly NotChecked[]
  /** ISO 8601; of the result. */
  detected_at: string
}

/** Times that a result is made anew because others wrote meanwhile. */
const attempts_max = 5
const pause_ms = 100

/**
 * Looks for trouble in one task and stores what it finds: what the worker does after each call, for
 * those who can't wait for it. With `force` the judge is asked too, where there is one, about what it
 * was not asked yet. Rejects with `task_not_found` for a task that is not there,
 * `store_unavailable`, and `overloaded` when others write to the task again and again.
 */
export async function analyseTask(
  deps: DetectionDeps,
  task: DetectedTask,
  options: DetectOptions = {},
): Promise<DetectionResult> {
  const result = await analyseByRules(deps, task, options)
  const judged = await judgeNow(deps, task, options)
  if (judged === undefined) return result
  // What the judge said counts in the verdict of the task, and in what could not be checked.
  const again = await analyseByRules(deps, task, { ...options, force: judged.isChanged })
  const changes = sumChanges([result.changes, judged.changes, again.changes])
  return { ...again, detected: true, changes }
}

async function analyseByRules(
  deps: DetectionDeps,
  task: DetectedTask,
  options: DetectOptions,
): Promise<DetectionResult> {
  for (let tries = 0; tries < attempts_max; tries += 1) {
    options.signal?.throwIfAborted()
    const result = await analyseOnce(deps, task, options)
    if (result !== undefined) return result
    await sleep(pause_ms * (tries + 1), options.signal)
  }
  throw problem('overloaded', {
    detail: `task_id: "${task.task_id}" was written to ${attempts_max} times meanwhile; try again`,
    retry_after_s: 1,
  })
}

/** Undefined when somebody else wrote meanwhile. */
async function analyseOnce(
  deps: DetectionDeps,
  task: DetectedTask,
  { detectors, force = false }: DetectOptions,
): Promise<DetectionResult | undefined> {
  const { db, store, clock } = deps
  await ensureDetection(db, task)
  const [[facts], before, { version, settings }] = await Promise.all([
    findTasks(db, task.project_id, [task.task_id]),
    detectionOf(db, task),
    findEffectiveSettings(db, task.project_id),
  ])
  if (facts === undefined || before === undefined) throw notFound(task)
  if (!force && isUpToDate(before, version)) return readLastResult({ db }, task, before)
  const [look] = await analyseTasks({ db, store }, [
    { facts, epoch: before.epoch, history: undefined, settings },
  ])
  if (look === undefined) throw notFound(task)
  const only = detectors === undefined ? undefined : new Set(detectors)
  const { claim: _claim, epoch, revision, touches } = before
  const hold = { ...task, claim: null, epoch, revision: String(revision) }
  const written = await writeResult(db, {
    ...look,
    // What the others find is not written, so the task stays as due as it was made by that.
    hold: { ...hold, touches: only === undefined ? String(touches) : noTouches },
    settings_version: version,
    detected_at: new Date(clock.now_ms()).toISOString(),
    rest_ms: 0,
    only,
    judging: deps.judge && planJudging(look, defaultJudgeWork.rest_ms),
  })
  if (written.outcome === 'gone') throw notFound(task)
  if (written.outcome === 'stale') return undefined
  const now = await readLastResult({ db }, task, (await detectionOf(db, task)) ?? before)
  return { ...now, detected: true, changes: written.changes }
}

const noTouches = '-1'

function isUpToDate(before: TaskDetection, settings_version: number): boolean {
  return (
    before.due_at === null &&
    before.detected_at !== null &&
    before.settings_version === settings_version &&
    before.detectors === detectorsDigest
  )
}

async function readLastResult(
  { db }: Pick<DetectionPorts, 'db'>,
  task: DetectedTask,
  { not_checked, detected_at }: TaskDetection,
): Promise<DetectionResult> {
  const findings = (await findingsOf(db, task)).filter(({ state }) => state !== 'withdrawn')
  const unchanged = findings.map(({ finding_id }) => finding_id)
  return {
    detected: false,
    changes: { opened: [], updated: [], recovered: [], withdrawn: [], unchanged },
    findings,
    not_checked,
    detected_at: detected_at ?? '',
  }
}

function notFound({ task_id }: DetectedTask) {
  return problem('task_not_found', {
    detail: `task_id: got "${task_id}", which is no task of this project`,
  })
}
