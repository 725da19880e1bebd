/** Entry point of provenance, which finds the sources of values in an answer. Pure. */

export type { SeenText } from '../values/index.ts'
export { type CheckedValue, checkAnswer } from './check-answer.ts'
export { type ValueReason, valueReasons } from './exemptions.ts'
export type { SeenIndex } from './seen/seen.ts'
export { indexSeen } from './seen/seen-index.ts'
