import type { DetectionDb, DetectionDeps } from '../detection-deps.ts'
import type { TaskDetection } from '../findings/store.ts'
import type { TaskRead } from '../look-at-tasks.ts'
import type { TaskKey } from '../worker/due-tasks.ts'
import { markJudgeDue } from './due-judgements.ts'
import { isJudgeOff } from './judge-detector.ts'
import { judgeableDigests } from './question.ts'

/** What the judge could be asked about a task, and for how long the task is to rest before. */
export type Judging = { answers: readonly string[]; rest_ms: number }

/** Undefined where nobody is to be asked. A task that was told to have ended needs no rest. */
export function judgingOf(
  { judge }: Pick<DetectionDeps, 'judge'>,
  { facts, settings, run, prior }: TaskRead,
  rest_ms: number,
): Judging | undefined {
  if (judge === undefined || isJudgeOff(settings)) return undefined
  const hasEnded = !facts.implicit && facts.state !== 'running'
  return { answers: judgeableDigests(run, prior), rest_ms: hasEnded ? 0 : rest_ms }
}

/** Marks a task when the judge was not asked about all of it yet; asks nothing. */
export async function markJudging(
  trx: DetectionDb,
  key: TaskKey,
  { answers, rest_ms }: Judging,
  { judged, judge_due_at }: Pick<TaskDetection, 'judged' | 'judge_due_at'>,
): Promise<void> {
  const isOpen = answers.some((answer) => judged?.answers.includes(answer) !== true)
  if (isOpen || judge_due_at !== null) await markJudgeDue(trx, key, isOpen ? rest_ms : null)
}
