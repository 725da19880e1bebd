import { cpus } from 'node:os'
import { sleep } from '../../src/kernel/time.ts'
import { type Cluster, startCluster } from '../../test/support/cluster.ts'
import { scrape } from '../../test/support/metrics.ts'
import {
  type RestartableService,
  restartableService,
} from '../../test/support/restartable-service.ts'
import { clusterUsage, cpuBetween, treeUsage } from '../ingest/cluster-usage.ts'
import { liveRequests } from '../ingest/live-requests.ts'
import { httpSender } from '../ingest/sender.ts'
import { median } from '../rounds.ts'

const counts = [1, 2, 4] as const
const rounds = 3
const requestSpans = 510
const requests = 100
const poll_ms = 50
const polls_max = 3_000

/**
 * `npm run bench -- growth`: 51,000 observations wait in the queue, and 1, 2 and 4 workers drain them, in
 * turn; medians. All processes share the processors of this machine: where these are all busy, more
 * workers cannot store more, and the processor time of an observation tells what each worker adds to it.
 */
export async function printGrowth(): Promise<void> {
  await using cluster = await startCluster({ env: { LOOPTRACE_DETECTION_BUSY_PERCENT: '1' } })
  await Promise.all([cluster.api.stop(), cluster.worker.stop()])
  const found = new Map<number, Drained[]>(counts.map((count) => [count, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const count of counts) found.get(count)?.push(await drain(cluster, count))
  }
  console.table(counts.map((workers) => ({ workers, ...summary(found.get(workers) ?? []) })))
}

/** Processor time in µs an observation; `busy` is the share of this machine's processors in use. */
type Drained = { per_s: number; workers_us: number; servers_us: number; busy: number }

function summary(drains: readonly Drained[]): Drained {
  const of = (field: keyof Drained) => Number(median(drains.map((one) => one[field])).toFixed(2))
  return {
    per_s: of('per_s'),
    workers_us: of('workers_us'),
    servers_us: of('servers_us'),
    busy: of('busy'),
  }
}

const nextBody = liveRequests('agent_traces', requestSpans)

/** Fills the queue without workers, starts some, and measures from their first rows to the last ones. */
async function drain(cluster: Cluster, count: number): Promise<Drained> {
  const sender = httpSender(cluster, 'protobuf')
  for (let sent = 0; sent < requests; sent += 1) {
    await sender.send(nextBody(BigInt(Date.now()) * 1_000_000n))
  }
  sender.close()
  const workers = Array.from({ length: count }, () => restartableService('worker', cluster.env))
  await Promise.all(workers.map((worker) => worker.start()))
  const first = await reading(cluster, workers, 1)
  const last = await reading(cluster, workers, requests * requestSpans)
  await Promise.all(workers.map((worker) => worker.stop()))
  const observations = last.stored - first.stored
  const took_ms = last.at_ms - first.at_ms
  const spent = cpuBetween(first.servers, last.servers)
  const servers_ms = spent.clickhouse + spent.postgres + spent.nats
  const workers_ms = last.workers_ms - first.workers_ms
  return {
    per_s: (observations * 1000) / took_ms,
    workers_us: (workers_ms * 1000) / observations,
    servers_us: (servers_ms * 1000) / observations,
    busy: (workers_ms + servers_ms) / (took_ms * cpus().length),
  }
}

/** Waits until so many observations are stored, by the workers' own counters. */
async function reading(
  cluster: Cluster,
  workers: readonly RestartableService[],
  observations: number,
) {
  for (let polls = 0; polls < polls_max; polls += 1) {
    const values = await Promise.all(workers.map((worker) => scrape(worker.management_url)))
    const stored = values.reduce(
      (sum, value) => sum + value('looptrace_ingest_rows_stored_total', { kind: 'observations' }),
      0,
    )
    if (stored >= observations) {
      const usages = await Promise.all(workers.map(({ pid }) => treeUsage(pid)))
      const workers_ms = usages.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0)
      return { stored, at_ms: performance.now(), workers_ms, servers: await clusterUsage(cluster) }
    }
    await sleep(poll_ms)
  }
  throw new Error('the workers stored too little')
}
