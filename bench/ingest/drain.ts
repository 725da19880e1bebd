import { sleep } from '../../src/kernel/time.ts'
import type { Cluster } from '../../test/support/cluster.ts'
import { scrape } from '../../test/support/metrics.ts'
import { median } from '../rounds.ts'
import { pin } from '../service.ts'
import { clusterUsage, cpuBetween, type Party } from './cluster-usage.ts'
import { startEdge } from './edge.ts'
import { liveRequests } from './live-requests.ts'
import { httpSender } from './sender.ts'
import { traceSpans } from './spans.ts'

/** The cost of moving observations from the queue into the stores. */
export type DrainFacts = {
  observations: number
  /** Rows of every kind per observation, including traces and correlations. */
  rows_per_observation: number
  /** Processor time per observation by process, in µs; medians. */
  cpu_us: Record<Exclude<Party, 'proxy'>, number>
  worker_spread: readonly [number, number]
  /** Observations a second while the queue was drained, overall. */
  per_s: number
}

const requestSpans = 85 * traceSpans
const requests = 60
/** Each poll is a scrape of all metrics, which costs the worker and PostgreSQL some milliseconds. */
const poll_ms = 500
const polls_max = 240

/**
 * Fills the queue with traces of six observations while the worker is stopped (SIGSTOP), then lets
 * it drain: the worker alone on processor 0, the servers on processor 1. The first round warms up
 * and is not counted.
 */
export async function measureDrain(rounds: number): Promise<DrainFacts> {
  await using cluster = await startEdge()
  await cluster.worker.start()
  await pin(cluster.proxy.pid, 1)
  await pin(cluster.worker.pid, 0)
  const found: Round[] = []
  for (let round = 0; round <= rounds; round += 1) found.push(await drain(cluster))
  const counted = found.slice(1)
  const of = (party: Exclude<Party, 'proxy'>) => counted.map(({ cpu_us }) => cpu_us[party])
  const worker = of('worker')
  return {
    observations: requests * requestSpans,
    rows_per_observation: median(counted.map(({ rows }) => rows)) / (requests * requestSpans),
    cpu_us: {
      worker: median(worker),
      clickhouse: median(of('clickhouse')),
      postgres: median(of('postgres')),
      nats: median(of('nats')),
    },
    worker_spread: [Math.min(...worker), Math.max(...worker)],
    per_s: median(counted.map(({ per_s }) => per_s)),
  }
}

type Round = { cpu_us: Record<Party, number>; rows: number; per_s: number }

/** Bodies differ in all rounds: an existing row would cost less. */
const nextBody = liveRequests('agent_traces', requestSpans)

async function drain(cluster: Cluster): Promise<Round> {
  const stored = await storedRows(cluster)
  process.kill(cluster.worker.pid, 'SIGSTOP')
  const sender = httpSender(cluster, 'protobuf')
  for (let sent = 0; sent < requests; sent += 1) {
    await sender.send(nextBody(BigInt(Date.now()) * 1_000_000n))
  }
  sender.close()
  const before = await clusterUsage(cluster)
  const start_ms = performance.now()
  process.kill(cluster.worker.pid, 'SIGCONT')
  const observations = requests * requestSpans
  const rows = await untilStored(cluster, stored.observations + observations)
  const took_ms = performance.now() - start_ms
  const spent = cpuBetween(before, await clusterUsage(cluster))
  const cpu_us = Object.fromEntries(
    Object.entries(spent).map(([party, cpu_ms]) => [party, (cpu_ms * 1000) / observations]),
  ) as Record<Party, number>
  return { cpu_us, rows: rows - stored.all, per_s: (observations * 1000) / took_ms }
}

async function untilStored(cluster: Cluster, observations: number): Promise<number> {
  for (let polls = 0; polls < polls_max; polls += 1) {
    const stored = await storedRows(cluster)
    if (stored.observations >= observations) return stored.all
    await sleep(poll_ms)
  }
  throw new Error(`the worker stored too little:\n${cluster.output().slice(-2_000)}`)
}

/** Rows that the worker has written, by its own counter. */
async function storedRows(cluster: Cluster): Promise<{ observations: number; all: number }> {
  const value = await scrape(cluster.worker.management_url)
  const name = 'looptrace_ingest_rows_stored_total'
  return { observations: value(name, { kind: 'observations' }), all: value(name) }
}
