import { readFile } from 'node:fs/promises'
import type { Cluster } from '../../test/support/cluster.ts'
import { proportionalMemory, usageOf } from '../process-usage.ts'

/** Processes of a cluster that are measured separately. */
export const parties = ['proxy', 'worker', 'clickhouse', 'postgres', 'nats'] as const
export type Party = (typeof parties)[number]

/**
 * For each process: processor time since its start, and resident memory, with shared pages counted
 * once (PSS). Stopped roles are 0.
 */
export type ClusterUsage = Record<Party, Usage>
type Usage = { cpu_ms: number; resident_bytes: number }

/** Reads /proc of every process of the cluster; a server includes its children. */
export async function clusterUsage(cluster: Cluster): Promise<ClusterUsage> {
  const roots: Record<Party, number> = {
    proxy: cluster.proxy.pid,
    worker: cluster.worker.pid,
    clickhouse: cluster.clickhouse.server().pid() ?? 0,
    postgres: cluster.postgres.server().pid,
    nats: cluster.nats.pid,
  }
  const entries = parties.map(async (party) => [party, await treeUsage(roots[party])] as const)
  return Object.fromEntries(await Promise.all(entries)) as ClusterUsage
}

/** Processor time of each process between two readings. */
export function cpuBetween(before: ClusterUsage, after: ClusterUsage): Record<Party, number> {
  const spent = parties.map((party) => [party, after[party].cpu_ms - before[party].cpu_ms])
  return Object.fromEntries(spent) as Record<Party, number>
}

/** Reads /proc of a process and its children. */
export async function treeUsage(root: number): Promise<Usage> {
  let cpu_ms = 0
  const pids = [root]
  for (const pid of pids) {
    cpu_ms += await usageOf(pid).then(
      (usage) => usage.cpu_ms,
      () => 0,
    )
    const file = `/proc/${pid}/task/${pid}/children`
    const children = await readFile(file, 'latin1').catch(() => '')
    pids.push(...children.split(' ').filter(Boolean).map(Number))
  }
  return { cpu_ms, resident_bytes: await proportionalMemory(pids) }
}
