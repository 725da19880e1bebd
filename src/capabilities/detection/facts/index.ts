/** The front door of the facts: everything that detectors and later rooms read of a run. */

export {
  getJaccard,
  mentions,
  ownVoiceOf,
  sentencesOf,
  toPlainText,
  toTokenSet,
} from '../../provenance/text/index.ts'
export { findConfirmed } from './confirmed-values.ts'
export { type CallFault, faultOfCall, hasSucceeded, isQuota } from './course/call-fault.ts'
export {
  asksForRepetition,
  isPaced,
  isPolling,
  isPollingIteration,
  isPollingUse,
  pollingSettings,
} from './course/polling.ts'
export { readSeenTexts } from './course/seen-texts.ts'
export { createWorldClock, type StepFacts, stepsOf, stretchesOf } from './course/steps.ts'
export {
  callsOf,
  createCourse,
  findResets,
  type RunCourse,
  streaksOf,
  turnsOf,
  usesOfSteps,
} from './course/thread-course.ts'
export { findTroubles, isRecovered, type ToolTrouble } from './course/tool-troubles.ts'
export { findAnsweredQuestions } from './dialogues/answered-questions.ts'
export { findSlips, type Slip } from './dialogues/argument-slips.ts'
export {
  type Answer,
  contextOf,
  type Dialogue,
  readContextMemory,
  readDialogues,
  selectEffective,
} from './dialogues/dialogues.ts'
export {
  type Contradiction,
  findArgumentContradictions,
  findContradictions,
} from './dialogues/find-contradictions.ts'
export { findLostNeeds } from './dialogues/lost-needs.ts'
export { toQuestionDraft } from './dialogues/question-draft.ts'
export { findWitness } from './dialogues/witness.ts'
export {
  getRepetitionConfidence,
  listToolNames,
  tellCalls,
  toCallEvidence,
  toContextDraft,
  toFailureDraft,
  toLoopDraft,
} from './drafts.ts'
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
export { remember, rememberFor } from './remember.ts'
export { checkAnswer } from './statements/check-statement.ts'
export { answerTextOf } from './statements/checks/answer-text.ts'
export type { Breach } from './statements/checks/breach.ts'
export { mayGiveRule } from './statements/classifier/may-give-rule.ts'
export { holdsFor } from './statements/conditions.ts'
export { readStatements } from './statements/read-statements.ts'
export { lifts } from './statements/releases.ts'
export { isAbout } from './statements/supersede.ts'
export {
  factValueOf,
  isCompatible,
  readValues,
} from './statements/values.ts'
export {
  isChange,
  isStated,
  isToolOf,
  mayHaveDone,
  readRequest,
  says,
} from './tools/claimed-tools.ts'
export { findViolation, type Violation } from './tools/declared-schema.ts'
export { reportOfFailure, sharesReason } from './tools/failure-reports.ts'
export { findPassedOver } from './tools/hidden-failures.ts'
export { effectOfTool, isAcknowledged, isReadingName, natureOfTool } from './tools/tool-effect.ts'
export { argumentsOf, commandOf, wordsOfTool } from './tools/tool-words.ts'
export { findUntaken } from './tools/untaken-actions.ts'
export { type Grounds, severityOfValue } from './value-severity.ts'
export { noteOf, shorten, summaryOf, wordsOfValue } from './value-words.ts'
