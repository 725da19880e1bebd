import type { DetectionDeps } from '../detection-deps.ts'
import type { FindingChanges } from '../findings/finding.ts'
import type { TaskKey } from '../worker/due-tasks.ts'
import { claimJudgement } from './due-judgements.ts'
import { judgedDetector } from './judge-detector.ts'
import { judgeTask } from './judge-task.ts'
import { defaultJudgeWork } from './judge-work.ts'

type Options = { detectors?: readonly string[]; force?: boolean; signal?: AbortSignal }

/**
 * Asks the judge about a task at once, for somebody who waits for the answer. Undefined when there is
 * no judge, when it was not asked for, when somebody else asks it now, or nothing is left to ask.
 */
export async function judgeNow(
  { judge, ...deps }: DetectionDeps,
  task: TaskKey,
  { detectors, force = false, signal }: Options,
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
