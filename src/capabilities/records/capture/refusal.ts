import type { CapturePolicy } from './contract.ts'
import { isSampled } from './sampling.ts'

/** Why nothing of a trace is kept; undefined when something is. Cheaper than to map it first. */
export function refusalOf(
  { content, sample_rate }: CapturePolicy,
  trace_id: string,
): 'capture_off' | 'sampled' | undefined {
  if (content === 'off') return 'capture_off'
  return isSampled(trace_id, sample_rate) ? undefined : 'sampled'
}
