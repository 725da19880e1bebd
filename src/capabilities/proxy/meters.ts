import type { Outcome } from '../../model/observation.ts'
import type { Metrics } from '../../platform/telemetry/index.ts'
import type { Endpoint } from './contract.ts'

/** One ended call, as it is counted. */
export type EndedCall = {
  endpoint: Endpoint
  /** Empty when the call was refused before its provider was known. */
  provider: string
  outcome: Outcome
  /** A code of the catalogue, or the provider's status; empty when nothing went wrong. */
  error_type: string
  duration_s: number
  /** Null when no content came. */
  first_byte_s: number | null
}

/** What the proxy counts. Every ended call is counted once, recorded or not. */
export type ProxyMeters = {
  ended(call: EndedCall): void
  /** A request that was no HTTP, or headers that were too large. */
  malformed(status: number): void
}

const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** Makes the proxy's metrics; `inFlight` is asked when somebody scrapes. */
export function createProxyMeters(metrics: Metrics, inFlight: () => number): ProxyMeters {
  const calls = metrics.counter({
    name: 'looptrace_proxy_calls_total',
    help: 'Calls that have ended, by outcome; refused ones without a valid key are among them.',
    labels: ['endpoint', 'provider', 'outcome', 'error_type'],
  })
  const malformed = metrics.counter({
    name: 'looptrace_proxy_malformed_requests_total',
    help: 'Requests that were not valid HTTP, by the status they were answered with.',
    labels: ['status'],
  })
  const duration = metrics.histogram({
    name: 'looptrace_proxy_call_duration_seconds',
    help: 'From the headers of a request to the end of its answer.',
    labels: ['endpoint', 'provider', 'outcome'],
    buckets: seconds,
  })
  const firstByte = metrics.histogram({
    name: 'looptrace_proxy_first_byte_seconds',
    help: 'From the headers of a request to the first content of the provider’s answer.',
    labels: ['endpoint', 'provider'],
    buckets: seconds,
  })
  metrics.gauge({
    name: 'looptrace_proxy_in_flight_calls',
    help: 'Calls that have not ended yet.',
    collect: (gauge) => gauge.set(inFlight()),
  })
  return {
    ended({ endpoint, provider, outcome, error_type, duration_s, first_byte_s }) {
      calls.inc({ endpoint, provider, outcome, error_type })
      duration.observe({ endpoint, provider, outcome }, duration_s)
      if (first_byte_s !== null) firstByte.observe({ endpoint, provider }, first_byte_s)
    },
    malformed: (status) => malformed.inc({ status }),
  }
}
