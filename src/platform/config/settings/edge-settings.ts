import {
  choice,
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

/** Settings of the proxy. */
export const proxySettings = {
  openai_base_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'https://api.openai.com/v1',
    reason: 'Base URL of provider `openai`, or of any server with the same API.',
  }),
  anthropic_base_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'https://api.anthropic.com/v1',
    reason: 'Base URL of provider `anthropic`, for its own API and its OpenAI-compatible one.',
  }),
  gemini_base_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'https://generativelanguage.googleapis.com/v1beta/openai',
    reason:
      'Base URL of the OpenAI-compatible API of provider `gemini`. Its own API is reached without the `/openai` and the version at the end.',
  }),
  scripted_base_url: url(['http', 'https'], {
    unit: 'URL',
    reason:
      'Base URL of provider `scripted`, which `looptrace smoke-test` runs. When unset, the provider is unknown.',
  }),
  providers_file: text({
    unit: 'path',
    reason:
      'YAML file with further providers, and with key files for calls without a key of the provider. Changes take effect without a restart; an invalid change leaves the providers as they were. Private addresses need `outbound_allowed`. See docs/guides/ways-in.md.',
  }),
  providers_reload_ms: integer({
    unit: 'ms',
    default: 5 * seconds,
    min: 100,
    max: 10 * minutes,
    reason:
      'Interval between two reads of the providers file and its key files. A key that was replaced is used within this time.',
  }),
  proxy_body_bytes_max: integer({
    unit: 'bytes',
    default: 20 * mib,
    min: kib,
    max: 256 * mib,
    reason: 'Maximum size of a completion request. Images in base64 make requests large.',
  }),
  proxy_idle_timeout_ms: integer({
    unit: 'ms',
    default: 10 * minutes,
    min: 100,
    max: 2 * hours,
    reason:
      'Maximum silence of a provider before the headers and between chunks. Reasoning models can be silent for minutes.',
  }),
  proxy_requests_per_minute_max: integer({
    unit: 'requests/minute',
    default: 0,
    min: 0,
    max: 10_000_000,
    reason: 'Maximum completions per project key and process. 0 sets no limit.',
  }),
  proxy_key_cache_ttl_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 10 * minutes,
    reason: 'Lifetime of a cached key: a revoked key stops working within this time.',
  }),
}

/** Settings of the OTLP receiver: HTTP on the port of the role, gRPC on a separate port. */
export const otlpSettings = {
  otlp_grpc_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason:
      'Address of OTLP over gRPC. The default, loopback, is not reachable from other machines.',
  }),
  otlp_grpc_port: portOrOff({
    unit: 'port',
    default: 4317,
    reason: 'Port of OTLP over gRPC. 0 picks a free port, `off` disables gRPC.',
  }),
  otlp_body_bytes_max: integer({
    unit: 'bytes',
    default: 64 * mib,
    min: kib,
    max: gib,
    reason:
      'Maximum size of an export request, compressed and decompressed. The default is the limit of the OpenTelemetry Collector.',
  }),
  otlp_inflight_bytes_max: integer({
    unit: 'bytes',
    default: 256 * mib,
    min: mib,
    max: 64 * gib,
    reason: 'Maximum size of all export requests in memory. Further requests get 503.',
  }),
  otlp_body_idle_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'Maximum silence of a client while it sends a request.',
  }),
  otlp_requests_per_minute_max: integer({
    unit: 'requests/minute',
    default: 0,
    min: 0,
    max: 10_000_000,
    reason: 'Maximum export requests per project key and process. 0 sets no limit.',
  }),
}

/** Settings of canonical batches, `POST /api/v2/observability/ingest`. */
export const ingestSettings = {
  ingest_body_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: kib,
    max: gib,
    reason:
      'Maximum size of a batch. A batch is parsed at once, so a larger one delays other requests.',
  }),
  ingest_take_over_ms: integer({
    unit: 'ms',
    default: 30_000,
    min: 100,
    max: 600_000,
    reason:
      'Time after which a batch of a killed process can be taken over. Until then, a repeat with the same idempotency key gets 503.',
  }),
}

/** Settings of the cost of a call, of the proxy and of the worker. */
export const costSettings = {
  cost_source: choice(['complete', 'computed', 'reported'], {
    unit: 'word',
    default: 'complete',
    reason:
      'Which cost of a call counts when the provider or client reports one and the price table has another. `complete`: ours if every part of the call has a rate, else the reported one. `computed`: ours whenever there is one. `reported`: the reported one whenever there is one. Both are kept. Set it on `proxy` and `worker` alike.',
  }),
}

/** Settings of the hand-over of records from the edge to the queue. */
export const recordingSettings = {
  record_inflight_bytes_max: integer({
    unit: 'bytes',
    default: 64 * mib,
    min: mib,
    max: 4 * gib,
    reason:
      'Maximum size of records in memory while the queue and the spool are slow. Further records are counted as lost. The journal of proxied calls takes up to four times as much on disk.',
  }),
  spool_bytes_max: integer({
    unit: 'bytes',
    default: gib,
    min: mib,
    max: 1024 * gib,
    reason: 'Maximum disk space for records while the queue is unavailable.',
  }),
}
