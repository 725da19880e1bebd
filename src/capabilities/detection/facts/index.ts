/** The front door of the facts: everything that detectors and later rooms read of a run. */

export {
  getJaccard,
  mentions,
  ownVoiceOf,
  sentencesOf,
  toPlainText,
  toTokenSet,
} from '../../provenance/text/index.ts'
export { findAnsweredQuestions, toQuestionDraft } from './answered-questions.ts'
export { findSlips, type Slip } from './argument-slips.ts'
export { type CallFault, faultOfCall, hasSucceeded, isQuota } from './call-fault.ts'
export { isChange, isToolOf, mayHaveDone, readRequest } from './claimed-tools.ts'
export { findViolation, type Violation } from './declared-schema.ts'
export {
  type Answer,
  type Dialogue,
  readContextMemory,
  readDialogues,
  selectEffective,
} from './dialogues.ts'
export {
  getRepetitionConfidence,
  listToolNames,
  tellCalls,
  toCallEvidence,
  toContextDraft,
  toFailureDraft,
  toLoopDraft,
} from './drafts.ts'
export { reportOfFailure } from './failure-reports.ts'
export {
  type Contradiction,
  findArgumentContradictions,
  findContradictions,
} from './find-contradictions.ts'
export {
  callOf,
  countTimes,
  cutText,
  limitGuess,
  noWaste,
  placeKey,
  placeOf,
  placeOfStep,
  placesOfSteps,
  placesOfUses,
  providerErrorTypes,
  putInBrackets,
  severityRank,
  wasteOf,
  wasteOfCalls,
  wasteOfSteps,
} from './finding-parts.ts'
export { findLostNeeds } from './lost-needs.ts'
export {
  asksForRepetition,
  isPaced,
  isPolling,
  isPollingIteration,
  isPollingUse,
  pollingSettings,
} from './polling.ts'
export { remember } from './remember.ts'
export { readSeenTexts } from './seen-texts.ts'
export { type AnswerText, answerTextOf } from './statements/answer-text.ts'
export type { Breach } from './statements/breach.ts'
export { checkAnswer } from './statements/check-statement.ts'
export { holdsFor } from './statements/conditions.ts'
export { readStatements } from './statements/read-statements.ts'
export { lifts } from './statements/releases.ts'
export { isAbout } from './statements/supersede.ts'
export {
  type FactValue,
  factValueOf,
} from './statements/values.ts'
export { createWorldClock, type StepFacts, stepsOf, stretchesOf } from './steps.ts'
export {
  callsOf,
  createCourse,
  findResets,
  type RunCourse,
  streaksOf,
  turnsOf,
  usesOfSteps,
} from './thread-course.ts'
export { effectOfTool, isAcknowledged, isReadingName, natureOfTool } from './tool-effect.ts'
export { findTroubles, isRecovered, type ToolTrouble } from './tool-troubles.ts'
export { argumentsOf, commandOf, wordsOfTool } from './tool-words.ts'
export { type Grounds, severityOfValue } from './value-severity.ts'
