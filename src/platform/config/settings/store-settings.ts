import {
  choice,
  flag,
  gib,
  hours,
  integer,
  mib,
  minutes,
  seconds,
  secret,
  text,
  url,
} from '../setting.ts'

/** Settings of PostgreSQL, the store of metadata. */
export const relationalSettings = {
  postgres_url: url(['postgres', 'postgresql'], {
    unit: 'URL',
    reason:
      'URL of PostgreSQL 14 or later. Set this, or `postgres_host` and the settings below it. Role `all` starts its own server when both are unset.',
  }),
  postgres_host: text({
    unit: 'host',
    reason: 'Host of PostgreSQL, instead of a URL: the password then needs no escaping.',
  }),
  postgres_port: integer({
    unit: 'port',
    default: 5432,
    min: 1,
    max: 65_535,
    reason: 'Port of PostgreSQL. Used with `postgres_host`.',
  }),
  postgres_database: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Database of Looptrace. Used with `postgres_host`.',
  }),
  postgres_username: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'PostgreSQL user. Used with `postgres_host`.',
  }),
  postgres_password: secret({
    reason: 'Password of the PostgreSQL user. Used with `postgres_host`.',
  }),
  postgres_ssl_mode: choice(['disable', 'require', 'verify-full'], {
    unit: 'mode',
    default: 'require',
    reason:
      'TLS mode: `require` encrypts, `verify-full` also verifies the certificate. Used with `postgres_host`.',
  }),
  postgres_ca_file: text({
    unit: 'path',
    reason: 'Certificate authority for `verify-full`. When unset, public authorities are trusted.',
  }),
  postgres_pool_max: integer({
    unit: 'connections',
    default: 10,
    min: 2,
    max: 200,
    reason: 'Maximum connections to PostgreSQL per process.',
  }),
  postgres_statement_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'Maximum time of a statement in PostgreSQL.',
  }),
  postgres_slow_poll_ms: integer({
    unit: 'ms',
    default: 20 * seconds,
    min: seconds,
    max: minutes,
    reason:
      'Longest time after which an idle worker looks for work that PostgreSQL did not announce (LISTEN). Behind a pooler in transaction mode workers poll more often.',
  }),
}

/** Settings of ClickHouse, the store of observations. */
export const columnarSettings = {
  clickhouse_url: url(['http', 'https'], {
    unit: 'URL',
    reason: 'URL of ClickHouse 25.3 or later. Role `all` starts an embedded server when unset.',
  }),
  clickhouse_username: text({ unit: 'name', default: 'default', reason: 'ClickHouse user.' }),
  clickhouse_password: secret({ reason: 'Password of the ClickHouse user.' }),
  clickhouse_database: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Database of Looptrace in ClickHouse.',
  }),
  clickhouse_cluster: text({
    unit: 'name',
    reason:
      'ClickHouse cluster for replicated and distributed tables. Experimental. When unset, tables are made on a single server.',
  }),
}

/** Settings of the queue: NATS JetStream, or SQLite when no server is set. */
export const queueSettings = {
  nats_url: text({
    unit: 'URL',
    reason: 'NATS servers, separated by commas. When unset, role `all` keeps its queue in SQLite.',
  }),
  nats_credentials_file: text({ unit: 'path', reason: 'Credentials file of the NATS account.' }),
  nats_replicas: integer({
    unit: 'replicas',
    default: 1,
    min: 1,
    max: 5,
    reason: 'Replicas of each message. Use 3 in a NATS cluster.',
  }),
  queue_partitions: integer({
    unit: 'partitions',
    default: 1,
    min: 1,
    max: 64,
    reason:
      'Streams of the queue in NATS, by a hash of the project: each has a leader of its own. It may be changed at any time: workers drain the streams of a larger number before. Each process has a connection for each partition.',
  }),
  queue_bytes_max: integer({
    unit: 'bytes',
    default: 8 * gib,
    min: 16 * mib,
    max: 4096 * gib,
    reason:
      'Maximum size of each partition of the queue, for messages that wait for an unavailable store. When it is full, records are spooled at the edge.',
  }),
  queue_dedupe_ms: integer({
    unit: 'ms',
    default: 2 * hours,
    min: seconds,
    max: 7 * 24 * hours,
    reason:
      'Deduplication window: a message id that is published again within this time is stored once.',
  }),
}

/** Settings of the store of archives. */
export const blobsSettings = {
  blobs_url: url(['file', 's3'], {
    unit: 'URL',
    reason:
      'Location of archives: `file:///folder` or `s3://bucket/prefix`. Set the same value for `api` and `worker`. When unset, nothing is archived; role `all` uses `blobs` in its data folder.',
  }),
  archive_settle_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 10 * minutes,
    reason:
      'Delay before an archive run reads a day, so that inserts in progress can finish. Not shorter than the longest insert.',
  }),
  blobs_s3_endpoint: url(['http', 'https'], {
    unit: 'URL',
    reason: 'Endpoint of an S3-compatible store other than Amazon S3.',
  }),
  blobs_s3_region: text({
    unit: 'name',
    reason: 'Region of the bucket. When unset, the AWS SDK reads it from its environment.',
  }),
  blobs_s3_access_key_id: text({
    unit: 'name',
    reason:
      'Access key of the bucket. When unset, the AWS SDK finds one (role of the pod, files, environment).',
  }),
  blobs_s3_secret_access_key: secret({ reason: 'Secret of the access key.' }),
  blobs_s3_path_style: flag({
    unit: 'flag',
    default: false,
    reason:
      'Whether the bucket is in the path instead of the host name, as most S3-compatible stores require.',
  }),
  blobs_s3_attempts_max: integer({
    unit: 'attempts',
    default: 4,
    min: 1,
    max: 20,
    reason: 'Maximum attempts per request, with back-off.',
  }),
  blobs_s3_request_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'Maximum silence on a connection.',
  }),
}
