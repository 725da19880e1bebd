import { gib, hours, integer, mib, minutes, seconds, secret, text, url } from '../setting.ts'

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
  bootstrap_project_id: text({
    unit: 'UUID',
    reason: 'Id of the first project; a new one is made when unset.',
  }),
  bootstrap_project_key: secret({
    min_characters: 44,
    reason: 'Key of the first project, `lt_…`; a random one is made and shown once when unset.',
  }),
  bootstrap_secret: text({
    unit: 'namespace/name',
    reason:
      'Secret of the cluster that `migrate` keeps the first login and the shared keys in: it makes it when it is not there, and takes what is in it.',
  }),
}

/** What one query may take of a store; over it, 400 `query_too_expensive`. Same for all projects. */
export const querySettings = {
  query_rows_read_max: integer({
    unit: 'rows',
    default: 100_000_000,
    min: 1,
    max: 1_000_000_000_000,
    reason:
      'Rows read in ClickHouse. A page in order of time ends when it is full and is held by bytes alone.',
  }),
  query_bytes_read_max: integer({
    unit: 'bytes',
    default: 20 * gib,
    min: mib,
    max: 1024 * gib,
    reason: 'Bytes read in ClickHouse, as they are in memory.',
  }),
  query_time_ms_max: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: 100,
    max: hours,
    reason: 'Time in a store.',
  }),
  query_memory_bytes_max: integer({
    unit: 'bytes',
    default: gib,
    min: mib,
    max: 64 * gib,
    reason: 'Memory in ClickHouse.',
  }),
  query_result_rows_max: integer({
    unit: 'rows',
    default: 10_000,
    min: 1,
    max: 10_000,
    reason: 'Rows of an answer.',
  }),
  query_running_max: integer({
    unit: 'queries',
    default: 4,
    min: 1,
    max: 1_000,
    reason: 'Queries of one project that run at one time, in each process: others want to ask too.',
  }),
  query_waiting_max: integer({
    unit: 'queries',
    default: 20,
    min: 0,
    max: 10_000,
    reason: 'Queries of one project that wait for their turn; above, 429.',
  }),
  query_wait_ms_max: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 0,
    max: minutes,
    reason: 'How long a query waits for its turn; then, 429.',
  }),
  query_postgres_connections_max: integer({
    unit: 'connections',
    default: 4,
    min: 1,
    max: 100,
    reason: 'Connections to PostgreSQL for queries alone, so that slow ones hold up nothing else.',
  }),
  saved_queries_max: integer({
    unit: 'queries',
    default: 1_000,
    min: 1,
    max: 100_000,
    reason: 'Saved queries of one project; above, 409.',
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
