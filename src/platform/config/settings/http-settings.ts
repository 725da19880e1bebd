import { integer, text } from '../setting.ts'
import { hours, kib, mib, minutes, seconds } from './units.ts'

/** Processes that listen for clients. */
export const httpSettings = {
  http_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Loopback until somebody decides to be reached from outside.',
  }),
  http_port: integer({
    unit: 'port',
    default: 8080,
    min: 0,
    max: 65_535,
    reason: 'The base address; 0 takes a free port.',
  }),
  http_body_bytes_max: integer({
    unit: 'bytes',
    default: mib,
    min: kib,
    max: 64 * mib,
    reason: 'Body of a product API call; completions and ingest have limits of their own.',
  }),
  http_header_bytes_max: integer({
    unit: 'bytes',
    default: 32 * kib,
    min: 4 * kib,
    max: mib,
    reason: 'All headers of a request; baggage can be 8 KiB alone, hostile ones are larger.',
  }),
  http_rate_per_minute_max: integer({
    unit: 'requests/minute',
    default: 1200,
    min: 0,
    max: 1_000_000,
    reason: 'Product API calls of one credential in one process; 0 turns the limit off.',
  }),
  http_operator_rate_per_minute_max: integer({
    unit: 'requests/minute',
    default: 60_000,
    min: 60,
    max: 1_000_000,
    reason:
      'The same for the key of an operator, which speaks for all resources of a cluster: 10,000 of them are looked at in a minute.',
  }),
  http_request_timeout_ms: integer({
    unit: 'ms',
    default: 5 * minutes,
    min: seconds,
    max: hours,
    reason: 'Time for a request to arrive whole; slow senders must not hold sockets for ever.',
  }),
  http_keep_alive_ms: integer({
    unit: 'ms',
    default: 75 * seconds,
    min: 0,
    max: hours,
    reason:
      'Idle connections; longer than the 60 s of usual load balancers, so that they close first.',
  }),
}
