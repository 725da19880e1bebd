import {
  AbortedTransactionError,
  type CompiledQuery,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { ChangeHint } from '../../model/change-hint.ts'
import { type AuditedCall, type CreatedRow, currentCall, isChange } from '../audit/index.ts'
import type { NotesChanges, OnCommitted } from './committed-changes.ts'
import type { Statement } from './pipelined-query.ts'
import { statementName } from './prepared.ts'
import type { ScopedClient, ScopedPool } from './scoped-pool.ts'
import { asStoreProblem } from './unavailable.ts'

/**
 * A PostgreSQL driver that runs statements in tenant scopes, translates errors of an unavailable
 * store, and writes the audit record of a call in the transaction of its change.
 */
export class StoreDriver implements Driver {
  readonly #pool: ScopedPool
  readonly #onCommitted: OnCommitted

  constructor(pool: ScopedPool, onCommitted: OnCommitted) {
    this.#pool = pool
    this.#onCommitted = onCommitted
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<StoreConnection> {
    const client = await this.#pool.connect().catch(throwStoreProblem)
    return new StoreConnection(client, this.#onCommitted)
  }

  async beginTransaction(
    connection: StoreConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    connection.begin(settings)
  }

  async commitTransaction(connection: StoreConnection): Promise<void> {
    await connection.commit().catch(throwStoreProblem)
  }

  async rollbackTransaction(connection: StoreConnection): Promise<void> {
    await connection.rollback().catch(throwStoreProblem)
  }

  async releaseConnection(connection: StoreConnection): Promise<void> {
    connection.release()
  }

  /** Ends the pool. */
  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

/**
 * A connection while it is taken from the pool. The record of a call is the last statement before
 * the commit, because it locks the chain of the organization, and is sent with it.
 */
class StoreConnection implements NotesChanges {
  readonly #client: ScopedClient
  readonly #onCommitted: OnCommitted
  /** Whether the open transaction changed anything; undefined without one. */
  #isChanged: boolean | undefined
  #isBroken = false
  /** Changes of the open transaction, announced after its commit. */
  #noted: ChangeHint[] = []

  constructor(client: ScopedClient, onCommitted: OnCommitted) {
    this.#client = client
    this.#onCommitted = onCommitted
  }

  noteChanges(changes: readonly ChangeHint[]): void {
    if (this.#isChanged === undefined) this.#onCommitted(changes)
    else for (const change of changes) this.#noted.push(change)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return await this.#run(query)
    } catch (error) {
      throw asStoreProblem(error)
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('this store does not read in chunks')
  }

  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const isolation = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    this.#client.begin(`begin${isolation}${accessMode === undefined ? '' : ` ${accessMode}`}`)
    this.#isChanged = false
    this.#noted = []
  }

  async commit(): Promise<void> {
    const call = this.#isChanged === true ? changingCall() : undefined
    this.#isChanged = undefined
    if (call === undefined) {
      if (!(await this.#client.commit())) throw new AbortedTransactionError()
    } else {
      await call.commitWith(async (record) => {
        await this.#client.commit(record)
        return true
      })
    }
    const noted = this.#noted
    this.#noted = []
    if (noted.length > 0) this.#onCommitted(noted)
  }

  async rollback(): Promise<void> {
    this.#isChanged = undefined
    this.#noted = []
    try {
      await this.#client.rollback()
    } catch (error) {
      this.#isBroken = true
      throw error
    }
  }

  release(): void {
    this.#client.release(this.#isBroken || undefined)
  }

  async #run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const call = changingCall()
    const statement = toStatement(query)
    if (call === undefined || !isChange(query.sql)) {
      return toResult(await this.#client.query(statement))
    }
    if (this.#isChanged === undefined) {
      return this.#runWithRecord(call, statement, findCreated(query))
    }
    const result = toResult<R>(await this.#client.query(statement))
    // A statement without affected rows changed nothing.
    if (result.numAffectedRows !== 0n) {
      this.#isChanged = true
      const created = findCreated(query)
      if (created !== undefined) call.noteCreated(created)
    }
    return result
  }

  /** Runs a single statement, and the record if it changed anything, in one transaction. */
  async #runWithRecord<R>(
    call: AuditedCall,
    statement: Statement,
    created: CreatedRow | undefined,
  ): Promise<QueryResult<R>> {
    let result: QueryResult<R> = { rows: [] }
    await call.commitWith(async (record) => {
      const both = await this.#client.queryBoth(statement, record)
      result = toResult(both.result)
      return both.rows_after > 0
    }, created)
    return result
  }
}

function changingCall(): AuditedCall | undefined {
  const call = currentCall()
  return call?.isChanging === true ? call : undefined
}

function toStatement(query: CompiledQuery): Statement {
  return { text: query.sql, values: query.parameters, name: statementName(query) }
}

const changes = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function toResult<R>(result: {
  command: string
  rowCount: number | null
  rows: R[]
}): QueryResult<R> {
  const { command, rowCount, rows } = result
  return changes.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows }
}

/** Returns the table and id of the first row that a statement inserts; undefined without an id. */
function findCreated({ query }: CompiledQuery): CreatedRow | undefined {
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
