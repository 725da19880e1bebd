import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { ReplicaState } from '../../src/platform/columnar/cluster/fresh-reads.ts'
import {
  type StatementClass,
  statementSettings,
} from '../../src/platform/columnar/cluster/statement-classes.ts'

/** The cluster of the test server: two shards, whose tables are the same ones. */
export const twinCluster = 'twin'

/**
 * Configuration of a server with the cluster `twin`. A port makes both shards local ones, so that
 * the engine, which listens on no port, reads and writes them itself.
 */
export const twinConfig = `<clickhouse>
  <tcp_port>9000</tcp_port>
  <remote_servers><${twinCluster}>
    ${'<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>9000</port></replica></shard>'.repeat(2)}
  </${twinCluster}></remote_servers>
  <macros><shard>1</shard><replica>1</replica></macros>
</clickhouse>
`

/** A statement on the wire. */
export type SeenStatement = {
  text: string
  settings: ReadonlyMap<string, string>
  database: string
  /** The class whose settings it has; undefined for none. */
  class: StatementClass | undefined
}

export type ClusterFront = {
  url: string
  /** All statements so far; a test may empty it. */
  statements: SeenStatement[]
  /** People's reads do not see rows that were stored in this time. */
  lag_ms: number
  /** Reads that decide do not see them either, as on a cluster without a wait for replicas. */
  decisions_lag: boolean
  /** What system.replicas answers; nothing by default, as on a server without replicated tables. */
  replicas: readonly ReplicaState[]
  close(): Promise<void>
}

/** Parameters are in the URL, as on a server. */
const head_bytes_max = 1024 * 1024

/**
 * Opens a server in front of one embedded server that makes it a cluster of two shards. It
 * - gives each shard the half of the rows that the sharding key sends there, by a filter on the local
 *   tables: the engine runs the rest as for two servers, such as partial sums and `GLOBAL IN`;
 * - runs statements `ON CLUSTER` on the one server, and answers for its host;
 * - makes replicated tables plain ones, because the engine has no Keeper;
 * - refuses a statement that has the settings of no class, or of another use than its own;
 * - notes every statement, and hides new rows from reads that may go to a lagging replica.
 */
