import { type DatabaseConnection, PostgresDialect, PostgresDriver } from 'kysely'
import type pg from 'pg'
import { asStoreProblem } from './unavailable.ts'

/** Kysely's dialect of PostgreSQL that reports an unavailable store as `store_unavailable`. */
export class StoreDialect extends PostgresDialect {
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
