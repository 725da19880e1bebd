import { type DatabaseConnection, Kysely, PostgresDialect, PostgresDriver } from 'kysely'
import pg from 'pg'
import type { Logger } from '../telemetry/index.ts'
import { asStoreProblem } from './unavailable.ts'

/** Where the relational store is and how much of it one process may take. */
export type RelationalOptions = {
  /** `postgres://user:password@host:port/database`; `?sslmode=` as libpq has it. */
  url: string
  /** Connections of this process at most; a query beyond them waits for one. */
  pool_max: number
  /** How long a query waits for a connection, be it a new or a busy one. */
  connect_timeout_ms: number
  /** After this the server cancels a statement (SQLSTATE 57014). */
  statement_timeout_ms: number
  logger: Logger
}

/**
 * A pool of connections with Kysely on top. `DB` maps table names to their row types. Statements of
 * `db` reject with `store_unavailable` when the store is unavailable; those of `pool` with the
 * driver's error.
 */
export type Relational<DB> = {
  db: Kysely<DB>
  pool: pg.Pool
  /** Resolves when the store answers; rejects with the driver's error when it does not. */
  ping(): Promise<void>
  /** Waits for running queries, then closes all connections. May be called twice. */
  close(): Promise<void>
}

/**
 * Opens the relational store; nothing connects before the first query. Values are read as:
 * int8 → number (throws RangeError above 2^53), numeric → string, timestamptz → ISO 8601 UTC
 * string with milliseconds, date and timestamp → string, bytea → Buffer, jsonb → parsed.
 * `sum()` of a bigint is a numeric in PostgreSQL: cast it to bigint to read a number.
 */
export function openRelational<DB>(options: RelationalOptions): Relational<DB> {
  const pool = new pg.Pool(poolConfig(options))
  surviveBrokenConnections(pool, options.logger)
  const db = new Kysely<DB>({ dialect: new StoreDialect(pool) })
  return {
    db,
    pool,
    ping: async () => {
      await pool.query('select 1')
    },
    close: async () => {
      if (!pool.ending) await pool.end()
    },
  }
}

/**
 * A connection may break while it idles (the pool tells) or between two statements of a
 * transaction (only the client tells); an 'error' event nobody listens to would end the process.
 */
function surviveBrokenConnections(pool: pg.Pool, logger: Logger): void {
  pool.on('error', (error) => {
    if (pool.ending) return
    // The error itself carries the whole client, cancel key and all: not for a log.
    logger.warn({ reason: error.message }, 'a postgres connection broke')
  })
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
}

/** An idle connection is closed after this, so that a quiet process holds none. */
const idleTimeoutMs = 30_000

function poolConfig(options: RelationalOptions): pg.PoolConfig {
  return {
    connectionString: options.url,
    max: options.pool_max,
    connectionTimeoutMillis: options.connect_timeout_ms,
    idleTimeoutMillis: idleTimeoutMs,
    statement_timeout: options.statement_timeout_ms,
    // The server's own limit does not help when the server or the way to it is gone.
    query_timeout: options.statement_timeout_ms + options.connect_timeout_ms,
    keepAlive: true,
    application_name: 'looptrace',
    types: relationalValueParsers,
  }
}

/** Kysely's dialect of PostgreSQL that reports an unavailable store as `store_unavailable`. */
class StoreDialect extends PostgresDialect {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    super({ pool })
    this.#pool = pool
  }

  override createDriver(): PostgresDriver {
    return new StoreDriver({ pool: this.#pool })
  }
}

/** Translates the errors of connecting and of each statement, also those of transactions. */
class StoreDriver extends PostgresDriver {
  readonly #translated = new WeakSet<DatabaseConnection>()

  override async acquireConnection(
    ...asked: Parameters<PostgresDriver['acquireConnection']>
  ): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection(...asked).catch(throwStoreProblem)
    if (!this.#translated.has(connection)) {
      this.#translated.add(connection)
      const run = connection.executeQuery.bind(connection)
      connection.executeQuery = (...query) => run<never>(...query).catch(throwStoreProblem)
    }
    return connection
  }
}

function throwStoreProblem(error: unknown): never {
  throw asStoreProblem(error)
}

/**
 * How values are read, handed to the pool alone: `pg.types.setTypeParser` would change them for
 * every user of pg in the process.
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
  [pg.types.builtins.INT8, safeInteger],
  [pg.types.builtins.TIMESTAMPTZ, instant],
  // A date or a time without zone would be read in the zone of this machine.
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.TIMESTAMP, (text) => text],
])

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`bigint ${text}: expected at most 2^53 - 1, cast it to text to read it`)
  }
  return value
}

/** `infinity` and `-infinity` stay as they are written. */
function instant(text: string): string {
  const parsed = defaultInstant(text)
  return parsed instanceof Date ? parsed.toISOString() : text
}
