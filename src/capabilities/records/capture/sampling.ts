/**
 * The place of a trace in [0, 1), by its id alone: every edge and every request decides the same
 * for a trace, which is so kept whole or not at all. FNV-1a, and the finalizer of MurmurHash3 to
 * spread ids that differ in a few digits only.
 */
export function samplePoint(trace_id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < trace_id.length; at += 1) {
    hash = Math.imul(hash ^ trace_id.charCodeAt(at), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000
}

/** Whether a trace is kept. Traces with errors are sampled like the others. */
export function isSampled(trace_id: string, sample_rate: number): boolean {
  return sample_rate >= 1 || samplePoint(trace_id) < sample_rate
}
