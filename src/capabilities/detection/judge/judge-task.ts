import type { TaskKey } from '../findings/due-tasks.ts'
import type { FindingChanges } from '../findings/finding.ts'
import { findTasks } from '../findings/tasks-store.ts'
import type { DetectionPorts } from '../ports.ts'
import { findEffectiveSettings, isJudgeOff, judgedDetector } from '../settings/detector-settings.ts'
import { readTasks, type TaskRead } from '../worker/analyse-tasks.ts'
import type { HistoryCache } from '../worker/task-history.ts'
import type { ContextJudge, Judgement } from './context-judge.ts'
import { claimJudgement, type JudgeClaim, releaseJudgement } from './due-judgements.ts'
import { buildQuestion, getJudgeableDigests } from './question.ts'
import { writeJudgement } from './write-judgement.ts'

/** The ports of detection with the judge, where one is set. */
export type DetectionDeps = DetectionPorts & { judge?: ContextJudge | undefined }

/** What a task that was claimed for the judge is asked about with. */
export type JudgePorts = DetectionPorts & {
  judge: ContextJudge
  work: JudgeWork
  /** What was read of tasks before. */
  cache?: HistoryCache
  signal?: AbortSignal
}

/** What came of it; `nothing`: there was nothing new to ask, or the task is not there any more. */
export type JudgedTask = {
  outcome: Judgement['outcome'] | 'nothing'
  changes: FindingChanges | undefined
}

/**
 * Asks the judge about those answers of a claimed task that it was not asked about yet, and writes
 * what it says. No transaction is open while it is asked. Rejects when a store is out of reach.
 */
export async function judgeTask(ports: JudgePorts, claim: JudgeClaim): Promise<JudgedTask> {
  const { db, judge, work, signal, clock } = ports
  const read = await readClaimed(ports, claim)
  if (read === undefined) {
    await releaseJudgement(db, claim, work.retry_ms)
    return { outcome: 'nothing', changes: undefined }
  }
  const { run, prior, settings } = read
  const question = isJudgeOff(settings)
    ? undefined
    : buildQuestion(run, prior, claim.judged?.answers)
  const judgement = question && (await judge({ run, question, now_ms: clock.now_ms(), signal }))
  if (judgement?.outcome === 'aborted') {
    await releaseJudgement(db, claim, 0)
    return { outcome: 'aborted', changes: undefined }
  }
  const changes = await writeJudgement(db, {
    ...{ claim, run, failures_max: work.failures_max, retry_ms: work.retry_ms },
    asked: question && judgement && { question, judgement },
    answers: getJudgeableDigests(run, prior),
    at: new Date(clock.now_ms()).toISOString(),
  })
  if (changes === undefined) await releaseJudgement(db, claim, work.retry_ms)
  return { outcome: judgement?.outcome ?? 'nothing', changes }
}

async function readClaimed(
  { db, store, clock, cache }: JudgePorts,
  claim: JudgeClaim,
): Promise<TaskRead | undefined> {
  const { project_id, task_id, epoch } = claim
  const [[facts], { settings }] = await Promise.all([
    findTasks(db, project_id, [task_id]),
    findEffectiveSettings(db, project_id),
  ])
  if (facts === undefined) return undefined
  const history = cache?.take(claim, epoch)
  for await (const read of readTasks({ db, store }, [{ facts, epoch, history, settings }])) {
    cache?.keep(claim, read.history, clock.now_ms())
    return read
  }
  return undefined
}

/** Bounds of asking the judge; every one has a default in `defaultJudgeWork`. */
export type JudgeWork = {
  /** A running task is not asked about before it had no call for so long. */
  rest_ms: number
  /** How often it is looked whether tasks are due. */
  poll_ms: number
  /** Questions of one process at a time. */
  asks_max: number
  /** What was claimed and not ended by then is asked about by whoever looks next. */
  lease_ms: number
  /** Waits after a failure: doubled from the first to the second figure. */
  retry_ms: number
  retry_ms_max: number
  /** Failures after which the same answers are not asked about again. */
  failures_max: number
}

/** The lease is longer than the longest time-out of a question, a minute, and what is read for it. */
export const defaultJudgeWork: JudgeWork = {
  rest_ms: 10_000,
  poll_ms: 1_000,
  asks_max: 4,
  lease_ms: 120_000,
  retry_ms: 5_000,
  retry_ms_max: 300_000,
  failures_max: 3,
}

type JudgeNowOptions = { detectors?: readonly string[]; force?: boolean; signal?: AbortSignal }

/**
 * Asks the judge about a task at once, for somebody who waits for the answer. Undefined when there is
 * no judge, when it was not asked for, when somebody else asks it now, or nothing is left to ask.
 */
export async function judgeNow(
  { judge, ...deps }: DetectionDeps,
  task: TaskKey,
  { detectors, force = false, signal }: JudgeNowOptions,
): Promise<{ changes: FindingChanges; isChanged: boolean } | undefined> {
  const isAsked = force && (detectors === undefined || detectors.includes(judgedDetector))
  if (judge === undefined || !isAsked) return undefined
  const claim = await claimJudgement(deps.db, task, defaultJudgeWork.lease_ms)
  if (claim === undefined) return undefined
  const ports = { ...deps, judge, work: defaultJudgeWork, ...(signal && { signal }) }
  const { outcome, changes } = await judgeTask(ports, claim)
  if (outcome === 'nothing' || changes === undefined) return undefined
  const isChanged = [changes.opened, changes.updated, changes.withdrawn].some(
    (ids) => ids.length > 0,
  )
  return { changes, isChanged }
}
