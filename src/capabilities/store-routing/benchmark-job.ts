import type { Clock } from '../../kernel/time.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../jobs/index.ts'
import { type QueryLimits, type QueryRunner, type Replay, readReplay } from '../query/index.ts'
import { storeCapabilities } from '../storage/index.ts'
import {
  type BenchmarkCase,
  checksumOf,
  recordedCase,
  type Sample,
  suiteCases,
} from './benchmark-cases.ts'
import type { StoreChoice, StoreQuestion } from './choose-store.ts'
import { defaultRouting, type QueryClass, type StoreName, storeNames } from './contract.ts'
import { rounded } from './durations.ts'
import { slowestAndLatest } from './route-stats-store.ts'
import { findRouting, type RoutingDb } from './store.ts'

/** The kind of the job that asks each store the same. */
export const benchmarkKind = 'store-benchmark'

export type BenchmarkOptions = {
  db: RoutingDb
  runners: Readonly<Record<StoreName, QueryRunner>>
  chooseStore: (asked: StoreQuestion) => Promise<StoreChoice>
  clock: Clock
}

/** How a store answered a case. Milliseconds; `rows_read` is null where the store does not tell. */
export type StoreResult = {
  store: StoreName
  runs: number
  errors: number
  error: string | null
  median_ms: number | null
  p95_ms: number | null
  rows_read: number | null
  rows: number | null
}

/** A case and how the stores answered it; `equal` is null when fewer than two did. */
export type CaseResult = Omit<BenchmarkCase, 'body'> & {
  query_class: QueryClass
  query: Record<string, unknown>
  stores: StoreResult[]
  equal: boolean | null
}

/** How far a benchmark is; when it has ended, what it came to. */
export type BenchmarkProgress = {
  done: number
  of: number
  cases: CaseResult[]
  /** Recorded queries that can be asked no more. */
  unreadable: number
  /** True when the time was up before the last case. */
  stopped_early: boolean
}

/** What one statement of a benchmark may take: it must not crowd out what people ask. */
const limits: QueryLimits = {
  rows_read_max: 100_000_000,
  bytes_read_max: 20_000_000_000,
  time_ms_max: 10_000,
  memory_bytes_max: 2_000_000_000,
  result_rows_max: 10_001,
}
/** A benchmark as a whole. */
const time_ms_max = 180_000

/**
 * Asks every store that holds the window the same queries, one after the other and in turns: a
 * suite that every project has, and the project's slowest and latest ones. One statement at a time.
 * A run that was killed goes on with the case it was at.
 */
export function storeBenchmark(options: BenchmarkOptions): JobHandler {
  return { kind: benchmarkKind, run: (job, context) => benchmark(options, job, context) }
}

async function benchmark(
  options: BenchmarkOptions,
  job: Job,
  { progress, signal }: JobContext,
): Promise<JobValue> {
  const { clock } = options
  const { project_id } = job
  const runs = Number(job.params['runs'])
  const began_ms = clock.now_ms()
  const cases = await casesOf(options, job, signal)
  const found = (job.progress ?? {}) as Partial<BenchmarkProgress>
  const state: BenchmarkProgress = {
    done: found.done ?? 0,
    of: cases.length,
    cases: found.cases ?? [],
    unreadable: found.unreadable ?? 0,
    stopped_early: false,
  }
  for (const each of cases.slice(state.done)) {
    signal.throwIfAborted()
    state.stopped_early = clock.now_ms() - began_ms > time_ms_max
    if (state.stopped_early) break
    const replay = readReplay(each, project_id)
    if (replay === undefined) state.unreadable += 1
    else state.cases.push(await caseResult(options, each, { replay, runs, signal }))
    state.done += 1
    await progress(state)
  }
  return state
}

