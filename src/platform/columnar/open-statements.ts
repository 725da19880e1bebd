import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ClickHouseClient, ResultSet } from '@clickhouse/client'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { StatementSettings } from './cluster/statement-classes.ts'
import type { Limits, trackRequests } from './columnar-client.ts'
import type {
  ColumnarReads,
  ColumnarStatements,
  HostAnswer,
  InsertOptions,
  QueryOptions,
  QueryParams,
  ReadOptions,
  ReadResult,
} from './contract.ts'

const settingsOfEveryRead: StatementSettings = {
  // 2: read-only, but settings are allowed.
  readonly: 2,
  cancel_http_readonly_queries_on_client_close: 1,
}

export type Requests = ReturnType<typeof trackRequests>

/** Opens the reads of a class, which all pass the breaker. `before` is awaited before each of them. */
export function openReads(
  client: ClickHouseClient,
  { requests, breaker }: { requests: Requests; breaker: CircuitBreaker },
  { settings, before }: { settings: StatementSettings; before?: () => Promise<void> },
): ColumnarReads {
  const run = <Result>(
    { settings: own, ...options }: ReadOptions = {},
    work: (limits: Limits) => Promise<Result>,
  ): Promise<Result> =>
    breaker.run(async () => {
      await before?.()
      return requests.run({ ...options, settings: { ...own, ...settings } }, work)
    })
  const queryBytes = (query: string, params?: QueryParams, queryOptions?: QueryOptions) =>
    run(queryOptions, async (limits) => {
      const { stream } = await client.exec({ query, ...toQueryParams(params), ...limits })
      return buffer(stream)
    })
  return {
    query: (sql, params, queryOptions) =>
      run(queryOptions, async (limits) => {
        const rows = await client.query({
          query: sql,
          format: 'JSONEachRow',
          ...toQueryParams(params),
          ...limits,
        })
        return rows.json()
      }),
    read: <T>(sql: string, params?: QueryParams, { query_id, ...queryOptions }: ReadOptions = {}) =>
      run(
        { ...queryOptions, settings: { ...settingsOfEveryRead, ...queryOptions.settings } },
        async (limits) => {
          const named = query_id === undefined ? {} : { query_id }
          const given = { query: sql, ...toQueryParams(params), ...named, ...limits }
          return readResult<T>(await client.query({ ...given, format: 'JSONCompact' }))
        },
      ),
    queryParquet: (sql, params, queryOptions) =>
      queryBytes(`${sql}\nFORMAT Parquet`, params, queryOptions),
    queryRowBinary: (sql, params, queryOptions) =>
      queryBytes(`${sql}\nFORMAT RowBinary`, params, queryOptions),
  }
}

/** Opens inserts and commands with the settings of their classes. */
export function openChanges(
  client: ClickHouseClient,
  requests: Requests,
  classes: { insert: StatementSettings; command: StatementSettings },
): Pick<ColumnarStatements, 'insertRowBinary' | 'insertParquet' | 'command' | 'commandHosts'> {
  return {
    insertRowBinary: (table, columns, rows, queryOptions) =>
      requests.run(insertSettings(classes.insert, queryOptions), (limits) =>
        insert(client, { statement: insertStatement(table, columns), rows, limits }),
      ),
    insertParquet: (statement, file, { params, ...queryOptions } = {}) => {
      const settings = { ...queryOptions.settings, ...classes.insert }
      return requests.run({ ...queryOptions, settings }, (limits) => {
        const more = { ...limits, ...toQueryParams(params) }
        return insert(client, {
          statement: `${statement} FORMAT Parquet`,
          rows: file,
          limits: more,
        })
      })
    },
    command: (sql, params, queryOptions) => {
      const settings = { ...queryOptions?.settings, ...classes.command }
      return requests.run({ ...queryOptions, settings }, async (limits) => {
        await client.command({ query: sql, ...toQueryParams(params), ...limits })
      })
    },
    commandHosts: (sql, params, queryOptions) => {
      const settings = { ...queryOptions?.settings, ...classes.command }
      return requests.run({ ...queryOptions, settings }, async (limits) => {
        const asked = { query: sql, ...toQueryParams(params), ...limits }
        const rows = await client.query({ ...asked, format: 'JSONEachRow' })
        return rows.json<HostAnswer>()
      })
    },
  }
}

/**
 * Reads the rows of an answer. They have no column names, which halves the bytes to send and parse.
 * The statistics are those of the engine: an embedded server reports no others on rows read.
 */
async function readResult<T>(answer: ResultSet<'JSONCompact'>): Promise<ReadResult<T>> {
  const { meta = [], data, statistics } = await answer.json<unknown[]>()
  const names = meta.map(({ name }) => name)
  const empty: Row = Object.fromEntries(names.map((name) => [name, null]))
  return {
    rows: data.map((values) => fillRow({ ...empty }, names, values) as T),
    rows_read: Number(statistics?.rows_read ?? 0),
    bytes_read: Number(statistics?.bytes_read ?? 0),
  }
}

/** A row. Its keys are column names of our statements, so they are trusted. */
type Row = Record<string, unknown>

/** Fills a copy of an empty row, which is twice as fast as adding columns to a new object. */
function fillRow(row: Row, names: readonly string[], values: readonly unknown[]): Row {
  for (let at = 0; at < names.length; at += 1) row[names[at] ?? ''] = values[at]
  return row
}

async function insert(
  client: ClickHouseClient,
  { statement, rows, limits }: { statement: string; rows: Uint8Array; limits: Limits },
): Promise<void> {
  const { stream } = await client.exec({
    query: statement,
    values: Readable.from([rows], { objectMode: false }),
    ...limits,
  })
  for await (const _ of stream);
}

function insertStatement(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${quote(table)} (${columns.map(quote).join(', ')}) FORMAT RowBinary`
}

function insertSettings(ofClass: StatementSettings, options: InsertOptions = {}): QueryOptions {
  const token = options.deduplication_token
  return {
    ...(options.timeout_ms !== undefined && { timeout_ms: options.timeout_ms }),
    settings: {
      ...ofClass,
      ...(token !== undefined && { insert_deduplication_token: token }),
    },
  }
}

function toQueryParams(params: QueryParams | undefined) {
  return params === undefined ? {} : { query_params: params }
}

/** Quotes a name for ClickHouse. */
export function quote(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
