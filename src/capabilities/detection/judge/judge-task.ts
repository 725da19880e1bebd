import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../../platform/tenancy/index.ts'
import type { FindingChanges } from '../findings/finding.ts'
import { findTasks, type TaskKey } from '../findings/tasks-store.ts'
import type { DetectionPorts } from '../ports.ts'
import { findEffectiveSettings, isJudgeOff, judgedDetector } from '../settings/detector-settings.ts'
import { readTasks, type TaskRead } from '../worker/analyse-tasks.ts'
import type { DetectionMeters } from '../worker/detection-work.ts'
import type { HistoryCache } from '../worker/task-history.ts'
import type { ContextJudge, Judgement } from './context-judge.ts'
import {
  claimJudgeDue,
  claimJudgement,
  type JudgeClaim,
  releaseJudgement,
  writeJudgement,
} from './judgements.ts'
import { buildQuestion, getJudgeableDigests } from './question.ts'

/** Ports of detection, with the judge if one is set. */
export type DetectionDeps = DetectionPorts & { judge?: ContextJudge | undefined }

/** Ports for judging a claimed task. */
type JudgePorts = DetectionPorts & {
  judge: ContextJudge
  work: JudgeWork
  /** Histories already read. */
  cache?: HistoryCache
  signal?: AbortSignal
}

/** Outcome; `nothing`: no new answers to ask about, or the task was deleted. */
type JudgedTask = {
  outcome: Judgement['outcome'] | 'nothing'
  changes: FindingChanges | undefined
}

/**
 * Asks the judge about the answers of a claimed task that were not judged yet, and writes its
 * findings. No transaction is open during the question. Rejects when a store is unavailable.
 */
async function judgeTask(ports: JudgePorts, claim: JudgeClaim): Promise<JudgedTask> {
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
  const changes = await writeJudgement(ports, {
    claim,
    run,
    failures_max: work.failures_max,
    retry_ms: work.retry_ms,
    exchange: question && judgement && { question, judgement },
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

/** Limits of judging; defaults in `defaultJudgeWork`. */
export type JudgeWork = {
  /** Minimum time without a call before a running task is judged. */
  rest_ms: number
  /** Interval of looking for due tasks. */
  poll_ms: number
  /** Maximum concurrent questions of a process. */
  asks_max: number
  /** Lease of a claim; afterwards another process can claim the task. */
  lease_ms: number
  /** Back-off after a failure: first and longest delay. */
  retry_ms: number
  retry_ms_max: number
  /** Failures after which the same answers are not judged again. */
  failures_max: number
}

/**
 * The lease exceeds the longest time-out of a question, one minute, plus the time to read the task.
 */
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
 * Asks the judge about a task at once, for a waiting client. Returns undefined without a judge, if
 * judging was not requested, if the task is claimed, or if nothing is left to ask.
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

type Ports = Omit<JudgePorts, 'signal'> & {
  logger: Logger
  meters: Pick<DetectionMeters, 'findings'>
}

/**
 * Asks the judge about due tasks until it is stopped. Detection never waits for it. Failures of the
 * judge lengthen the pause.
 */
export function startJudging(ports: Ports): { stop(): Promise<void> } {
  const { work, logger } = ports
  const stopping = new AbortController()
  const loop = async () => {
    let failures = 0
    while (!stopping.signal.aborted) {
      const came = await judgeSome(ports, stopping.signal).catch((error: unknown) => {
        logger.warn({ err: error }, 'asking the judge failed; tasks stay due')
        return 'failed' as const
      })
      if (came === 'some') failures = 0
      if (came === 'failed') failures += 1
      const retry_ms = backOff({ base_ms: work.retry_ms, max_ms: work.retry_ms_max }, failures)
      if (came !== 'some') await sleep(came === 'failed' ? retry_ms : work.poll_ms, stopping.signal)
    }
  }
  const ended = loop()
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

/** `failed` if no question was answered. */
async function judgeSome(ports: Ports, signal: AbortSignal): Promise<'none' | 'some' | 'failed'> {
  const { db, work } = ports
  const { lease_ms, asks_max: limit } = work
  const claimed = await runInInstallation('due tasks of all projects', () =>
    claimJudgeDue(db, { lease_ms, limit }),
  )
  if (claimed.length === 0) return 'none'
  const judge = (claim: JudgeClaim) =>
    runInProject(claim.project_id, () => judgeOne({ ...ports, signal }, claim))
  const outcomes = await Promise.all(claimed.map(judge))
  return outcomes.every((outcome) => outcome === 'failed') ? 'failed' : 'some'
}

/**
 * Judges one task; a task that throws is due again after the longest delay and does not affect
 * others.
 */
async function judgeOne(ports: Ports & JudgePorts, claim: JudgeClaim): Promise<string> {
  const { db, work, logger, meters } = ports
  try {
    const { outcome, changes } = await judgeTask(ports, claim)
    for (const change of ['opened', 'updated', 'withdrawn'] as const) {
      const findings = changes?.[change].length ?? 0
      if (findings > 0) meters.findings.inc({ kind: 'context', change }, findings)
    }
    return outcome
  } catch (error) {
    const { project_id, task_id } = claim
    logger.warn({ err: error, project_id, task_id }, 'asking the judge about a task failed')
    // If this fails too, the claim expires.
    await releaseJudgement(db, claim, work.retry_ms_max).catch(() => undefined)
    return 'failed'
  }
}
