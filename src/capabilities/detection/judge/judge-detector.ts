import type { DetectionSettings } from '../registry.ts'

/** What findings of the judge are stored under; raise `version` when it is asked something else. */
export const judgeDetector = { name: 'judge', version: 1 } as const

/** The judge only adds to `lost_context`: where that is switched off, it is not asked. */
export const judgedDetector = 'lost_context'

/** Whether a project wants none of what the judge finds. */
export function isJudgeOff(settings: DetectionSettings): boolean {
  return settings[judgedDetector]?.enabled === false
}
