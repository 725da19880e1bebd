import { readdir, readFile } from 'node:fs/promises'
import { sleep } from '../../src/kernel/time.ts'
import type { HttpServer } from '../../src/platform/http/index.ts'
import type { BenchService, Call } from './service.ts'

/** What a slice of calls took: latencies in ms, processor time of a call in µs. */
export type Slice = { p50_ms: number; p95_ms: number; service_us: number; postgres_us: number }

/** Slices without and with the trail, in pairs of adjacent ones. */
export type Pair = { none: Slice; audited: Slice }

/** Median, and the middle half of the values. */
export type Spread = { median: number; low: number; high: number }

const per_second = 10_000 / 60

/**
 * Runs slices without and with the trail in turn, at 10,000 calls a minute whatever the answers, so
 * that other work of the machine meets both alike. Sealing counts to the audited ones.
 */
export async function measurePairs(
  service: BenchService,
  next: () => Call,
  { pairs, slice_ms }: { pairs: number; slice_ms: number },
): Promise<Pair[]> {
  const { none, audited } = service.servers
  const run = (server: HttpServer) =>
    slice(service, { server, next, slice_ms, isAudited: server === audited })
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

type SliceOf = { server: HttpServer; next: () => Call; slice_ms: number; isAudited: boolean }

async function slice(
  service: BenchService,
  { server, next, slice_ms, isAudited }: SliceOf,
): Promise<Slice> {
  const cpu = process.cpuUsage()
  const postgres_before = await postgresTime_us(service.postgres_pid)
  const started = performance.now()
  const pending: Promise<number>[] = []
  let sealed_ms = 0
  let sealing: Promise<void> = Promise.resolve()
  for (;;) {
    const at = performance.now() - started
    if (at >= slice_ms) break
    while (pending.length < (at / 1_000) * per_second) {
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
  if (isAudited) await service.seal()
  const { user, system } = process.cpuUsage(cpu)
  const postgres_us = (await postgresTime_us(service.postgres_pid)) - postgres_before
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    p50_ms: quantile(sorted, 0.5),
    p95_ms: quantile(sorted, 0.95),
    service_us: (user + system) / latencies.length,
    postgres_us: postgres_us / latencies.length,
  }
}

/** Calls a second of a number of callers, each of which waits for its answer. */
export async function rateOf(
  service: BenchService,
  { server, next, callers, slice_ms }: Omit<SliceOf, 'isAudited'> & { callers: number },
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

/** Processor time of a PostgreSQL server and its connections so far. */
async function postgresTime_us(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const children = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'latin1')),
  )
  const pids = [String(pid), ...children.join(' ').split(' ')].filter((text) => text !== '')
  const times = await Promise.all(
    pids.map((each) => readFile(`/proc/${each}/schedstat`, 'latin1').catch(() => '0')),
  )
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1_000, 0)
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
