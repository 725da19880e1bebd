import { readFile } from 'node:fs/promises'
import { sleep } from '../../src/kernel/time.ts'
import type { HttpServer } from '../../src/platform/http/index.ts'
import type { BenchService, Call } from './service.ts'

/** What a slice of calls took: latencies in ms, processor time of a call in µs. */
export type Slice = {
  p50_ms: number
  p95_ms: number
  service_us: number
  postgres_us: number
  clickhouse_us: number
}

/** Slices without and with the trail, in pairs of adjacent ones. */
export type Pair = { none: Slice; audited: Slice }

/** Median, and the middle half of the values. */
export type Spread = { median: number; low: number; high: number }

/** Calls of a measurement: their rate, whatever the answers, and the number and time of slices. */
type Offered = { per_minute: number; pairs: number; slice_ms: number }

/**
 * Runs slices without and with the trail in turn, so that other work of the machine meets both
 * alike. Sealing counts to the audited ones.
 */
export async function measurePairs(
  service: BenchService,
  next: () => Call,
  { pairs, ...offered }: Offered,
): Promise<Pair[]> {
  const { none, audited } = service.servers
  const run = (server: HttpServer) =>
    slice(service, { ...offered, server, next, isAudited: server === audited })
  for (const server of [none, audited]) await run(server)
  const measured: Pair[] = []
  for (let at = 0; at < pairs; at += 1) {
    if (at % 2 === 0) {
      const without = await run(none)
      measured.push({ none: without, audited: await run(audited) })
    } else {
      const withTrail = await run(audited)
      measured.push({ audited: withTrail, none: await run(none) })
    }
  }
  return measured
}

type SliceOf = Omit<Offered, 'pairs'> & {
  server: HttpServer
  next: () => Call
  isAudited: boolean
}

async function slice(
  service: BenchService,
  { server, next, per_minute, slice_ms, isAudited }: SliceOf,
): Promise<Slice> {
  const cpu = process.cpuUsage()
  const postgres_before = await postgresTimes_us(service.postgres_pid)
  const clickhouse_before = await service.clickhouse_ms()
  const started = performance.now()
  const pending: Promise<number>[] = []
  let sealed_ms = 0
  let sealing: Promise<void> = Promise.resolve()
  for (;;) {
    const at = performance.now() - started
    if (at >= slice_ms) break
    while (pending.length < (at / 60_000) * per_minute) {
      const answered = service.call(server, next())
      answered.catch(() => undefined)
      pending.push(answered)
    }
    if (isAudited && at - sealed_ms >= 1_000) {
      sealed_ms = at
      sealing = sealing.then(() => service.seal())
    }
    await sleep(1)
  }
  const latencies = await Promise.all(pending)
  await sealing
  if (isAudited) {
    await service.flush()
    await service.seal()
  }
  const { user, system } = process.cpuUsage(cpu)
  const postgres_after = await postgresTimes_us(service.postgres_pid)
  const postgres_us = usedBetween(postgres_before, postgres_after)
  const clickhouse_us = ((await service.clickhouse_ms()) - clickhouse_before) * 1_000
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    p50_ms: quantile(sorted, 0.5),
    p95_ms: quantile(sorted, 0.95),
    service_us: (user + system) / latencies.length,
    postgres_us: postgres_us / latencies.length,
    clickhouse_us: clickhouse_us / latencies.length,
  }
}

/** Calls a second of a number of callers, each of which waits for its answer. */
export async function rateOf(
  service: BenchService,
  {
    server,
    next,
    callers,
    slice_ms,
  }: Pick<SliceOf, 'server' | 'next' | 'slice_ms'> & { callers: number },
): Promise<number> {
  const until = performance.now() + slice_ms
  let done = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        await service.call(server, next())
        done += 1
      }
    }),
  )
  return done / (slice_ms / 1_000)
}

/** Processor time of a PostgreSQL server and its connections so far, by process. */
async function postgresTimes_us(pid: number): Promise<Map<string, number>> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1')
  const pids = [String(pid), ...children.split(' ')].filter((text) => text !== '')
  return new Map(await Promise.all(pids.map(timeOf)))
}

async function timeOf(pid: string): Promise<[pid: string, us: number]> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'latin1').catch(() => '0')
  return [pid, Number(text.split(' ')[0]) / 1_000]
}

/** Returns the time between two readings. Processes that ended between them do not count. */
function usedBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): number {
  let used = 0
  for (const [pid, us] of after) used += Math.max(0, us - (before.get(pid) ?? 0))
  return used
}

/** The median of values, and the bounds of their middle half. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, median, high] = [0.25, 0.5, 0.75].map((q) => quantile(sorted, q))
  return { low: low ?? 0, median: median ?? 0, high: high ?? 0 }
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN
}
