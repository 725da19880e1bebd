import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import type { Logger } from '../telemetry/index.ts'
import type { TenantScope } from '../tenancy/index.ts'
import type { OnCommitted } from './committed-changes.ts'
import { type ScopedPool, scopePool } from './scoped-pool.ts'
import { StoreDriver } from './store-driver.ts'

/** Address of the relational store, and limits of one process. */
export type RelationalOptions = {
  /** `postgres://user:password@host:port/database`, with `?sslmode=` as in libpq. */
  url: string
  /** Maximum connections of this process. Further queries wait for one. */
  pool_max: number
  /** Maximum wait of a query for a connection. */
  connect_timeout_ms: number
  /** Time after which the server cancels a statement of `db` and `scoped` (SQLSTATE 57014). */
  statement_timeout_ms: number
  /**
   * Default scope of statements outside of a tenant scope, for tests and tools. Without it, such a
   * statement is refused. The service never sets it.
   */
  scope?: TenantScope
  logger: Logger
}

/**
 * A connection pool with Kysely. `DB` maps table names to row types. When the store is unavailable,
 * statements of `db` reject with `store_unavailable`, statements of the pools with the driver's
 * error.
 */
export type Relational<DB> = {
  db: Kysely<DB>
  /**
   * Statements as the login, outside of tenant scopes: for health, progress and cancel requests.
   * Only the client limits their time.
   */
  pool: pg.Pool
  /** Connections for statements as text. They run in the scope of the work, as those of `db`. */
  scoped: ScopedPool
  /** Sets the receiver of the changes that committed transactions of `db` have noted. */
  onCommitted(receiver: OnCommitted): void
  /** Resolves when the store answers. Rejects with the driver's error otherwise. */
  ping(): Promise<void>
  /** Waits for running queries, then closes all connections. May be called twice. */
  close(): Promise<void>
}

/**
 * Opens the relational store. It connects on the first query. Values are read as:
 * int8 → number (throws RangeError above 2^53), numeric → string, timestamptz → ISO 8601 UTC
 * string with milliseconds, date and timestamp → string, bytea → Buffer, jsonb → parsed.
 * `sum()` of a bigint is a numeric in PostgreSQL: cast it to bigint to read a number.
 */
export function openRelational<DB>(options: RelationalOptions): Relational<DB> {
  const pool = new pg.Pool(poolConfig(options))
  surviveBrokenConnections(pool, options.logger)
  const scoped = scopePool(pool, {
    statement_timeout_ms: options.statement_timeout_ms,
    fallback: options.scope,
  })
  let announce: OnCommitted = () => undefined
  const db = new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new StoreDriver(scoped, (changes) => announce(changes)),
      createIntrospector: (any) => new PostgresIntrospector(any),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return {
    db,
    pool,
    scoped,
    onCommitted: (receiver) => {
      announce = receiver
    },
    ping: async () => {
      await pool.query('select 1')
    },
    close: async () => {
      if (!pool.ending) await pool.end()
    },
  }
}

/**
 * Handles errors of idle connections (events of the pool) and of connections between two statements
 * of a transaction (events of the client). An unhandled 'error' event would end the process.
 */
function surviveBrokenConnections(pool: pg.Pool, logger: Logger): void {
  pool.on('error', (error) => {
    if (pool.ending) return
    // The error contains the whole client with its cancel key, so it is not logged.
    logger.warn({ reason: error.message }, 'a postgres connection broke')
  })
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
}

/** Time after which an idle connection is closed, so that an idle process holds none. */
const idleTimeoutMs = 30_000

function poolConfig(options: RelationalOptions): pg.PoolConfig {
  return {
    connectionString: options.url,
    max: options.pool_max,
    connectionTimeoutMillis: options.connect_timeout_ms,
    idleTimeoutMillis: idleTimeoutMs,
    // The limit of the server, which the scoped pool sets, does not work when it is unreachable.
    query_timeout: options.statement_timeout_ms + options.connect_timeout_ms,
    keepAlive: true,
    application_name: 'looptrace',
    types: relationalValueParsers,
  }
}

/**
 * Parsers of values, set for this pool only: `pg.types.setTypeParser` would change them for every
 * user of pg in the process.
 */
const relationalValueParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    const parser = format === 'binary' ? undefined : textParsers.get(oid)
    return parser ?? pg.types.getTypeParser(oid, format)
  },
}

const defaultInstant: (text: string) => unknown = pg.types.getTypeParser(
  pg.types.builtins.TIMESTAMPTZ,
  'text',
)

const textParsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, parseSafeInteger],
  [pg.types.builtins.TIMESTAMPTZ, formatInstant],
  // pg would read a date or a time without zone in the time zone of this machine.
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.TIMESTAMP, (text) => text],
])

function parseSafeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`bigint ${text}: expected at most 2^53 - 1, cast it to text to read it`)
  }
  return value
}

/** Formats a timestamp. `infinity` and `-infinity` are returned as they are. */
function formatInstant(text: string): string {
  const parsed = defaultInstant(text)
  return parsed instanceof Date ? parsed.toISOString() : text
}
