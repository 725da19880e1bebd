import { problem } from '../../../kernel/problem.ts'
import { sleep } from '../../../kernel/time.ts'
import {
  type Columnar,
  type HostAnswer,
  type QueryParams,
  quoteText,
} from '../../../platform/columnar/index.ts'
import { asStoreFailure } from './store-failure.ts'

/** A table of a cluster: its local table on each server. */
export type ClusterTable = { database: string; table: string; cluster: string }

/** A change of the rows of a local table: `sql` with `ON CLUSTER`. */
export type ClusterChange = {
  sql: string
  params: QueryParams
  signal: AbortSignal | undefined
  /**
   * Whether each replica must apply it before it counts as done, as rows that are erased must not
   * come back with a replica. Otherwise the replicas that answer are enough.
   */
  needs_all_replicas: boolean
  /** Whether replicas apply it in the background, as all changes but DROP. */
  is_mutation: boolean
  timeout_ms: number
}

type Statements = ReturnType<Columnar['acrossProjects']>

/** How statements are sent to the servers of a cluster, and asked for their state. */
export type ClusterStatements = {
  changes: Pick<Statements, 'commandHosts'>
  catalogue: Pick<Statements, 'query'>
}

/** A server of the cluster. `server` is its number in answers of clusterAllReplicas. */
type Server = { server: number; shard: number; host: string; port: number }

/**
 * Runs a change once per shard, and resolves when the replicas have applied it. ClickHouse sends an
 * ALTER of a replicated table to one replica of each shard, and a DELETE in some versions to all of
 * them, so `sql` is an ALTER. The wait is outside of the cluster's queue of statements, which a dead
 * replica would block. Rejects with `store_unavailable` if a shard has not taken the change.
 */
export async function changeOnCluster(
  statements: ClusterStatements,
  table: ClusterTable,
  change: ClusterChange,
): Promise<void> {
  if (change.needs_all_replicas) await refuseWithoutReplicas(statements, table)
  const servers = await readServers(statements, table.cluster)
  const options = {
    timeout_ms: change.timeout_ms,
    ...(change.signal !== undefined && { signal: change.signal }),
  }
  const taken = await asStoreFailure(
    statements.changes.commandHosts(change.sql, change.params, options),
  )
  refuseUntakenShards(table, servers, taken)
  if (change.is_mutation) await waitForReplicas(statements, { table, servers, change })
}

/** Throws unless a server of each shard has taken the change. */
function refuseUntakenShards(
  { table }: ClusterTable,
  servers: readonly Server[],
  taken: readonly HostAnswer[],
): void {
  const hosts = new Set(
    taken.filter(({ status }) => status !== null).map(({ host, port }) => `${host}:${port}`),
  )
  const shards = new Set(
    servers.filter(({ host, port }) => hosts.has(`${host}:${port}`)).map(({ shard }) => shard),
  )
  const missing = servers.find(({ shard }) => !shards.has(shard))
  if (missing === undefined) return
  throw unavailable(`Shard ${missing.shard} has not taken a change of ${table} in time.`)
}

async function readServers({ catalogue }: ClusterStatements, cluster: string): Promise<Server[]> {
  const rows = await asStoreFailure(
    catalogue.query<Omit<Server, 'server'>>(
      `SELECT toUInt32(min(shard_num)) AS shard, host_name AS host, toUInt32(port) AS port
       FROM system.clusters WHERE cluster = {cluster:String}
       GROUP BY host, port ORDER BY min((shard_num, replica_num))`,
      { cluster },
    ),
  )
  return rows.map((row, at) => ({ ...row, server: at + 1 }))
}

type ReplicaCount = { path: string; replicas: number; active: number }

/** Throws while a replica of the table is not active: it would keep the rows. */
async function refuseWithoutReplicas(
  { catalogue }: ClusterStatements,
  { database, table, cluster }: ClusterTable,
): Promise<void> {
  const counts = await asStoreFailure(
    catalogue.query<ReplicaCount>(
      `SELECT zookeeper_path AS path, toUInt32(max(total_replicas)) AS replicas,
         toUInt32(min(active_replicas)) AS active
       FROM clusterAllReplicas(${quoteText(cluster)}, system.replicas)
       WHERE database = {database:String} AND table = {table:String} GROUP BY path`,
      { database, table },
    ),
  )
  const missing = counts.find(({ replicas, active }) => active < replicas)
  if (missing === undefined) return
  throw unavailable(
    `${missing.active} of ${missing.replicas} replicas of ${table} are active, expected all of them: a deletion is done when no replica has the rows. Start the replica, or remove it with SYSTEM DROP REPLICA.`,
  )
}

/** State of the changes of a table on a server: the last one it knows, and those not yet applied. */
export type ServerChanges = { server: number; last: string; waiting: number; fault: string }

const poll_ms = 100
const maxPollMs = 2_000

async function waitForReplicas(
  { catalogue }: ClusterStatements,
  asked: { table: ClusterTable; servers: readonly Server[]; change: ClusterChange },
): Promise<void> {
  const { table, servers, change } = asked
  const { database, cluster } = table
  const deadline_ms = Date.now() + change.timeout_ms
  for (let pause_ms = poll_ms; ; pause_ms = Math.min(2 * pause_ms, maxPollMs)) {
    change.signal?.throwIfAborted()
    const states = await asStoreFailure(
      catalogue.query<ServerChanges>(
        `SELECT toUInt32(_shard_num) AS server, max(mutation_id) AS last,
           toUInt32(countIf(NOT is_done)) AS waiting, anyIf(latest_fail_reason, NOT is_done) AS fault
         FROM clusterAllReplicas(${quoteText(cluster)}, system.mutations)
         WHERE database = {database:String} AND table = {table:String} GROUP BY server`,
        { database, table: table.table },
      ),
    )
    const waiting = findUnchanged(servers, states, change.needs_all_replicas)
    if (waiting.length === 0) return
    if (Date.now() >= deadline_ms) {
      const fault = states.find((state) => state.fault !== '')?.fault ?? 'none reported'
      throw unavailable(
        `Servers ${waiting.join(', ')} have not applied a change of ${table.table} after ${change.timeout_ms} ms. Reason: ${fault}.`,
      )
    }
    await sleep(pause_ms, change.signal)
  }
}

/**
 * Returns the servers that lack a change which another server of their shard knows, or have not
 * applied one. A server that does not answer counts if all are needed, or if no other of its shard
 * knows a change.
 */
export function findUnchanged(
  servers: readonly Server[],
  states: readonly ServerChanges[],
  needsAll: boolean,
): string[] {
  const stateOf = new Map(states.map((state) => [state.server, state]))
  const lastOf = new Map<number, string>()
  for (const { server, shard } of servers) {
    const last = stateOf.get(server)?.last ?? ''
    if (last > (lastOf.get(shard) ?? '')) lastOf.set(shard, last)
  }
  const unchanged = servers.filter(({ server, shard }) => {
    const state = stateOf.get(server)
    const last = lastOf.get(shard)
    if (last === undefined) return true
    if (state === undefined) return needsAll
    return state.waiting > 0 || state.last !== last
  })
  return unchanged.map(({ host }) => host)
}

function unavailable(detail: string) {
  return problem('store_unavailable', { detail, retry_after_s: 60 })
}
