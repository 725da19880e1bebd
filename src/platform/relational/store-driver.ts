import { CompiledQuery, type DatabaseConnection, PostgresDriver, type QueryResult } from 'kysely'
import { type AuditedCall, currentCall, isChange } from '../audit/index.ts'
import { asStoreProblem } from './unavailable.ts'

/** A connection of the PostgreSQL driver. */
type OwnConnection = Parameters<PostgresDriver['rollbackTransaction']>[0]
type RunQuery = (query: CompiledQuery) => Promise<QueryResult<never>>

/**
 * A PostgreSQL driver that translates errors of an unavailable store, and writes the audit record
 * of a call in the transaction of its change. The record is the last statement before the commit,
 * because it locks the chain of the organization. A single statement that changes something gets a
 * transaction.
 */
export class StoreDriver extends PostgresDriver {
  readonly #wrapped = new WeakSet<DatabaseConnection>()
  /** Open transactions, and whether they changed anything. */
  readonly #open = new WeakMap<DatabaseConnection, { isChanged: boolean }>()

  override async acquireConnection(
    ...asked: Parameters<PostgresDriver['acquireConnection']>
  ): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection(...asked).catch(throwStoreProblem)
    if (!this.#wrapped.has(connection)) {
      this.#wrapped.add(connection)
      const run: RunQuery = connection.executeQuery.bind(connection)
      connection.executeQuery = (query) =>
        this.#run(connection, run, query).catch(throwStoreProblem)
    }
    return connection
  }

  override async beginTransaction(
    ...[connection, settings]: Parameters<PostgresDriver['beginTransaction']>
  ): Promise<void> {
    await super.beginTransaction(connection, settings)
    this.#open.set(connection, { isChanged: false })
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const isChanged = this.#open.get(connection)?.isChanged === true
    this.#open.delete(connection)
    const call = isChanged ? changingCall() : undefined
    if (call === undefined) return super.commitTransaction(connection)
    await call.commitWith(async ({ sql, parameters }) => {
      await connection.executeQuery(CompiledQuery.raw(sql, [...parameters]))
      await super.commitTransaction(connection)
    })
  }

  override async rollbackTransaction(connection: OwnConnection): Promise<void> {
    this.#open.delete(connection)
    await super.rollbackTransaction(connection)
  }

  async #run(
    connection: DatabaseConnection,
    run: RunQuery,
    query: CompiledQuery,
  ): Promise<QueryResult<never>> {
    const call = changingCall()
    if (call === undefined || !isChange(query.sql)) return run(query)
    if (!this.#open.has(connection)) return this.#runAlone(connection, () => run(query), query)
    const result = await run(query)
    this.#noteChange(connection, { call, query, result })
    return result
  }

  /** Runs a single statement in a transaction with the record. */
  async #runAlone(
    connection: DatabaseConnection,
    run: () => Promise<QueryResult<never>>,
    query: CompiledQuery,
  ): Promise<QueryResult<never>> {
    await this.beginTransaction(connection, {})
    try {
      const result = await run()
      const call = changingCall()
      if (call !== undefined) this.#noteChange(connection, { call, query, result })
      await this.commitTransaction(connection)
      return result
    } catch (error) {
      await this.rollbackTransaction(connection as OwnConnection).catch(() => undefined)
      throw error
    }
  }

  #noteChange(
    connection: DatabaseConnection,
    {
      call,
      query,
      result,
    }: { call: AuditedCall; query: CompiledQuery; result: QueryResult<never> },
  ): void {
    const open = this.#open.get(connection)
    // A statement without affected rows changed nothing.
    if (open === undefined || result.numAffectedRows === 0n) return
    open.isChanged = true
    const created = findCreated(query)
    if (created !== undefined) call.noteCreated(created.table, created.id)
  }
}

function changingCall(): AuditedCall | undefined {
  const call = currentCall()
  return call?.isChanging === true ? call : undefined
}

/** Returns the table and id of the first row that a statement inserts; undefined without an id. */
function findCreated({ query }: CompiledQuery): { table: string; id: string } | undefined {
  if (query.kind !== 'InsertQueryNode' || query.values?.kind !== 'ValuesNode') return undefined
  const { columns = [], into, values } = query
  const at = columns.findIndex(({ column }) => column.name === 'id')
  const row = 'values' in values && Array.isArray(values.values) ? values.values[0] : undefined
  const value: unknown = row?.values[at]
  const id = typeof value === 'object' && value !== null && 'value' in value ? value.value : value
  const table = into?.table.identifier.name
  return typeof id === 'string' && table !== undefined ? { table, id } : undefined
}

function throwStoreProblem(error: unknown): never {
  throw asStoreProblem(error)
}
