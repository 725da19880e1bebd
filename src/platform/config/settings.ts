import { choice, flag, integer, secret, text, url } from './setting.ts'

const seconds = 1000
const minutes = 60 * seconds
const hours = 60 * minutes
const kib = 1024
const mib = 1024 * kib
const gib = 1024 * mib

/** Every process has these. */
export const processSettings = {
  log_level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
    unit: 'level',
    default: 'info',
    reason: 'Least severe line that is written.',
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

/** PostgreSQL: metadata. */
export const relationalSettings = {
  postgres_url: url(['postgres', 'postgresql'], {
    unit: 'URL',
    reason: 'PostgreSQL 14 or later. Role `all` starts one of its own when unset.',
  }),
  postgres_pool_max: integer({
    unit: 'connections',
    default: 10,
    min: 2,
    max: 200,
    reason: 'Connections of one process.',
  }),
  postgres_connect_timeout_ms: integer({
    unit: 'ms',
    default: 5 * seconds,
    min: 100,
    max: minutes,
    reason: 'A request must not hang when the server is gone.',
  }),
  postgres_statement_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'No statement of a request or a batch should take longer.',
  }),
}

/** ClickHouse: observations. */
export const columnarSettings = {
  clickhouse_url: url(['http', 'https'], {
    unit: 'URL',
    reason: 'ClickHouse 25.3 or later. Role `all` starts an embedded one when unset.',
  }),
  clickhouse_username: text({ unit: 'name', default: 'default', reason: 'Account in ClickHouse.' }),
  clickhouse_password: secret({ reason: 'Its password.' }),
  clickhouse_database: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Database of our tables.',
  }),
  clickhouse_cluster: text({
    unit: 'name',
    reason: 'Cluster for replicated and distributed tables; a single server when unset.',
  }),
  clickhouse_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'A request to the store.',
  }),
  clickhouse_connections_max: integer({
    unit: 'connections',
    default: 10,
    min: 1,
    max: 200,
    reason: 'Connections of one process.',
  }),
}

/** NATS JetStream, or SQLite where no server is named. */
export const queueSettings = {
  nats_url: text({
    unit: 'URL',
    reason:
      'One or more NATS servers, separated by commas. Role `all` keeps its queue in SQLite when unset.',
  }),
  nats_credentials_file: text({ unit: 'path', reason: 'Credentials file of the NATS account.' }),
  nats_replicas: integer({
    unit: 'replicas',
    default: 1,
    min: 1,
    max: 5,
    reason: 'Copies of each message; 3 where NATS is a cluster.',
  }),
  queue_bytes_max: integer({
    unit: 'bytes',
    default: 8 * gib,
    min: 16 * mib,
    max: 4096 * gib,
    reason: 'What may wait for a store that is down; above, the edge spools.',
  }),
  queue_message_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: 64 * kib,
    max: 64 * mib,
    reason: 'Largest message; NATS’ own max_payload (1 MiB unless raised) bounds it further.',
  }),
  queue_dedupe_ms: integer({
    unit: 'ms',
    default: 2 * hours,
    min: seconds,
    max: 7 * 24 * hours,
    reason: 'The same message id published again within this time is stored once.',
  }),
}

/** The worker's consumers. */
export const workerSettings = {
  ingest_batch_messages_max: integer({
    unit: 'messages',
    default: 64,
    min: 1,
    max: 10_000,
    reason: 'Messages of one insert.',
  }),
  ingest_batch_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: mib,
    max: 256 * mib,
    reason: 'Raw bytes of one insert; what a batch takes in memory is a few times this.',
  }),
  ingest_batch_wait_ms: integer({
    unit: 'ms',
    default: 100,
    min: 0,
    max: 10 * seconds,
    reason: 'How long a batch waits for more: few large inserts are cheap, but users wait too.',
  }),
  ingest_ack_wait_ms: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: hours,
    reason: 'A batch that a killed worker held comes again after this time.',
  }),
  ingest_attempts_max: integer({
    unit: 'deliveries',
    default: 5,
    min: 1,
    max: 1000,
    reason: 'A message that fails so often by its own fault goes to the dead letters.',
  }),
}

/** Sign-in and keys. */
export const accessSettings = {
  secret_key: secret({
    min_characters: 32,
    reason:
      'Encrypts the token-signing keys at rest; the same in every pod. Role `all` makes one in its data directory.',
  }),
  token_issuer: text({
    unit: 'URL',
    default: 'looptrace',
    reason: '`iss` of our access tokens.',
  }),
  token_ttl_ms: integer({
    unit: 'ms',
    default: hours,
    min: minutes,
    max: hours,
    reason: 'Life of an access token; roles are read from the store anyway.',
  }),
  oidc_issuer: url(['https', 'http'], {
    unit: 'URL',
    reason: 'An external issuer whose tokens are taken too.',
  }),
  oidc_audience: text({ unit: 'text', reason: '`aud` that its tokens must have.' }),
  bootstrap_email: text({
    unit: 'e-mail',
    default: 'admin@looptrace.local',
    reason: 'Login of the first administrator.',
  }),
  bootstrap_password: secret({
    min_characters: 12,
    reason: 'Password of the first administrator; a random one is made and shown once when unset.',
  }),
}

/** Reading tasks. */
export const taskSettings = {
  task_stalled_after_ms: integer({
    unit: 'ms',
    default: 30 * minutes,
    min: seconds,
    max: 30 * 24 * hours,
    reason: 'A running task without activity for so long reads `stalled: true`.',
  }),
}

/** Role `all` on one machine. */
export const embeddedSettings = {
  data_directory: text({
    unit: 'path',
    default: './data',
    reason: 'Everything that role `all` keeps: both stores, the queue, generated secrets.',
  }),
  demo: flag({
    unit: 'flag',
    default: true,
    reason: 'Whether the first start sends a short sample agent run to a scripted provider.',
  }),
}
