/** Observations of a task whose fingerprints are kept; of a task with more there are none. */
export const fingerprints_max = 128

/**
 * A number of 32 bits, signed, that is the same whenever the same observation is written. Two others
 * may share one, so different fingerprints prove different observations, and equal ones prove
 * nothing. (FNV-1a over the observation's id and the end of its trace's.)
 */
export function fingerprintOf(trace_id: string, observation_id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < observation_id.length; at++) {
    hash = Math.imul(hash ^ observation_id.charCodeAt(at), 0x01000193)
  }
  for (let at = Math.max(0, trace_id.length - traceChars); at < trace_id.length; at++) {
    hash = Math.imul(hash ^ trace_id.charCodeAt(at), 0x01000193)
  }
  return hash | 0
}

const traceChars = 8
