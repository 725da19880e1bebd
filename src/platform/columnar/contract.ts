import type { ProjectId } from '../../model/project-id.ts'

/**
 * ClickHouse, as capabilities use it: statements are those of a project, or say why they work across
 * projects. Each statement has a class, which gives its settings (see `statement-classes.ts`): reads
 * decide something unless they are `forPeople`. Methods reject with ColumnarUnavailable or ColumnarError, and with TypeError for a
 * statement that could avoid the filter of its project.
 */
export type Columnar = {
  readonly database: string
  /** Cluster of the tables; undefined for a single server. */
  readonly cluster: string | undefined
  /**
   * Returns statements that read only rows of this project, also when they forget to filter by it.
   * `{project:UUID}` is bound in each of them.
   */
  ofProject(project: ProjectId): ProjectColumnar
  /** Returns reads of the rows of at most 100 projects. */
  ofProjects(projects: readonly ProjectId[]): ColumnarReads
  /** Returns statements without a filter, for one of a closed list of reasons. */
  acrossProjects(reason: AcrossProjects): ColumnarStatements
  /**
   * Returns the same with reads of projects for people: in a cluster, a replica that lags may answer
   * them, so nothing may be written, deleted or reported as done because of their rows.
   */
  forPeople(): Columnar
  /** Stops a statement of `read` by its `query_id`. */
  kill(query_id: string): Promise<void>
  /**
   * Returns the elapsed time of a running statement of `read`, or undefined when it is not running.
   * This method and `kill` have their own connections, so they never wait for statements.
   */
  findElapsedMs(query_id: string): Promise<number | undefined>
}

/** The reasons for statements that are not limited to one project. Each has few uses: search them. */
export type AcrossProjects =
  /** The clock of the server, and names of tables, columns, parts and mutations. No rows. */
  | 'catalogue'
  /** A batch of the queue has rows of several projects. */
  | 'ingest'
  /** The ledger closes the hours of all projects. */
  | 'ledger hours'
  /** DELETE and ALTER TABLE, to which filters do not apply: their conditions name the projects. */
  | 'changes of rows'
  /** Drops what is a partition or a part as a whole, and finds the parts. */
  | 'whole parts'
  /** Moves an installation to other stores. */
  | 'move'

/** A client of ClickHouse over HTTP, with all rights. Only for roles, migrations and tests. */
export type ColumnarServer = Columnar &
  ColumnarStatements & {
    /** Creates `database` if it is missing, on every server of the cluster if one is named. */
    createDatabase(cluster?: string): Promise<void>
    /** Resolves with whether the server answers a SELECT with these credentials. Never rejects. */
    ping(): Promise<boolean>
    /** Waits for running requests, then closes the connections. */
    close(): Promise<void>
  }

/** Statements that read. */
export type ColumnarReads = {
  /**
   * Runs one SELECT and reads all its rows. `params` fill `{name: Type}`, the only way to pass
   * values. 64-bit integers are returned as decimal text, so that no digits are lost.
   */
  query<T>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<T[]>
  /**
   * Runs a SELECT like `query`, and also returns rows and bytes read. The statement is read-only,
   * and the server stops it when the connection closes.
   */
  read<T>(sql: string, params?: QueryParams, options?: ReadOptions): Promise<ReadResult<T>>
  /**
   * Runs one SELECT and returns its rows as one Parquet file. Server and client hold the whole file
   * in memory: bound it with LIMIT and the setting `max_result_bytes`.
   */
  queryParquet(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Buffer>
  /** Runs one SELECT like `queryParquet`, and returns its rows as RowBinary: `insertRowBinary` takes them. */
  queryRowBinary(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Buffer>
}

type InsertParquet = {
  /**
   * Runs `INSERT INTO … SELECT … FROM input('…')` with the rows of a Parquet file as input. See
   * `insertRowBinary` for the effects of a failed insert.
   */
  insertParquet(
    statement: string,
    file: Uint8Array,
    options?: QueryOptions & { params?: QueryParams },
  ): Promise<void>
}

/** Statements of one project. */
export type ProjectColumnar = ColumnarReads &
  InsertParquet & {
    /** Runs one INSERT INTO … SELECT. The SELECT reads only rows of the project. */
    insertSelect(sql: string, params?: QueryParams, options?: QueryOptions): Promise<void>
  }

/** All statements, without a filter. */
export type ColumnarStatements = ColumnarReads &
  InsertParquet & {
    /**
     * Appends rows that `compileRowBinary` encoded for these columns. A table that remembers tokens
     * stores each token once, but only a replicated table does so safely (see render-statement.ts).
     */
    insertRowBinary(
      table: string,
      columns: readonly string[],
      rows: Uint8Array,
      options?: InsertOptions,
    ): Promise<void>
    /** Runs one statement that returns no rows. */
    command(sql: string, params?: QueryParams, options?: QueryOptions): Promise<void>
    /** Runs one statement `ON CLUSTER` like `command`, and returns the answer of each host. */
    commandHosts(
      sql: string,
      params?: QueryParams,
      options?: QueryOptions,
    ): Promise<readonly HostAnswer[]>
  }

/** The answer of a host to a statement `ON CLUSTER`. `status` is null if it has not run it in time. */
export type HostAnswer = { host: string; port: number; status: number | null }

export type QueryParams = Record<string, QueryParam>
/** A parameter. Arrays fill `Array(T)`; a bigint is sent as decimal digits. */
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
  /** Maximum time on the server. The client gives up 1 s later. */
  timeout_ms?: number
  signal?: AbortSignal
  settings?: Record<string, string | number>
}

export type ReadOptions = QueryOptions & {
  /** Name of the statement for `kill`, in ClickHouse's logs and in system.processes. */
  query_id?: string
  /** Extra wait of the client after `timeout_ms`; 1 s by default. */
  patience_ms?: number
}

/** Result rows, and the number of rows and uncompressed bytes that were read. */
export type ReadResult<T> = { rows: T[]; rows_read: number; bytes_read: number }

export type InsertOptions = { deduplication_token?: string; timeout_ms?: number }

/**
 * The server is unreachable, refuses connections, took too long, or is shutting down. `code` is
 * ClickHouse's error number if the server reported an error.
 */
export class ColumnarUnavailable extends Error {
  override readonly name = 'ColumnarUnavailable'
  readonly code: number | undefined
  /** False when the statement was refused because the server does not answer, so it never ran. */
  readonly isSent: boolean

  constructor(message: string, details: { code?: number; cause?: unknown; isSent?: boolean } = {}) {
    super(message, { cause: details.cause })
    this.code = details.code
    this.isSent = details.isSent ?? true
  }
}

/** ClickHouse rejected a statement. `code` is its error number, `type` the name of the error. */
export class ColumnarError extends Error {
  override readonly name = 'ColumnarError'
  readonly code: number
  readonly type: string

  constructor(details: { code: number; type: string; message: string; cause?: unknown }) {
    super(details.message, { cause: details.cause })
    this.code = details.code
    this.type = details.type
  }
}
