import type { TraceRow } from './contract.ts'

/** Returns the key of an observation in a tree of several traces. */
export function observationKey(of: Pick<TraceRow, 'trace_id' | 'observation_id'>): string {
  return `${of.trace_id} ${of.observation_id}`
}
