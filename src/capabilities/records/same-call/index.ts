export { type CallRow, findSameCalls, hasOpenCall } from './find-same-calls.ts'