export async function openClusterFront(target: string): Promise<ClusterFront> {
  const statements: SeenStatement[] = []
  const server = createServer({ maxHeaderSize: head_bytes_max }, async (asked, answer) => {
    const url = new URL(asked.url ?? '/', target)
    const body = await buffer(asked)
    const isInUrl = url.searchParams.has('query')
    const text = isInUrl ? (url.searchParams.get('query') ?? '') : body.toString('utf8')
    const seen = seenStatement(text, url)
    if (text !== '') statements.push(seen)
    const refusal = refusalOf(seen)
    if (refusal !== undefined) {
      answer.writeHead(400, { 'X-ClickHouse-Exception-Code': '36' })
      return void answer.end(`Code: 36. DB::Exception: ${refusal} (BAD_ARGUMENTS)\n`)
    }
    if (front.replicas.length > 0 && /FROM clusterAllReplicas\(.*system\.replicas/.test(text)) {
      return void answer.end(front.replicas.map((row) => `${JSON.stringify(row)}\n`).join(''))
    }
    const { sent, isOnHosts } = onOneServer(text)
    const filters = filtersFor(seen, front)
    url.searchParams.set('additional_table_filters', filters)
    if (isInUrl) url.searchParams.set('query', sent)
    const onward = httpRequest(url, { method: asked.method, headers: headersOf(asked) })
    onward.on('response', (far) => {
      answer.writeHead(far.statusCode ?? 502, isOnHosts ? {} : far.headers)
      if (!isOnHosts || far.statusCode !== 200) return void far.pipe(answer)
      far.resume()
      answer.end('{"host":"127.0.0.1","port":9000,"status":0,"error":""}\n')
    })
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    onward.end(isInUrl ? body : sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const front: ClusterFront = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ statements, lag_ms: 0, decisions_lag: false, replicas: [] },
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return front
}

function headersOf({ headers }: IncomingMessage) {
  const { 'content-length': _, 'transfer-encoding': __, ...others } = headers
  return others
}

/** Parameters of a request that are not settings. */
const notSettings = /^(?:param_.*|query|query_id|database|default_format)$/

function seenStatement(text: string, url: URL): SeenStatement {
  const settings = new Map([...url.searchParams].filter(([name]) => !notSettings.test(name)))
  const database = url.searchParams.get('database') ?? 'default'
  return { text, settings, database, class: classOf(settings) }
}

/** The classes in an order in which each has settings that those after it lack. */
const classes = ['insert', 'people', 'decision', 'change', 'schema', 'catalogue'] as const

function classOf(settings: ReadonlyMap<string, string>): StatementClass | undefined {
  const ofClass = statementSettings(twinCluster)
  return classes.find((name) =>
    Object.entries(ofClass[name]).every(([key, value]) => settings.get(key) === String(value)),
  )
}

/** Statements about statements, and the ping of a client. */
const unclassed = /^(?:KILL QUERY|SELECT elapsed FROM system\.processes|SELECT 1\b|SELECT 'ping')/

const classesOfVerb: Readonly<Record<string, readonly StatementClass[]>> = {
  insert: ['insert'],
  ...{ alter: ['change', 'schema'], delete: ['change', 'schema'], update: ['change', 'schema'] },
  ...{ select: ['people', 'decision', 'catalogue', 'schema'], with: ['people', 'decision'] },
  explain: ['people', 'decision'],
}

function refusalOf({ text, class: found }: SeenStatement): string | undefined {
  if (text === '' || unclassed.test(text.trim())) return undefined
  const [verb = ''] = /^\w+/.exec(text.trim().toLowerCase()) ?? []
  if (found !== undefined && (classesOfVerb[verb] ?? [found]).includes(found)) return undefined
  return `got a statement of the class ${found ?? 'none'}, expected one of its use: ${text.trim().slice(0, 200)}`
}

const onCluster = new RegExp(`\\s+ON CLUSTER \`?${twinCluster}\`?`, 'i')

/** Returns the statement for the one server, and whether it asks for the answers of hosts. */
function onOneServer(text: string): { sent: string; isOnHosts: boolean } {
  const sent = text
    .replace(onCluster, ' ')
    .replace(/\bReplicated(\w*MergeTree)\('[^']*', '\{replica\}'(?:, )?/, '$1(')
  const isOnHosts = sent !== text && /^\s*ALTER[\s\S]*\bFORMAT JSONEachRow\s*$/i.test(sent)
  return { sent: isOnHosts ? sent.replace(/\s*FORMAT JSONEachRow\s*$/i, '') : sent, isOnHosts }
}

const ofTrace = 'cityHash64(project_id, trace_id)'
const ofProject = 'cityHash64(project_id)'

/** The sharding key of each table. A test compares it with the schema. */
export const shardingKeys: Readonly<Record<string, string>> = {
  ...{ correlations: ofTrace, events: ofTrace, links: ofTrace, observations: ofTrace },
  ...{ restored_correlations: ofTrace, restored_events: ofTrace, restored_links: ofTrace },
  ...{ restored_observations: ofTrace, restored_traces: ofTrace, traces: ofTrace },
  ingest_ledger: 'cityHash64(project_id, ingest_request_id)',
  ...{ ingest_ledger_hours: ofProject, signal_minutes: ofProject, signal_minutes_done: ofProject },
  schema_migrations: 'version',
}

/** Tables without the time of storage. */
const timeless = /^(?:ingest_ledger_hours|signal_minutes\w*|schema_migrations)$/

/** Returns the filters of a statement: its own, the rows of each shard, and those that are new. */
function filtersFor(seen: SeenStatement, { lag_ms, decisions_lag }: ClusterFront): string {
  const given = seen.settings.get('additional_table_filters') ?? '{}'
  const own = new Map(
    [...given.matchAll(/'([^']+)':'((?:[^'\\]|\\.)*)'/g)].map(([, name, sql]) => [name, sql]),
  )
  const isLagging = seen.class === 'people' || (decisions_lag && seen.class === 'decision')
  for (const [table, key] of Object.entries(shardingKeys)) {
    const name = `${seen.database}.${table}_local`
    const sees = isLagging && lag_ms > 0 && !timeless.test(table)
    const conditions = [
      ...(own.has(name) ? [`(${own.get(name)})`] : []),
      `(shardNum() = 0 OR ${key} % 2 + 1 = shardNum())`,
      ...(sees ? [`ingested_at < now64(3) - toIntervalMillisecond(${lag_ms})`] : []),
    ]
    own.set(name, conditions.join(' AND '))
  }
  return `{${[...own].map(([name, sql]) => `'${name}':'${sql}'`).join(',')}}`
}
