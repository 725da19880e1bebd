/** The way to ClickHouse over HTTP. Every method rejects with ColumnarUnavailable or -Error. */
export type Columnar = {
  readonly database: string
  /**
   * Runs one SELECT and reads all its rows. `params` fill `{name: Type}`; nothing else may carry a
   * value into the text. 64-bit integers come as decimal text, so as not to lose digits.
   */
  query<T>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<T[]>
  /**
   * As `query`, and tells what the engine read for it. The statement may change nothing, and a
   * server stops it when the connection that asked is gone.
   */
  read<T>(sql: string, params?: QueryParams, options?: ReadOptions): Promise<ReadResult<T>>
  /** Has the server stop a statement that `read` named so, wherever it got to. */
  kill(query_id: string): Promise<void>
  /**
   * Finds how long the server has worked on a statement that `read` named so; undefined when it runs
   * none of that name. Neither this nor `kill` waits for connections that statements hold.
   */
  findElapsed_ms(query_id: string): Promise<number | undefined>
  /**
   * Appends rows that `compileRowBinary` made for these columns. A table that remembers tokens
   * stores the same token once; only a replicated one does so safely (see render-statement.ts).
   */
  insertRowBinary(
    table: string,
    columns: readonly string[],
    rows: Uint8Array,
    options?: InsertOptions,
  ): Promise<void>
  /** Runs one statement that answers no rows. */
  command(sql: string, params?: QueryParams, options?: QueryOptions): Promise<void>
  /**
   * Runs one SELECT and answers its rows as one Parquet file. It comes whole, on both sides: bound
   * it by LIMIT and the setting `max_result_bytes`.
   */
  queryParquet(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Buffer>
  /**
   * Runs `INSERT INTO … SELECT … FROM input('…')`, whose input are the rows of a Parquet file. See
   * `insertRowBinary` for what is stored when it rejects.
   */
  insertParquet(
    statement: string,
    file: Uint8Array,
    options?: QueryOptions & { params?: QueryParams },
  ): Promise<void>
  /** Makes `database` when it is missing; with a name, on every server of that cluster. */
  createDatabase(cluster?: string): Promise<void>
  /** True when the server answers a SELECT with these credentials. Never rejects. */
  ping(): Promise<boolean>
  /** Lets running requests end, then closes the connections. */
  close(): Promise<void>
}

export type QueryParams = Record<string, QueryParam>
/** Arrays fill `Array(T)`; a bigint is sent as its decimal digits. */
export type QueryParam =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | readonly bigint[]

export type QueryOptions = {
  /** How long the server may work on it; the client gives up 1 s later. */
  timeout_ms?: number
  signal?: AbortSignal
  settings?: Record<string, string | number>
}

export type ReadOptions = QueryOptions & {
  /** What the engine knows the statement by: for `kill`, in its logs and in system.processes. */
  query_id?: string
  /** How long the client waits beyond `timeout_ms` for the server's answer; 1 s when left out. */
  patience_ms?: number
}

/** Rows of the answer, and rows and bytes (as they are in memory) that were read for them. */
export type ReadResult<T> = { rows: T[]; rows_read: number; bytes_read: number }

export type InsertOptions = { deduplication_token?: string; timeout_ms?: number }

/**
 * The server is out of reach, refuses connections, took too long, or is shutting down. `code` is
 * ClickHouse's number when it was the server that said so.
 */
export class ColumnarUnavailable extends Error {
  override readonly name = 'ColumnarUnavailable'
  readonly code: number | undefined

  constructor(message: string, about: { code?: number; cause?: unknown } = {}) {
    super(message, { cause: about.cause })
    this.code = about.code
  }
}

/** The engine refused a statement. `code` is ClickHouse's number, `type` its name for it. */
export class ColumnarError extends Error {
  override readonly name = 'ColumnarError'
  readonly code: number
  readonly type: string

  constructor(about: { code: number; type: string; message: string; cause?: unknown }) {
    super(about.message, { cause: about.cause })
    this.code = about.code
    this.type = about.type
  }
}
