import { problem } from '../../kernel/problem.ts'
import { sleep } from '../../kernel/time.ts'
import { detectorsDigest } from './detectors/index.ts'
import type { Finding, FindingChanges, NotChecked } from './findings/finding.ts'
import {
  detectionOf,
  ensureDetection,
  findingsOf,
  type TaskDetection,
} from './findings/findings-store.ts'
import { findTasks } from './findings/tasks-store.ts'
import { sumChanges, writeResult } from './findings/write-result.ts'
import { type DetectionDeps, defaultJudgeWork, judgeNow } from './judge/judge-task.ts'
import { planJudging } from './judge/question.ts'
import type { DetectionPorts } from './ports.ts'
import { findEffectiveSettings } from './settings/detector-settings.ts'
import { analyseTasks } from './worker/analyse-tasks.ts'

/** The stored id of a task (`taskNamed` of tasks resolves the ids of clients). */
export type DetectedTask = { project_id: string; task_id: string }

/** Options of analysing one task. */
export type DetectOptions = {
  /** Names of the detectors whose findings are updated; default: all. */
  detectors?: readonly string[]
  /** Analyse even if the task has not changed since the last analysis. */
  force?: boolean
  /** Aborts when the client disconnects. */
  signal?: AbortSignal
}

/** Result of analysing a task. */
export type DetectionResult = {
  /** False if the task has not changed; this is then the last result. */
  detected: boolean
  changes: FindingChanges
  /** Findings of the task that are not withdrawn, in order of their start. */
  findings: readonly Finding[]
  not_checked: readonly NotChecked[]
  /** Time of the analysis, ISO 8601. */
  detected_at: string
}

/** Maximum attempts while others write to the task at the same time. */
const attempts_max = 5
const pause_ms = 100

/**
 * Analyses one task and stores its findings, as the worker does after each call. With `force` the
 * judge, if set, is also asked about the answers not judged yet. Rejects with `task_not_found`,
 * `store_unavailable`, and `overloaded` if others keep writing to the task.
 */
export async function analyseNow(
  deps: DetectionDeps,
  task: DetectedTask,
  options: DetectOptions = {},
): Promise<DetectionResult> {
  const result = await analyseByRules(deps, task, options)
  const judged = await judgeNow(deps, task, options)
  if (judged === undefined) return result
  // The judge's findings count in the verdict and in `not_checked`.
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
    detail: `task_id: "${task.task_id}" changed during each of ${attempts_max} attempts; try again`,
    retry_after_s: 1,
  })
}

/** Undefined if others wrote to the task at the same time. */
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
  const [analysed] = await analyseTasks({ db, store }, [
    { facts, epoch: before.epoch, history: undefined, settings },
  ])
  if (analysed === undefined) throw notFound(task)
  const only = detectors === undefined ? undefined : new Set(detectors)
  const { claim: _claim, epoch, revision, touches } = before
  const snapshot = { ...task, claim: null, epoch, revision: String(revision) }
  const written = await writeResult(deps, {
    ...analysed,
    // Findings of other detectors are not written, so the task stays due.
    snapshot: { ...snapshot, touches: only === undefined ? String(touches) : noTouches },
    settings_version: version,
    detected_at: new Date(clock.now_ms()).toISOString(),
    rest_ms: 0,
    only,
    judging: deps.judge && planJudging(analysed, defaultJudgeWork.rest_ms),
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
    detail: `task_id: got "${task_id}", which is not a task of this project`,
  })
}

/**
 * Stored starts are rounded, spans without a call can start earlier, and the roll-up of an earlier
 * call can still be pending.
 */
export const startSlackMs = 60 * 60 * 1000
