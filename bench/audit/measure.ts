import { readFile } from 'node:fs/promises'
import { sleep } from '../../src/kernel/time.ts'
import type { Call } from './caller.ts'
import type { BenchService, Variant } from './service.ts'

/** What a slice of calls took: latencies in ms, processor time of a call in µs. */
export type Slice = {
  p50_ms: number
  p95_ms: number
  service_us: number
  postgres_us: number
  clickhouse_us: number
}

/** Adjacent slices, one of each variant. */
export type Turn = Partial<Record<Variant, Slice>>

/** Median, and the middle half of the values. */
export type Spread = { median: number; low: number; high: number }

/** Calls of a measurement: their rate, whatever the answers, and the number and time of slices. */
type Offered = { per_minute: number; pairs: number; slice_ms: number }

/**
 * Runs slices of the variants in turn, so that other work of the machine meets all alike. Sealing
 * counts to those that record calls.
 */
export async function measureTurns(
  service: BenchService,
  next: () => Call,
  { variants, pairs, ...offered }: Offered & { variants: readonly Variant[] },
): Promise<Turn[]> {
  await warmUp(service, next, variants)
  const measured: Turn[] = []
  for (let at = 0; at < pairs; at += 1) {
    const turn: Turn = {}
    for (const variant of at % 2 === 0 ? variants : variants.toReversed()) {
      turn[variant] = await slice(service, { ...offered, variant, next })
    }
    measured.push(turn)
  }
  return measured
}

/**
 * Calls the servers in turn, as fast as possible. A service runs for days; its first tens of
 * thousands of calls also pay for the compilers of V8, in threads of their own.
 */
async function warmUp(
  service: BenchService,
  next: () => Call,
  variants: readonly Variant[],
): Promise<void> {
  for (let at = 0; at < 15; at += 1) {
    for (const variant of variants) {
      const origin = service.origins[variant]
      await rateOf(service, { origin, next, callers: 4, slice_ms: 3_000 })
    }
  }
}

type SliceOf = Omit<Offered, 'pairs'> & { variant: Variant; next: () => Call }

async function slice(
  service: BenchService,
  { variant, next, per_minute, slice_ms }: SliceOf,
): Promise<Slice> {
  const origin = service.origins[variant]
  const isAudited = variant !== 'none'
  const calls = callsOf(next, (slice_ms / 60_000) * per_minute)
  const cpu = process.cpuUsage()
  const postgres_before = await postgresTimesUs(service.postgres_pid)
  const clickhouse_before = await service.clickhouse_ms()
  const sealing = new AbortController()
  const sealed = isAudited ? sealEachSecond(service, sealing.signal) : undefined
  const latencies = await service.caller.send({ origin, calls, per_minute, slice_ms })
  sealing.abort()
  await sealed
  if (isAudited) {
    await service.flush()
    await service.seal()
  }
  const { user, system } = process.cpuUsage(cpu)
  const postgres_after = await postgresTimesUs(service.postgres_pid)
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

function callsOf(next: () => Call, count: number): Call[] {
  return Array.from({ length: count }, next)
}

async function sealEachSecond(service: BenchService, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(1_000, signal)
    if (!signal.aborted) await service.seal()
  }
}

/** Calls a second of a number of callers, each of which waits for its answer. */
export async function rateOf(
  service: BenchService,
  {
    origin,
    next,
    callers,
    slice_ms,
  }: Pick<SliceOf, 'next' | 'slice_ms'> & { origin: string; callers: number },
): Promise<number> {
  const calls = callsOf(next, differentCalls)
  const latencies = await service.caller.send({ origin, calls, callers, slice_ms })
  return latencies.length / (slice_ms / 1_000)
}

/** More than the projects that the calls change in turn. */
const differentCalls = 1_000

/** Processor time of a PostgreSQL server and its connections so far, by process. */
async function postgresTimesUs(pid: number): Promise<Map<string, number>> {
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
