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
  secret,
  text,
  url,
} from '../setting.ts'

/** PostgreSQL: metadata. */
export const relationalSettings = {
  postgres_url: url(['postgres', 'postgresql'], {
    unit: 'URL',
    reason:
      'PostgreSQL 14 or later, whole; or its parts, below. Role `all` starts one of its own when both are unset.',
  }),
  postgres_host: text({
    unit: 'host',
    reason: 'Where it is, when the address comes in parts: a password then needs no escapes.',
  }),
  postgres_port: integer({
    unit: 'port',
    default: 5432,
    min: 1,
    max: 65_535,
    reason: 'Its port, with the host.',
  }),
  postgres_database: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Database of our tables, with the host.',
  }),
  postgres_username: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Account, with the host.',
  }),
  postgres_password: secret({ reason: 'Its password, with the host.' }),
  postgres_ssl_mode: choice(['disable', 'require', 'verify-full'], {
    unit: 'mode',
    default: 'require',
    reason: 'With the host: `require` encrypts, `verify-full` also checks whose certificate it is.',
  }),
  postgres_ca_file: text({
    unit: 'path',
    reason: 'Certificate authority for `verify-full`; the public ones when unset.',
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

/** Where archives are kept. */
export const blobsSettings = {
  blobs_url: url(['file', 's3'], {
    unit: 'URL',
    reason:
      'Where archives are kept: `file:///folder` or `s3://bucket/prefix`; the same for `api` and `worker`. Unset, nothing is archived; role `all` then keeps them in `blobs` of its data directory.',
  }),
  archive_settle_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 10 * minutes,
    reason:
      'An archive run takes what was stored before it began, and first waits so long for inserts that were under way: no shorter than one may take.',
  }),
  blobs_s3_endpoint: url(['http', 'https'], {
    unit: 'URL',
    reason: "A store that speaks S3 and is not Amazon's.",
  }),
  blobs_s3_region: text({
    unit: 'name',
    reason: 'Region of the bucket; what the SDK finds in its environment when unset.',
  }),
  blobs_s3_access_key_id: text({
    unit: 'name',
    reason:
      'Account of the bucket; unset, the SDK finds one (the role of the pod, files, environment).',
  }),
  blobs_s3_secret_access_key: secret({ reason: 'Its secret.' }),
  blobs_s3_path_style: flag({
    unit: 'flag',
    default: false,
    reason: 'Whether the bucket stands in the path, not in the host name: most own stores want it.',
  }),
  blobs_s3_part_bytes: integer({
    unit: 'bytes',
    default: 8 * mib,
    min: 5 * mib,
    max: 1024 * mib,
    reason: 'Larger blobs go in parts of this size, one of which is in memory.',
  }),
  blobs_s3_attempts_max: integer({
    unit: 'tries',
    default: 4,
    min: 1,
    max: 20,
    reason: 'Tries of one request, with back-off between them.',
  }),
  blobs_s3_connect_timeout_ms: integer({
    unit: 'ms',
    default: 5 * seconds,
    min: 100,
    max: minutes,
    reason: 'How long a connection may take.',
  }),
  blobs_s3_request_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'How long a connection may stay silent.',
  }),
  blobs_s3_connections_max: integer({
    unit: 'connections',
    default: 8,
    min: 1,
    max: 200,
    reason: 'Connections of one process.',
  }),
}
