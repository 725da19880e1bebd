import {
  gib,
  hours,
  integer,
  kib,
  mib,
  minutes,
  portOrOff,
  seconds,
  text,
  url,
} from '../setting.ts'

/** The proxy's hot path. */
export const proxySettings = {
  openai_base_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'https://api.openai.com/v1',
    reason: 'Provider `openai`, or any server that speaks its format.',
  }),
  anthropic_base_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'https://api.anthropic.com/v1',
    reason: 'Provider `anthropic`, by its OpenAI-compatible endpoint.',
  }),
  gemini_base_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'https://generativelanguage.googleapis.com/v1beta/openai',
    reason: 'Provider `gemini`, by its OpenAI-compatible endpoint.',
  }),
  scripted_base_url: url(['http', 'https'], {
    unit: 'URL',
    reason:
      'Provider `scripted`, which `looptrace smoke-test` plays to try an installation; unknown when unset.',
  }),
  proxy_body_bytes_max: integer({
    unit: 'bytes',
    default: 20 * mib,
    min: kib,
    max: 256 * mib,
    reason: 'A completion request; images as base64 make them large.',
  }),
  proxy_capture_request_bytes_max: integer({
    unit: 'bytes',
    default: 8 * mib,
    min: 0,
    max: 64 * mib,
    reason: 'A larger request is passed on whole and recorded without its content.',
  }),
  proxy_capture_response_bytes_max: integer({
    unit: 'bytes',
    default: 4 * mib,
    min: 0,
    max: 64 * mib,
    reason: 'Of a longer answer its head and last 64 KiB are recorded, so that usage is found.',
  }),
  proxy_connect_timeout_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: 100,
    max: 2 * minutes,
    reason: 'A provider that takes no connection by then is down.',
  }),
  proxy_idle_timeout_ms: integer({
    unit: 'ms',
    default: 10 * minutes,
    min: 100,
    max: 2 * hours,
    reason: 'Reasoning models are silent for minutes, before the headers and between chunks.',
  }),
  proxy_upstream_keep_alive_ms: integer({
    unit: 'ms',
    default: 20 * seconds,
    min: 0,
    max: hours,
    reason: 'Idle connections to a provider; below the 60 s after which many close them.',
  }),
  proxy_body_bytes_inflight_max: integer({
    unit: 'bytes',
    default: 256 * mib,
    min: mib,
    max: 64 * gib,
    reason: 'Request bodies held at one time; above, calls get 503 instead of the process dying.',
  }),
  proxy_usage_refusal_kept_ms: integer({
    unit: 'ms',
    default: 10 * minutes,
    min: 0,
    max: 24 * hours,
    reason: 'A provider that refused `stream_options` is not asked for usage again for so long.',
  }),
  proxy_connections_max: integer({
    unit: 'connections',
    default: 1024,
    min: 1,
    max: 65_536,
    reason: 'Open connections to one provider; further calls wait for a free one.',
  }),
  proxy_requests_per_minute_max: integer({
    unit: 'requests/minute',
    default: 0,
    min: 0,
    max: 10_000_000,
    reason: 'Completions of one project key in one process; 0: no limit but the provider’s own.',
  }),
  proxy_key_cache_ttl_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 10 * minutes,
    reason: 'A revoked key stops working within this time.',
  }),
  proxy_key_cache_stale_ms: integer({
    unit: 'ms',
    default: 24 * hours,
    min: 0,
    max: 30 * 24 * hours,
    reason: 'How long a known key still works while PostgreSQL is out of reach.',
  }),
  proxy_key_cache_entries_max: integer({
    unit: 'keys',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    reason: 'Keys remembered in one process; about 1 KB each.',
  }),
}

/** The OTLP receiver, over HTTP on the port of the role and over gRPC on a port of its own. */
export const otlpSettings = {
  otlp_grpc_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Loopback until somebody decides to be reached from outside.',
  }),
  otlp_grpc_port: portOrOff({
    unit: 'port',
    default: 4317,
    reason: 'Where exporters look for OTLP over gRPC; 0 takes a free port, `off` opens none.',
  }),
  otlp_body_bytes_max: integer({
    unit: 'bytes',
    default: 64 * mib,
    min: kib,
    max: gib,
    reason: 'An export request, before and after it is unpacked; the limit of the Collector.',
  }),
  otlp_inflight_bytes_max: integer({
    unit: 'bytes',
    default: 256 * mib,
    min: mib,
    max: 64 * gib,
    reason: 'Export requests held at one time; above, they get 503 instead of the process dying.',
  }),
  otlp_body_idle_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'The longest silence of a client in the middle of a request.',
  }),
  otlp_requests_per_minute_max: integer({
    unit: 'requests/minute',
    default: 0,
    min: 0,
    max: 10_000_000,
    reason: 'Export requests of one project key in one process; 0 sets no limit.',
  }),
  otlp_grpc_streams_max: integer({
    unit: 'streams',
    default: 128,
    min: 1,
    max: 65_536,
    reason: 'Calls at one time on one gRPC connection; further ones wait in the client.',
  }),
  otlp_grpc_keepalive_ms: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: 2 * hours,
    reason: 'A gRPC connection is asked for a sign of life so often; the dead ones are closed.',
  }),
}

/** Canonical batches, POST /api/v2/observability/ingest. */
export const ingestSettings = {
  ingest_body_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: kib,
    max: gib,
    reason: 'A batch; it is parsed in one go, and a larger one would hold up other requests.',
  }),
  ingest_inflight_records_max: integer({
    unit: 'records',
    default: 200_000,
    min: 1,
    max: 10_000_000,
    reason: 'Records of batches being taken at one time; above, 503: they are all in memory.',
  }),
  ingest_take_over_ms: integer({
    unit: 'ms',
    default: 30_000,
    min: 100,
    max: 600_000,
    reason:
      'A batch whose process was killed while it took it: a repeat with the same key gets 503 until this time has passed, and is then taken.',
  }),
}

/** Handing records from the edge to the queue. */
export const recordingSettings = {
  record_frame_bytes: integer({
    unit: 'bytes',
    default: 128 * kib,
    min: 4 * kib,
    max: 512 * kib,
    reason:
      'Records are framed into messages of this size: a message per call costs five times more.',
  }),
  record_frame_age_ms: integer({
    unit: 'ms',
    default: 20,
    min: 1,
    max: 5 * seconds,
    reason: 'A record waits no longer for others; what a killed proxy can lose.',
  }),
  record_inflight_bytes_max: integer({
    unit: 'bytes',
    default: 64 * mib,
    min: mib,
    max: 4 * gib,
    reason: 'Records in memory while queue and spool are slow; above, they are counted as lost.',
  }),
  spool_bytes_max: integer({
    unit: 'bytes',
    default: gib,
    min: mib,
    max: 1024 * gib,
    reason: 'Disk for records while the queue is out of reach.',
  }),
}
