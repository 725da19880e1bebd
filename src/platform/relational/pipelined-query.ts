import pg from 'pg'

/** A statement of the extended protocol with its parameters. */
export type Statement = {
  text: string
  values?: readonly unknown[] | undefined
  /** Time after which the client gives up. */
  query_timeout?: number | undefined
  /** Name under which the session keeps the statement, so that it is parsed and planned once. */
  name?: string | undefined
}

/** Statements that are sent in one round trip. */
export type Pipeline = {
  before?: readonly SideStatement[]
  /** The statement whose result is read. */
  statement: Statement
  after?: SideStatement | undefined
}

/** A statement whose rows are not read. */
export type SideStatement = {
  text: string
  values?: readonly (string | number | Buffer | null)[]
  /** As that of a `Statement`. */
  name?: string | undefined
}

/** The result of the statement, and the number of rows of the next statement. */
export type PipelineResult = { result: pg.QueryResult; rows_after: number }

/**
 * Runs statements one after the other in one round trip. After a statement that fails, the server
 * skips the others.
 */
export function runPipeline(client: pg.ClientBase, pipeline: Pipeline): Promise<PipelineResult> {
  return new Promise((resolve, reject) => {
    const query: PipelinedQuery = new PipelinedQuery(pipeline, (error, result) => {
      if (error === null) resolve({ result, rows_after: query.rows_after })
      else reject(error)
    })
    client.query(query as unknown as pg.Submittable)
  })
}

type Callback = (error: Error | null, result: pg.QueryResult) => void
type CommandMessage = { text: string }
type BindMessage = { statement: string; values: readonly unknown[] }
type ServerConnection = {
  /** Texts of the statements that the session keeps, by name. */
  readonly parsedStatements: Record<string, string>
  parse(message: { text: string; name: string }): void
  bind(message: BindMessage): void
  execute(message: { portal: string; rows: number }): void
  close(message: { type: 'S'; name: string }): void
  sync(): void
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
 * A query that sends other statements before and after its own, and one Sync after all of them.
 * Without an open transaction the server runs them in one: what the first sets for the transaction
 * counts for the next and ends with it.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
class PipelinedQuery extends ProtocolQuery {
  readonly #before: readonly SideStatement[]
  readonly #own: Pick<Statement, 'text' | 'name'>
  readonly #after: SideStatement | undefined
  readonly query_timeout: number | undefined
  rows_after = 0
  /** Statements that the server completed. */
  #completed = 0

  constructor({ before = [], statement, after }: Pipeline, callback: Callback) {
    const { text, values = [], query_timeout } = statement
    // pg would take a named statement for parsed when one that is sent before it is.
    super({ text, values, queryMode: 'extended' }, undefined, callback)
    this.#before = before
    this.#own = statement
    this.#after = after
    this.query_timeout = query_timeout
  }

  override prepare(connection: ServerConnection): void {
    for (const statement of this.#before) this.#submit(connection, statement)
    // A value that cannot be written fails before it is sent. Then nothing may follow.
    let isSent = false
    const own: ServerConnection = Object.assign(Object.create(connection), {
      parse: () => parse(connection, this.#own),
      bind: (message: BindMessage) =>
        connection.bind({ ...message, statement: this.#own.name ?? '' }),
      execute: (message: { portal: string; rows: number }) => {
        isSent = true
        connection.execute(message)
      },
      sync: () => undefined,
    })
    super.prepare(own)
    if (isSent && this.#after !== undefined) this.#submit(connection, this.#after)
    connection.sync()
  }

  override handleDataRow(message: unknown): void {
    if (this.#completed === this.#before.length) super.handleDataRow(message)
  }

  override handleCommandComplete(message: CommandMessage, connection: ServerConnection): void {
    const at = this.#completed - this.#before.length
    this.#completed += 1
    if (at === 0) super.handleCommandComplete(message, connection)
    const done = at < 0 ? this.#before.at(at) : at > 0 ? this.#after : this.#own
    if (done?.name !== undefined) connection.parsedStatements[done.name] = done.text
    if (at > 0) this.rows_after = Number(/\d+$/.exec(message.text)?.[0] ?? 0)
  }

  #submit(connection: ServerConnection, statement: SideStatement): void {
    const { name = '', values = [] } = statement
    parse(connection, statement)
    connection.bind({ statement: name, values: values.map((value) => toParameter(value)) })
    connection.execute({ portal: '', rows: 0 })
  }
}

/** Parses a statement, unless the session keeps it. */
function parse(
  connection: ServerConnection,
  { name = '', text }: Pick<Statement, 'text' | 'name'>,
): void {
  if (name !== '' && connection.parsedStatements[name] === text) return
  // It may be there, from a query that failed after it was parsed.
  if (name !== '') connection.close({ type: 'S', name })
  connection.parse({ text, name })
}

const toParameter = (value: string | number | Buffer | null) =>
  typeof value === 'number' ? String(value) : value
