export { type CallRow, findSameCalls, hasOpenCall } from './find-same-calls.ts'
export { isRetrieved, retrievedCallIds } from './retrieved-call.ts'
