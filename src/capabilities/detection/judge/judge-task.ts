import type { DetectionDeps } from '../detection-deps.ts'
import type { FindingChanges } from '../findings/finding.ts'
import { taskFacts } from '../findings/store.ts'
import { readTasks, type TaskRead } from '../look-at-tasks.ts'
import { effectiveSettings } from '../settings/effective-settings.ts'
import type { HistoryCache } from '../worker/history-cache.ts'
import type { ContextJudge, Judgement } from './context-judge.ts'
import { type JudgeClaim, releaseJudgement } from './due-judgements.ts'
import { isJudgeOff } from './judge-detector.ts'
import type { JudgeWork } from './judge-work.ts'
import { judgeableDigests, questionOf } from './question.ts'
import { writeJudgement } from './write-judgement.ts'

/** What a task that was claimed for the judge is asked about with. */
export type JudgePorts = Omit<DetectionDeps, 'judge'> & {
  judge: ContextJudge
  work: JudgeWork
  /** What was read of tasks before. */
  cache?: HistoryCache
  signal?: AbortSignal
}

/** What came of it; `nothing`: there was nothing new to ask, or the task is not there any more. */
export type Judged = {
  outcome: Judgement['outcome'] | 'nothing'
  changes: FindingChanges | undefined
}

/**
 * Asks the judge about those answers of a claimed task that it was not asked about yet, and writes
 * what it says. No transaction is open while it is asked. Rejects when a store is out of reach.
 */
export async function judgeTask(ports: JudgePorts, claim: JudgeClaim): Promise<Judged> {
  const { db, judge, work, signal, clock } = ports
  const read = await readClaimed(ports, claim)
  if (read === undefined) {
    await releaseJudgement(db, claim, work.retry_ms)
    return { outcome: 'nothing', changes: undefined }
  }
  const { run, prior, settings } = read
  const question = isJudgeOff(settings) ? undefined : questionOf(run, prior, claim.judged?.answers)
  const judgement = question && (await judge({ run, question, now_ms: clock.now_ms(), signal }))
  if (judgement?.outcome === 'aborted') {
    await releaseJudgement(db, claim, 0)
    return { outcome: 'aborted', changes: undefined }
  }
  const changes = await writeJudgement(db, {
    ...{ claim, run, failures_max: work.failures_max, retry_ms: work.retry_ms },
    asked: question && judgement && { question, judgement },
    answers: judgeableDigests(run, prior),
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
    taskFacts(db, project_id, [task_id]),
    effectiveSettings(db, project_id),
  ])
  if (facts === undefined) return undefined
  const history = cache?.take(claim, epoch)
  for await (const read of readTasks({ db, store }, [{ facts, epoch, history, settings }])) {
    cache?.keep(claim, read.history, clock.now_ms())
    return read
  }
  return undefined
}
