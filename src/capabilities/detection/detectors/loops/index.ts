import type { Detector } from '../../contract.ts'
import { budget } from './budget.ts'
import { contentChant } from './content-chant.ts'
import { cycle } from './cycle.ts'
import { errorStreak } from './error-streak.ts'
import { monologue } from './monologue.ts'
import { repeatCall } from './repeat-call.ts'
import { repeatError } from './repeat-error.ts'
import { scatteredRepeat } from './scattered-repeat.ts'
import { similarCall } from './similar-call.ts'

/** All loop detectors, in the order in which they run. */
export const loopDetectors: readonly Detector[] = [
  repeatError,
  repeatCall,
  cycle,
  monologue,
  errorStreak,
  similarCall,
  scatteredRepeat,
  contentChant,
  budget,
]
