export { type CallRow, findSameCalls } from './find-same-calls.ts'
