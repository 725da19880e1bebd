/** The front door of provenance: where the values of an answer come from. Pure. */

export type { SeenText, ValueKind } from '../values/value.ts'
export { type CheckedValue, checkAnswer } from './check-answer.ts'
export type { SeenIndex } from './seen.ts'
export { indexSeen } from './seen-index.ts'
