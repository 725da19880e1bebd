/** The front door of the facts: everything that detectors and later rooms read of a run. */
export { findAnnouncement, findRefusal, findSuccessClaims } from './answer-claims.ts'
export { findAnsweredQuestions, toQuestionDraft } from './answered-questions.ts'
export { type CallFault, faultOfCall, hasSucceeded, isQuota } from './call-fault.ts'
export { type Chant, findChant, splitProse } from './chants.ts'
export { toContextDraft } from './context-draft.ts'
export { isAbout, selectEffective } from './context-memory.ts'
export { findViolation, type Violation } from './declared-schema.ts'
export { type Answer, type Dialogue, readContextMemory, readDialogues } from './dialogues.ts'
export {
  callOf,
  countTimes,
  noWaste,
  placesOfUses,
  putInBrackets,
  toFailureDraft,
  wasteOf,
} from './failure-draft.ts'
export {
  cutText,
  placeKey,
  placeOf,
  placeOfStep,
  placesOfSteps,
  severityRank,
  wasteOfCalls,
  wasteOfSteps,
} from './finding-parts.ts'
export {
  getRepetitionConfidence,
  listToolNames,
  toCallEvidence,
  toLoopDraft,
} from './loop-draft.ts'
export {
  asksForRepetition,
  isPaced,
  isPolling,
  isPollingIteration,
  isPollingUse,
  pollingSettings,
} from './polling.ts'
export { findPhrase, getJaccard, mentions, sentencesOf, toPlainText, toTokenSet } from './prose.ts'
export { remember } from './remember.ts'
export { findResets } from './reset-breaks.ts'
export { type AnswerText, answerTextOf } from './statements/answer-text.ts'
export { checkFormat } from './statements/format.ts'
export type { Breach } from './statements/instruction.ts'
export { checkLanguage } from './statements/language.ts'
export { checkLength } from './statements/length.ts'
export { checkPersona } from './statements/persona.ts'
export { readStatements } from './statements/read-statements.ts'
export {
  type FactValue,
  factKey,
  factValueOf,
  isCompatible,
  readValue,
} from './statements/values.ts'
export { checkForbidden, checkRequired } from './statements/words.ts'
export { createWorldClock, type StepFacts, stepsOf, stretchesOf } from './steps.ts'
export {
  callsOf,
  createCourse,
  type RunCourse,
  streaksOf,
  turnsOf,
  usesOfSteps,
} from './thread-course.ts'
export { effectOfTool, isAcknowledged, natureOfTool } from './tool-effect.ts'
export { findTroubles, isRecovered, type ToolTrouble } from './tool-troubles.ts'
export { argumentsOf, commandOf, wordsOfTool } from './tool-words.ts'