async function casesOf(
  options: BenchmarkOptions,
  { project_id, params, created_at }: Job,
  signal: AbortSignal,
): Promise<BenchmarkCase[]> {
  const { db } = options
  // The same for whoever takes the job over.
  const now_ms = Date.parse(created_at)
  const routing = (await findRouting(db, project_id)) ?? defaultRouting
  const hours = Math.min(routing.hot_window_hours, 24)
  const sample = await sampleOf(options, { project_id, now_ms, hours, signal })
  const each = Math.ceil(Number(params['queries_max']) / 2)
  const recorded = await slowestAndLatest(db, { project_id, each })
  return [
    ...suiteCases(now_ms, { hours, sample }),
    ...recorded.flatMap((query) => recordedCase(query, now_ms) ?? []),
  ]
}

/** A trace of the window, for look-ups. */
async function sampleOf(
  { runners }: BenchmarkOptions,
  about: { project_id: string; now_ms: number; hours: number; signal: AbortSignal },
): Promise<Sample | undefined> {
  const { project_id, now_ms, hours, signal } = about
  const latest = suiteCases(now_ms, { hours, sample: undefined })[0]
  const replay = latest && readReplay(latest, project_id)
  const { rows = [] } = (await replay?.runOn(runners.clickhouse, { signal, limits })) ?? {}
  const [first] = rows
  if (first === undefined) return undefined
  const task_id = first['task_id']
  return {
    trace_id: String(first['trace_id']),
    task_id: typeof task_id === 'string' ? task_id : null,
  }
}

async function caseResult(
  options: BenchmarkOptions,
  given: BenchmarkCase,
  about: { replay: Replay; runs: number; signal: AbortSignal },
): Promise<CaseResult> {
  const { replay, runs, signal } = about
  const { name, origin, kind, body } = given
  const stores = await holdersOf(options, replay)
  const seen = new Map(stores.map((store) => [store, nothingSeen()]))
  for (let run = 0; run < runs; run++) {
    // Who comes first has the colder caches: they take turns.
    for (const store of run % 2 === 0 ? stores : stores.toReversed()) {
      const one = seen.get(store)
      if (one) await observe(one, () => replay.runOn(options.runners[store], { signal, limits }))
      signal.throwIfAborted()
    }
  }
  const checksums = [...seen.values()].flatMap(({ checksum }) => checksum ?? [])
  return {
    ...{ name, origin, kind, query: body, query_class: replay.query_class },
    stores: [...seen].map(([store, one]) => resultOf(store, one)),
    equal: checksums.length < 2 ? null : new Set(checksums).size === 1,
  }
}

async function holdersOf(
  { chooseStore }: BenchmarkOptions,
  { project_id, query_class, entity, window }: Replay,
): Promise<StoreName[]> {
  const { candidates } = await chooseStore({ project_id, query_class, entity, window })
  const has = (store: StoreName) =>
    (storeCapabilities[store].entities as readonly string[]).includes(entity)
  const holds = (store: StoreName) =>
    (store === 'clickhouse' && has(store)) ||
    candidates.some((each) => each.store === store && each.eligible)
  return storeNames.filter(holds)
}

type Seen = {
  durations_ms: number[]
  errors: number
  error: string | null
  rows_read: number | null
  rows: number | null
  checksum: string | undefined
}

function nothingSeen(): Seen {
  const unknown = { error: null, rows_read: null, rows: null, checksum: undefined }
  return { durations_ms: [], errors: 0, ...unknown }
}

async function observe(seen: Seen, run: () => ReturnType<Replay['runOn']>): Promise<void> {
  try {
    const { rows, stats } = await run()
    seen.durations_ms.push(stats.duration_ms)
    seen.rows_read = stats.rows_read
    seen.rows = rows.length
    seen.checksum ??= checksumOf(rows)
  } catch (error) {
    seen.errors += 1
    seen.error = error instanceof Error ? error.message.slice(0, error_chars_max) : String(error)
  }
}

const error_chars_max = 200

function resultOf(store: StoreName, seen: Seen): StoreResult {
  const { durations_ms, errors, error, rows_read, rows } = seen
  const sorted = durations_ms.toSorted((a, b) => a - b)
  const at = (share: number) => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
    return value === undefined ? null : rounded(value)
  }
  const runs = durations_ms.length + errors
  return { store, runs, errors, error, median_ms: at(0.5), p95_ms: at(0.95), rows_read, rows }
}
