import type { Detector } from '../contract.ts'
import { unsupportedValue } from './claims/unsupported-value.ts'
import { constraintDropped } from './context/constraint-dropped.ts'
import { contextOverflow } from './context/context-overflow.ts'
import { contextTruncated } from './context/context-truncated.ts'
import { contradictedFact } from './context/contradicted-fact.ts'
import { conversationReset } from './context/conversation-reset.ts'
import { lostContext } from './context/lost-context.ts'
import { repeatedQuestion } from './context/repeated-question.ts'
import { budgetExceeded } from './failures/budget-exceeded.ts'
import { claimedNotCalled } from './failures/claimed-not-called.ts'
import { duplicateSideEffect } from './failures/duplicate-side-effect.ts'
import { emptyCompletion } from './failures/empty-completion.ts'
import { falseSuccess } from './failures/false-success.ts'
import { finishReason } from './failures/finish-reason.ts'
import { hiddenToolError } from './failures/hidden-tool-error.ts'
import { orphan } from './failures/orphan.ts'
import { prematureStop } from './failures/premature-stop.ts'
import { providerError } from './failures/provider-error.ts'
import { refusal } from './failures/refusal.ts'
import { repeatedWork } from './failures/repeated-work.ts'
import { toolArguments } from './failures/tool-arguments.ts'
import { toolFailure } from './failures/tool-failure.ts'
import { toolOutage } from './failures/tool-outage.ts'
import { unknownTool } from './failures/unknown-tool.ts'
import { budget } from './loops/budget.ts'
import { contentChant } from './loops/content-chant.ts'
import { cycle } from './loops/cycle.ts'
import { errorStreak } from './loops/error-streak.ts'
import { monologue } from './loops/monologue.ts'
import { repeatCall } from './loops/repeat-call.ts'
import { repeatError } from './loops/repeat-error.ts'
import { scatteredRepeat } from './loops/scattered-repeat.ts'
import { similarCall } from './loops/similar-call.ts'

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

/** All failure detectors, in the order in which they run. */
export const failureDetectors: readonly Detector[] = [
  providerError,
  finishReason,
  refusal,
  emptyCompletion,
  unknownTool,
  toolArguments,
  orphan,
  toolOutage,
  toolFailure,
  falseSuccess,
  hiddenToolError,
  repeatedWork,
  claimedNotCalled,
  duplicateSideEffect,
  prematureStop,
  budgetExceeded,
]

/** All context detectors, in the order in which they run. */
const contextDetectors: readonly Detector[] = [
  lostContext,
  contradictedFact,
  repeatedQuestion,
  contextTruncated,
  constraintDropped,
  contextOverflow,
  conversationReset,
]

/** All detectors, in the order in which they run. */
export const detectors: readonly Detector[] = [
  ...loopDetectors,
  ...failureDetectors,
  ...contextDetectors,
  unsupportedValue,
]

/** Changes with each added, removed or changed detector. */
export const detectorsDigest: string = detectors
  .map(({ name, version }) => `${name}@${version}`)
  .join(' ')
