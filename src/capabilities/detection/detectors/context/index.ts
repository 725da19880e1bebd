import type { Detector } from '../../contract.ts'
import { contextOverflow } from './context-overflow.ts'
import { contextTruncated } from './context-truncated.ts'
import { contradictedFact } from './contradicted-fact.ts'
import { conversationReset } from './conversation-reset.ts'
import { lostContext } from './lost-context.ts'
import { repeatedQuestion } from './repeated-question.ts'

/** All context detectors, in the order in which they run. */
export const contextDetectors: readonly Detector[] = [
  lostContext,
  contradictedFact,
  repeatedQuestion,
  contextTruncated,
  contextOverflow,
  conversationReset,
]
