import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { type CircuitBreaker, openCircuitBreaker, type ProbeResult } from './circuit-breaker.ts'
import { quoteText } from './cluster/check-cluster.ts'
import { openFreshReads, type ReplicaState, replicaStatesSql } from './cluster/fresh-reads.ts'
import { type StatementClass, statementSettings } from './cluster/statement-classes.ts'
import {
  type ColumnarOptions,
  createClickHouse,
  type Limits,
  trackRequests,
} from './columnar-client.ts'
import type {
  AcrossProjects,
  Columnar,
  ColumnarReads,
  ColumnarServer,
  ColumnarStatements,
} from './contract.ts'
import { openChanges, openReads, quote, type Requests } from './open-statements.ts'
import { scopeToProject, scopeToProjects } from './project-scope.ts'

/** Maximum time to find or kill a statement. */
const control_ms_max = 5_000
/** Connections for finding and killing, because statements may use all others. */
const maxControlConnections = 2

/** Opens a pool of connections to ClickHouse. It connects on first use. */
export function openColumnar(options: ColumnarOptions): ColumnarServer {
  const { database } = options
  const client = createClickHouse(options, database)
  const control = createClickHouse({ ...options, connections_max: maxControlConnections }, database)
  const requests = trackRequests(options.request_timeout_ms)
  const controls = openControls(control, requests)
  const { probe, closeProbe } = openProbe(options)
  const breaker = openCircuitBreaker({ ...options, probe, limits: options.breaker })
  const { ofClasses, people } = openClasses({ options, client, requests, breaker })
  const server: ColumnarServer = {
    database,
    cluster: options.cluster,
    ...ofClasses('catalogue', 'schema'),
    ...scopes(database, (reason) => ofClasses(readsAcross[reason], 'change'), ofClasses),
    ...controls,
    forPeople: () => ({ ...server, ...scopes(database, server.acrossProjects, () => people) }),
    createDatabase: (cluster) =>
      requests.run({ settings: statementSettings(cluster).schema }, (limits) =>
        createDatabase(options, cluster, limits),
      ),
    ping: async () =>
      !breaker.isOpen &&
      requests
        .run(undefined, ({ abort_signal }) => client.ping({ select: true, abort_signal }))
        .then(
          (answer) => answer.success,
          () => false,
        ),
    close: async () => {
      await requests.idle()
      await breaker.stop()
      await Promise.all([client.close(), control.close(), closeProbe()])
    },
  }
  return server
}

type ReadClass = Extract<StatementClass, 'people' | 'decision' | 'catalogue'>
type CommandClass = Extract<StatementClass, 'insert' | 'change' | 'schema'>
type OfClasses = (reads: ReadClass, commands: CommandClass) => ColumnarStatements

/** The class of the reads across projects. All but those of the catalogue decide something. */
const readsAcross: Readonly<Record<AcrossProjects, ReadClass>> = {
  catalogue: 'catalogue',
  ingest: 'decision',
  'ledger hours': 'decision',
  'changes of rows': 'decision',
  'whole parts': 'decision',
  move: 'decision',
}

/** Opens statements by their classes: reads and inserts have one each, commands that of their use. */
function openClasses({
  options: { cluster, database },
  client,
  requests,
  breaker,
}: {
  options: ColumnarOptions
  client: ClickHouseClient
  requests: Requests
  breaker: CircuitBreaker
}) {
  const settings = statementSettings(cluster)
  const guarded = { requests, breaker }
  const catalogue = openReads(client, guarded, { settings: settings.catalogue })
  const waitUntilFresh =
    cluster === undefined
      ? undefined
      : openFreshReads({
          readStates: () =>
            catalogue.query<ReplicaState>(replicaStatesSql(quoteText(cluster)), { database }),
        })
  const reads: Record<ReadClass, ColumnarReads> = {
    catalogue,
    people: openReads(client, guarded, { settings: settings.people }),
    decision: openReads(client, guarded, {
      settings: settings.decision,
      ...(waitUntilFresh && { before: waitUntilFresh }),
    }),
  }
  const ofClasses: OfClasses = (read, command) => ({
    ...reads[read],
    ...openChanges(client, requests, { insert: settings.insert, command: settings[command] }),
  })
  return { ofClasses, people: ofClasses('people', 'insert') }
}

/** Opens the scopes of statements. A project has reads, and commands that insert. */
function scopes(
  database: string,
  acrossProjects: Columnar['acrossProjects'],
  ofClasses: OfClasses,
): Pick<Columnar, 'ofProject' | 'ofProjects' | 'acrossProjects'> {
  const statements = ofClasses('decision', 'insert')
  return {
    ofProject: (project) => scopeToProject(statements, database, project),
    ofProjects: (projects) => scopeToProjects(statements, database, projects),
    acrossProjects,
  }
}

/** Maximum time of a probe. */
const probe_ms_max = 3_000

/**
 * Opens the question by which the breaker learns whether the server answers. It is about statements, so
 * that it does not wait for them in an embedded server, and each has a new connection.
 */
function openProbe(options: ColumnarOptions) {
  const client = createClickHouse({ ...options, connections_max: 1 }, options.database, false)
  const probe = async (): Promise<ProbeResult> => {
    const abort_signal = AbortSignal.timeout(options.breaker?.probe_ms_max ?? probe_ms_max)
    const query = "SELECT elapsed FROM system.processes WHERE query_id = ''"
    try {
      const answer = await client.query({ query, format: 'JSONEachRow', abort_signal })
      await answer.text()
      return 'answered'
    } catch (error) {
      if (error instanceof ClickHouseError) return 'answered'
      return abort_signal.aborted ? 'silent' : 'failed'
    }
  }
  return { probe, closeProbe: () => client.close() }
}

/** Opens statements about statements. */
function openControls(
  control: ClickHouseClient,
  requests: Requests,
): Pick<Columnar, 'kill' | 'findElapsedMs'> {
  return {
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
