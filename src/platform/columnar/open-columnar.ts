import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ClickHouseClient, ResultSet } from '@clickhouse/client'
import {
  type ColumnarOptions,
  createClickHouse,
  type Limits,
  trackRequests,
} from './columnar-client.ts'
import type {
  ColumnarReads,
  ColumnarServer,
  ColumnarStatements,
  InsertOptions,
  QueryOptions,
  QueryParams,
  ReadOptions,
  ReadResult,
} from './contract.ts'
import { scopeToProject, scopeToProjects } from './project-scope.ts'

const settingsOfEveryRead: Record<string, string | number> = {
  // 2: read-only, but settings are allowed.
  readonly: 2,
  cancel_http_readonly_queries_on_client_close: 1,
}

/** Maximum time to find or kill a statement. */
const control_ms_max = 5_000
/** Connections for finding and killing, because statements may use all others. */
const maxControlConnections = 2

const settingsOfEveryInsert: Record<string, string | number> = {
  // Acknowledge after the rows are stored on every shard, and deduplicate by token.
  async_insert: 0,
  insert_distributed_sync: 1,
  insert_deduplicate: 1,
  // Merges and reads replace rows that were sent again; a search in each insert costs a fifth of it.
  optimize_on_insert: 0,
  // A client with wrong clocks must not fail a whole batch.
  max_partitions_per_insert_block: 0,
}

/** Opens a pool of connections to ClickHouse. It connects on first use. */
export function openColumnar(options: ColumnarOptions): ColumnarServer {
  const { database } = options
  const client = createClickHouse(options, database)
  const control = createClickHouse({ ...options, connections_max: maxControlConnections }, database)
  const requests = trackRequests(options.request_timeout_ms)
  const server: ColumnarServer = {
    database,
    ...openReads(client, requests),
    ...openChanges(client, requests),
    ofProject: (project) => scopeToProject(server, database, project),
    ofProjects: (projects) => scopeToProjects(server, database, projects),
    acrossProjects: () => server,
    kill: (query_id) =>
      requests.run({ timeout_ms: control_ms_max }, async (limits) => {
        const query = 'KILL QUERY WHERE query_id = {id:String} ASYNC'
        await control.command({ query, query_params: { id: query_id }, ...limits })
      }),
    findElapsedMs: (query_id) =>
      requests.run({ timeout_ms: control_ms_max }, async (limits) => {
        const query = 'SELECT elapsed FROM system.processes WHERE query_id = {id:String}'
        const asked = { query, query_params: { id: query_id }, ...limits }
        const rows = await control.query({ ...asked, format: 'JSONEachRow' })
        const [running] = await rows.json<{ elapsed: number }>()
        return running && running.elapsed * 1_000
      }),
    createDatabase: (cluster) =>
      requests.run(undefined, (limits) => createDatabase(options, cluster, limits)),
    ping: () =>
      requests
        .run(undefined, ({ abort_signal }) => client.ping({ select: true, abort_signal }))
        .then(
          (answer) => answer.success,
          () => false,
        ),
    close: async () => {
      await requests.idle()
      await Promise.all([client.close(), control.close()])
    },
  }
  return server
}

type Requests = ReturnType<typeof trackRequests>

function openReads(client: ClickHouseClient, requests: Requests): ColumnarReads {
  const queryBytes = (query: string, params?: QueryParams, queryOptions?: QueryOptions) =>
    requests.run(queryOptions, async (limits) => {
      const { stream } = await client.exec({ query, ...toQueryParams(params), ...limits })
      return buffer(stream)
    })
  return {
    query: (sql, params, queryOptions) =>
      requests.run(queryOptions, async (limits) => {
        const rows = await client.query({
          query: sql,
          format: 'JSONEachRow',
          ...toQueryParams(params),
          ...limits,
        })
        return rows.json()
      }),
    read: <T>(sql: string, params?: QueryParams, { query_id, ...queryOptions }: ReadOptions = {}) =>
      requests.run(
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

function openChanges(
  client: ClickHouseClient,
  requests: Requests,
): Pick<ColumnarStatements, 'insertRowBinary' | 'insertParquet' | 'command'> {
  return {
    insertRowBinary: (table, columns, rows, queryOptions) =>
      requests.run(insertSettings(queryOptions), (limits) =>
        insert(client, { statement: insertStatement(table, columns), rows, limits }),
      ),
    insertParquet: (statement, file, { params, ...queryOptions } = {}) => {
      const settings = { ...settingsOfEveryInsert, ...queryOptions.settings }
      return requests.run({ ...queryOptions, settings }, (limits) => {
        const more = { ...limits, ...toQueryParams(params) }
        return insert(client, {
          statement: `${statement} FORMAT Parquet`,
          rows: file,
          limits: more,
        })
      })
    },
    command: (sql, params, queryOptions) =>
      requests.run(queryOptions, async (limits) => {
        await client.command({ query: sql, ...toQueryParams(params), ...limits })
      }),
  }
}

/** Creates the database, with a second client: a client needs an existing database. */
async function createDatabase(
  options: ColumnarOptions,
  cluster: string | undefined,
  limits: Limits,
): Promise<void> {
  const client = createClickHouse(options, 'default')
  try {
    const known = await client.query({
      query: 'SELECT name FROM system.databases WHERE name = {name:String} LIMIT 1',
      query_params: { name: options.database },
      format: 'JSONEachRow',
      ...limits,
    })
    // The account needs no right to create databases if the database exists.
    if ((await known.json()).length > 0) return
    const onCluster = cluster === undefined ? '' : ` ON CLUSTER ${quote(cluster)}`
    await client.command({
      query: `CREATE DATABASE IF NOT EXISTS ${quote(options.database)}${onCluster}`,
      ...limits,
    })
  } finally {
    await client.close()
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

function insertSettings(options: InsertOptions = {}): QueryOptions {
  const token = options.deduplication_token
  return {
    ...(options.timeout_ms !== undefined && { timeout_ms: options.timeout_ms }),
    settings: {
      ...settingsOfEveryInsert,
      ...(token !== undefined && { insert_deduplication_token: token }),
    },
  }
}

function toQueryParams(params: QueryParams | undefined) {
  return params === undefined ? {} : { query_params: params }
}

/** Quotes a name for ClickHouse. */
function quote(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
