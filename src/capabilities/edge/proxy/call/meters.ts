import type { Outcome } from '../../../../model/observation.ts'
import type { Metrics } from '../../../../platform/telemetry/index.ts'
import type { Endpoint } from '../formats.ts'

/** One finished call, as it is counted. */
type EndedCall = {
  endpoint: Endpoint
  /** Empty when the call was refused before its provider was known. */
  provider: string
  outcome: Outcome
  /** A code of the error catalogue, or the provider's status; empty after a good answer. */
  error_type: string
  duration_s: number
  /** Null when the answer was not a stream, or no byte of it came. */
  first_byte_s: number | null
}

/** The metrics of the proxy. Every finished call is counted once, recorded or not. */
export type ProxyMeters = {
  ended(call: EndedCall): void
  /** Counts a request that was not valid HTTP, or whose headers were too large. */
  malformed(status: number): void
}

/** Each one is a series for each provider, in two histograms. */
const seconds = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600]

/**
 * Calls counted together, at this number and at each scrape. Counting them one by one, amid the
 * work of a call, takes several times as long.
 */
const batch_calls = 32

/** Makes the proxy's metrics; `inFlight` is called at each scrape. */
export function createProxyMeters(metrics: Metrics, inFlight: () => number): ProxyMeters {
  const waiting: EndedCall[] = []
  metrics.gauge({
    name: 'looptrace_proxy_in_flight_calls',
    help: 'Calls in progress.',
    collect: (gauge) => {
      countWaiting()
      gauge.set(inFlight())
    },
  })
  const errors = metrics.counter({
    name: 'looptrace_proxy_errors_total',
    help: 'Failed calls, by error: a code of the error catalogue or the provider’s status.',
    labels: ['provider', 'outcome', 'error_type'],
  })
  const malformed = metrics.counter({
    name: 'looptrace_proxy_malformed_requests_total',
    help: 'Requests that were not valid HTTP, by the status of the answer.',
    labels: ['status'],
  })
  const calls = metrics.counter({
    name: 'looptrace_proxy_calls_total',
    help: 'Finished calls, by endpoint, provider and outcome.',
    labels: ['endpoint', 'provider', 'outcome'],
  })
  const duration = metrics.histogram({
    name: 'looptrace_proxy_call_duration_seconds',
    help: 'Duration of calls, from the request’s headers to the end of the answer.',
    labels: ['provider'],
    buckets: seconds,
  })
  const firstByte = metrics.histogram({
    name: 'looptrace_proxy_first_byte_seconds',
    help: 'Time from the request’s headers to the first content of a streamed answer.',
    labels: ['provider'],
    buckets: seconds,
  })
  function countWaiting(): void {
    for (const { endpoint, provider, outcome, error_type, ...times } of waiting) {
      calls.inc({ endpoint, provider, outcome })
      duration.observe({ provider }, times.duration_s)
      if (error_type !== '') errors.inc({ provider, outcome, error_type })
      if (times.first_byte_s !== null) firstByte.observe({ provider }, times.first_byte_s)
    }
    waiting.length = 0
  }
  return {
    ended(call) {
      waiting.push(call)
      if (waiting.length === batch_calls) countWaiting()
    },
    malformed: (status) => malformed.inc({ status }),
  }
}
