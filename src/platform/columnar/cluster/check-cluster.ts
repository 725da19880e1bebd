import { MigrationRefused } from '../../migrations/index.ts'
import type { ColumnarReads } from '../contract.ts'

/** A replica in the cluster's definition (`remote_servers`). */
export type ClusterHost = {
  shard: number
  host: string
  /** Whether the shard copies its rows between its replicas itself. */
  internal_replication: number
}

/** The macros of a server, which are part of the path of its tables in Keeper. */
export type HostMacros = { host: string; shard: string; replica: string }

/**
 * Returns what is wrong with the definition of a cluster, in words for its administrator; undefined
 * for one that works. `macros` are those of the servers that answer.
 */
export function findClusterFault(
  cluster: string,
  hosts: readonly ClusterHost[],
  macros: readonly HostMacros[],
): string | undefined {
  if (hosts.length === 0) {
    return `ClickHouse has no cluster "${cluster}", expected it in remote_servers of every server. Correct LOOPTRACE_CLICKHOUSE_CLUSTER, or add the cluster.`
  }
  const doubled = hosts.find(({ internal_replication }) => internal_replication === 0)
  if (doubled !== undefined) {
    return `Shard ${doubled.shard} of the ClickHouse cluster "${cluster}" has internal_replication = false, expected true: each insert would be written once per replica, without quorum. Set <internal_replication>true</internal_replication> in remote_servers.`
  }
  const bare = macros.find(({ shard, replica }) => shard === '' || replica === '')
  if (bare !== undefined) {
    return `Server ${bare.host} of the ClickHouse cluster "${cluster}" has no macro "${bare.shard === '' ? 'shard' : 'replica'}", expected {shard} and {replica} in <macros> of every server.`
  }
  const seen = new Map<string, string>()
  for (const { host, shard, replica } of macros) {
    const key = `${shard} ${replica}`
    const other = seen.get(key)
    if (other !== undefined) {
      return `Servers ${other} and ${host} of the ClickHouse cluster "${cluster}" both have the macros shard = ${shard}, replica = ${replica}, expected another replica for each server.`
    }
    seen.set(key, host)
  }
  return shardsFault(cluster, hosts, macros)
}

/** The macros of all servers name as many shards as the cluster has. */
function shardsFault(
  cluster: string,
  hosts: readonly ClusterHost[],
  macros: readonly HostMacros[],
): string | undefined {
  const defined = new Set(hosts.map(({ shard }) => shard)).size
  const named = new Set(macros.map(({ shard }) => shard)).size
  // A server that is down has no macros.
  if (named === defined || macros.length < hosts.length) return undefined
  return `The macros of the ClickHouse cluster "${cluster}" name ${named} shards, its remote_servers ${defined}, expected the same number: replicas of a shard share the macro {shard}, and no others.`
}

/**
 * Checks the definition of the cluster on the server, and the macros of the servers that answer.
 * Rejects with MigrationRefused, whose message says what to change, and with ColumnarUnavailable.
 */
export async function checkCluster(
  statements: Pick<ColumnarReads, 'query'>,
  cluster: string,
): Promise<void> {
  const hosts = await statements.query<ClusterHost>(
    `SELECT toUInt32(shard_num) AS shard, host_name AS host, internal_replication
     FROM system.clusters WHERE cluster = {cluster:String} ORDER BY shard_num, replica_num`,
    { cluster },
  )
  const macros =
    hosts.length === 0
      ? []
      : await statements.query<HostMacros>(
          `SELECT host, anyIf(substitution, macro = 'shard') AS shard,
             anyIf(substitution, macro = 'replica') AS replica
           FROM (
             SELECT hostName() AS host, macro, substitution
             FROM clusterAllReplicas(${quoteText(cluster)}, view(
               SELECT macro, substitution FROM system.macros
               UNION ALL SELECT '', ''
             ))
           ) GROUP BY host ORDER BY host`,
        )
  const fault = findClusterFault(cluster, hosts, macros)
  if (fault !== undefined) throw new MigrationRefused(fault)
}

/** Quotes text for ClickHouse. */
export function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
