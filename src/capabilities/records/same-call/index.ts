export {
  type CallRow,
  findSameCalls,
  hasOpenCall,
  isRetrieved,
  retrievedCallIds,
} from './find-same-calls.ts'
