import { sleep } from '../../src/kernel/time.ts'
import type { Cluster } from '../../test/support/cluster.ts'
import { scrape } from '../../test/support/metrics.ts'
import { pin } from '../service.ts'
import { type ClusterUsage, clusterUsage, cpuBetween, type Party } from './cluster-usage.ts'
import { startEdge } from './edge.ts'
import { liveRequests } from './live-requests.ts'
import { httpSender, type Sender } from './sender.ts'
import { traceSpans } from './spans.ts'

/** The whole path, from exporter to stored row, at 70 % of its capacity. */
export type SteadyFacts = {
  minutes: number
  /** Spans a second that were accepted and stored at full speed. */
  sustained_per_s: number
  sent_per_s: number
  /** From the end of a span to its row being stored, for this share of the rows. */
  lag_s: { p50: number; p99: number }
  /** Processor time per span by process, in µs. */
  cpu_us: Record<Party, number>
  /** Resident bytes by process, at the start and after each tenth. */
  resident_bytes: Record<Party, number>[]
}

const requestSpans = 20 * traceSpans
const connections = 8
const load = 0.7
/** The product's default. */
const detection_percent = 25
const flood_ms = 10_000
const readings = 10
const poll_ms = 100
const polls_max = 3_000

/**
 * Floods the whole path for a while and measures how long storing takes; then sends 70 % of that
 * rate steadily. Both roles are on processor 0; servers and load on processor 1. Detection runs as by
 * default, for the new tasks that it has time for.
 */
export async function measureSteady(minutes: number): Promise<SteadyFacts> {
  await using cluster = await startEdge(detection_percent)
  await cluster.worker.start()
  await pin(cluster.worker.pid, 0)
  const senders = Array.from({ length: connections }, () => httpSender(cluster, 'protobuf'))
  await flood(cluster, senders, flood_ms / 4)
  const sustained_per_s = await flood(cluster, senders, flood_ms)
  const sent_per_s = sustained_per_s * load
  const start = await progressOf(cluster)
  const usages: ClusterUsage[] = [start.usage]
  let sent = 0
  for (let reading = 0; reading < readings; reading += 1) {
    sent += await pace(senders, sent_per_s, (minutes * 60_000) / readings)
    usages.push(await clusterUsage(cluster))
  }
  await untilStored(cluster, start.stored + sent)
  const end = await progressOf(cluster)
  for (const sender of senders) sender.close()
  const spent = cpuBetween(start.usage, end.usage)
  return {
    minutes,
    sustained_per_s,
    sent_per_s,
    lag_s: { p50: quantile(start.lag, end.lag, 0.5), p99: quantile(start.lag, end.lag, 0.99) },
    cpu_us: perParty(spent, (cpu_ms) => (cpu_ms * 1000) / sent),
    resident_bytes: usages.map((usage) => perParty(usage, ({ resident_bytes }) => resident_bytes)),
  }
}

const nextBody = liveRequests('agent_traces', requestSpans)

function bodyNow(): Buffer {
  return nextBody(BigInt(Date.now()) * 1_000_000n)
}

/**
 * Sends as fast as requests are answered, then waits; returns the rate at which all spans were
 * stored.
 */
async function flood(cluster: Cluster, senders: readonly Sender[], duration_ms: number) {
  const before = await storedBy(cluster)
  const start_ms = performance.now()
  let sent = 0
  await Promise.all(
    senders.map(async (sender) => {
      while (performance.now() < start_ms + duration_ms) {
        await sender.send(bodyNow())
        sent += requestSpans
      }
    }),
  )
  await untilStored(cluster, before + sent)
  return (sent * 1000) / (performance.now() - start_ms)
}

/**
 * Sends this many spans a second, whatever the answers; resolves with the number of sent spans. The
 * senders alternate: a sender that pauses longer than the server's keep-alive would be
 * disconnected.
 */
async function pace(senders: readonly Sender[], per_s: number, duration_ms: number) {
  const free = [...senders]
  const running = new Set<Promise<void>>()
  const start_ms = performance.now()
  const every_ms = (requestSpans * 1000) / per_s
  let requests = 0
  for (let now_ms = start_ms; now_ms < start_ms + duration_ms; now_ms = performance.now()) {
    const wait_ms = start_ms + requests * every_ms - now_ms
    if (wait_ms > 0) {
      await sleep(Math.max(1, wait_ms))
      continue
    }
    const sender = free.shift()
    if (sender === undefined) {
      await Promise.race(running)
      continue
    }
    requests += 1
    const one: Promise<void> = sender.send(bodyNow()).then(() => {
      free.push(sender)
      running.delete(one)
    })
    running.add(one)
  }
  await Promise.all(running)
  return requests * requestSpans
}

/** The rows with a lag of at most this many seconds, by bound. */
type Lag = { bound_s: number; rows: number }[]

const bounds = '0.1 0.25 0.5 1 1.5 2 3 4 5 10 30 60 300 1800 7200'.split(' ')

async function progressOf(cluster: Cluster) {
  const value = await scrape(cluster.worker.management_url)
  const name = 'looptrace_ingest_lag_seconds_bucket'
  const lag: Lag = bounds.map((le) => ({ bound_s: Number(le), rows: value(name, { le }) }))
  return { lag, stored: await storedBy(cluster), usage: await clusterUsage(cluster) }
}

/** Within its bucket a quantile is interpolated as if rows were spread evenly. */
function quantile(before: Lag, after: Lag, share: number): number {
  const rows = after.map((bucket, at) => bucket.rows - (before[at]?.rows ?? 0))
  const wanted = (rows.at(-1) ?? 0) * share
  const at = rows.findIndex((count) => count >= wanted)
  const below = rows[at - 1] ?? 0
  const low_s = after[at - 1]?.bound_s ?? 0
  const high_s = after[at]?.bound_s ?? Number.NaN
  return low_s + ((wanted - below) / ((rows[at] ?? 0) - below)) * (high_s - low_s)
}

async function untilStored(cluster: Cluster, observations: number): Promise<void> {
  for (let polls = 0; polls < polls_max; polls += 1) {
    if ((await storedBy(cluster)) >= observations) return
    await sleep(poll_ms)
  }
  throw new Error(`the worker stored too little:\n${cluster.output().slice(-2_000)}`)
}

/** Observations that the worker has written, by its own counter. */
async function storedBy(cluster: Cluster): Promise<number> {
  const value = await scrape(cluster.worker.management_url)
  return value('looptrace_ingest_rows_stored_total', { kind: 'observations' })
}

function perParty<From>(
  values: Record<Party, From>,
  read: (value: From) => number,
): Record<Party, number> {
  return {
    proxy: read(values.proxy),
    worker: read(values.worker),
    clickhouse: read(values.clickhouse),
    postgres: read(values.postgres),
    nats: read(values.nats),
  }
}
