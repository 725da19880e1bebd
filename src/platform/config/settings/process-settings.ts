import {
  choice,
  flag,
  gib,
  integer,
  mib,
  minutes,
  networks,
  origins,
  seconds,
  text,
  url,
} from '../setting.ts'

/** Settings of every process. */
export const processSettings = {
  log_level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
    unit: 'level',
    default: 'info',
    reason: 'Minimum severity of the lines that are logged.',
  }),
  log_format: choice(['auto', 'pretty', 'json'], {
    unit: 'format',
    default: 'auto',
    reason: 'Format of log lines. `auto` is `pretty` on a terminal and `json` elsewhere.',
  }),
  management_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason:
      'Address of `/livez`, `/readyz` and `/metrics`. In a pod, set it to `0.0.0.0` so that probes reach it.',
  }),
  management_port: integer({
    unit: 'port',
    default: 9464,
    min: 0,
    max: 65_535,
    reason:
      'Port of `/livez`, `/readyz` and `/metrics`, apart from client traffic. 0 picks a free port.',
  }),
  drain_delay_ms: integer({
    unit: 'ms',
    default: 0,
    min: 0,
    max: 5 * minutes,
    reason:
      'Delay between reporting “not ready” and closing, so that load balancers can react. Use 5000 in Kubernetes.',
  }),
  grace_period_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 30 * minutes,
    reason: 'Maximum time for open requests and streams to finish after a stop signal.',
  }),
  otlp_traces_url: url(['http', 'https'], {
    unit: 'URL',
    reason:
      'OTLP/HTTP endpoint for the traces of Looptrace itself. When unset, no traces are made.',
  }),
}

/** Settings of roles that serve clients. */
export const httpSettings = {
  http_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason:
      'Address that clients connect to. The default, loopback, is not reachable from other machines.',
  }),
  http_port: integer({
    unit: 'port',
    default: 8080,
    min: 0,
    max: 65_535,
    reason: 'Port that clients connect to. 0 picks a free port.',
  }),
  http_rate_per_minute_max: integer({
    unit: 'requests/minute',
    default: 1200,
    min: 0,
    max: 1_000_000,
    reason:
      'Maximum product API calls of a user, service account or key, per process. 0 turns the limit off.',
  }),
  http_anonymous_rate_per_minute_max: integer({
    unit: 'requests/minute',
    default: 1200,
    min: 0,
    max: 1_000_000,
    reason:
      'Maximum calls without valid credentials of a network, which is an IPv4 address or an IPv6 /64, per process: to the product API, for completions, and for OTLP over HTTP. Credentials that were valid in the last 10 minutes are not affected. 0 turns the limit off.',
  }),
  http_hsts_max_age_s: integer({
    unit: 's',
    default: 31_536_000,
    min: 0,
    max: 63_072_000,
    reason:
      'Time for which browsers use HTTPS only, in `Strict-Transport-Security`. Sent when LOOPTRACE_PUBLIC_URL is HTTPS. 0 sends no header.',
  }),
  audit_refusals_per_minute_max: integer({
    unit: 'records/minute',
    default: 60,
    min: 0,
    max: 1_000_000,
    reason:
      'Maximum audit records of refused calls per caller and process. Further ones are counted in the next record. 0 turns the limit off.',
  }),
  http_cors_origins: origins({
    unit: 'origins',
    reason:
      'Origins of pages in browsers that may call `/api` and the OTLP endpoint, separated by commas. Pages must bring a key or an access token: cookies are never accepted from other origins. Calls of models are not included. When unset, pages of other origins can only send feedback, with a browser key.',
  }),
  http_trusted_proxies: networks({
    unit: 'addresses',
    reason:
      'Reverse proxies, as IP addresses or CIDR blocks separated by commas, whose `X-Forwarded-For` names the client. When unset, the header is ignored and the client is the peer of the connection. Behind a load balancer, set it: otherwise all clients share its limits of sign-ins.',
  }),
}

/** The data folder of role `all`, in which other roles keep their spool. */
export const folderSettings = {
  data_directory: text({
    unit: 'path',
    default: './data',
    reason: 'Data folder of role `all`: both stores, the queue and generated secrets.',
  }),
}

/** Settings of role `all`. */
export const embeddedSettings = {
  data_free_bytes_min: integer({
    unit: 'bytes',
    default: 128 * mib,
    min: 0,
    max: mib * gib,
    reason:
      'Minimum free disk space at start. Empty stores take 70 MB, and a full disk stops both.',
  }),
  demo: flag({
    unit: 'flag',
    default: true,
    reason:
      'Whether the first start runs two sample agents against a scripted provider. One of them loops.',
  }),
}
