import {
  choice,
  flag,
  gib,
  hours,
  integer,
  kib,
  mib,
  minutes,
  seconds,
  text,
  url,
} from '../setting.ts'

/** Every process has these. */
export const processSettings = {
  log_level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
    unit: 'level',
    default: 'info',
    reason: 'Least severe line that is written.',
  }),
  log_format: choice(['auto', 'pretty', 'json'], {
    unit: 'format',
    default: 'auto',
    reason:
      'Form of log lines; `auto` is `pretty` on a terminal, for people, and `json` elsewhere.',
  }),
  management_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Where /livez, /readyz and /metrics listen; 0.0.0.0 in a pod, so that probes reach it.',
  }),
  management_port: integer({
    unit: 'port',
    default: 9464,
    min: 0,
    max: 65_535,
    reason: 'A port of its own keeps probes and metrics away from traffic; 0 takes a free one.',
  }),
  drain_delay_ms: integer({
    unit: 'ms',
    default: 0,
    min: 0,
    max: 5 * minutes,
    reason:
      'Time between “not ready” and closing, for load balancers to notice; 5000 suits Kubernetes.',
  }),
  grace_period_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 30 * minutes,
    reason: 'How long open requests and streams may take to end when the process is stopped.',
  }),
  otlp_traces_url: url(['http', 'https'], {
    unit: 'URL',
    reason: 'Where Looptrace sends traces of itself (OTLP over HTTP); none are made when unset.',
  }),
}

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

/** Role `all` on one machine. */
export const embeddedSettings = {
  data_directory: text({
    unit: 'path',
    default: './data',
    reason: 'Everything that role `all` keeps: both stores, the queue, generated secrets.',
  }),
  data_free_bytes_min: integer({
    unit: 'bytes',
    default: 128 * mib,
    min: 0,
    max: mib * gib,
    reason:
      'Free space that the disk of the data folder needs at the start: empty stores take 70 MB, and a full disk stops both of them half-way.',
  }),
  demo: flag({
    unit: 'flag',
    default: true,
    reason:
      'Whether the first start plays two sample agents against a scripted provider, one of which loops.',
  }),
}
