import pg from 'pg'

/** A statement of the extended protocol with its parameters. */
export type Statement = {
  text: string
  values?: readonly unknown[] | undefined
  /** Time after which the client gives up. */
  query_timeout?: number | undefined
}

/** Runs two statements in one round trip. The result is that of the second. */
export function queryAfter(
  client: pg.ClientBase,
  first: Statement,
  second: Statement,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(
      new PipelinedQuery(first, second, (error, result) => {
        if (error === null) resolve(result)
        else reject(error)
      }) as unknown as pg.Submittable,
    )
  })
}

type Callback = (error: Error | null, result: pg.QueryResult) => void
type CommandMessage = { text: string }
type ServerConnection = {
  parse(message: { text: string; name: string }): void
  bind(message: { values: readonly unknown[]; valueMapper?: (value: unknown) => unknown }): void
  execute(message: { portal: string; rows: number }): void
}

/** The methods of pg's Query that its client calls; the types of pg leave them out. */
type ProtocolQuery = {
  prepare(connection: ServerConnection): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: CommandMessage, connection: ServerConnection): void
}

const ProtocolQuery = pg.Query as unknown as new (
  config: Statement & { queryMode: 'extended' },
  values: undefined,
  callback: Callback,
) => ProtocolQuery

/**
 * A query that sends another statement before its own, and one Sync after both. Without an open
 * transaction the server runs both in one: what the first sets for the transaction counts for the
 * second and ends with it. If the first fails, the second does not run.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
class PipelinedQuery extends ProtocolQuery {
  readonly #first: Statement
  readonly query_timeout: number | undefined
  #isFirst = true

  constructor(first: Statement, { text, values, query_timeout }: Statement, callback: Callback) {
    super({ text, values: values ?? [], queryMode: 'extended' }, undefined, callback)
    this.#first = first
    this.query_timeout = query_timeout
  }

  override prepare(connection: ServerConnection): void {
    connection.parse({ text: this.#first.text, name: '' })
    connection.bind({ values: this.#first.values ?? [] })
    connection.execute({ portal: '', rows: 0 })
    super.prepare(connection)
  }

  override handleDataRow(message: unknown): void {
    if (!this.#isFirst) super.handleDataRow(message)
  }

  override handleCommandComplete(message: CommandMessage, connection: ServerConnection): void {
    if (this.#isFirst) this.#isFirst = false
    else super.handleCommandComplete(message, connection)
  }
}
