export { type CallRow, findSameCalls, isModelCall } from './find-same-calls.ts'
