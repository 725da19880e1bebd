import type { Clock } from '../../../kernel/time.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../../jobs/index.ts'
import {
  type ChooseStore,
  type QueryLimits,
  type QueryRunner,
  type Replay,
  readReplay,
} from '../../query/index.ts'
import { storeCapabilities } from '../../storage/index.ts'
import { type QueryClass, type StoreName, storeNames } from '../contract.ts'
import { rounded } from '../durations.ts'
import { slowestAndLatest } from '../route-stats-store.ts'
import { type RoutingDb, routingTable } from '../store.ts'
import {
  type BenchmarkCase,
  checksumOf,
  recordedCase,
  type Sample,
  suiteCases,
} from './benchmark-cases.ts'
import { type Comparison, comparePairs } from './compare-pairs.ts'

/** The kind of the job that runs the same queries on each store. */
export const benchmarkKind = 'store-benchmark'

type BenchmarkOptions = {
  db: RoutingDb
  runners: Readonly<Record<StoreName, QueryRunner>>
  chooseStore: ChooseStore
  clock: Clock
}

/** A store's result for a case. `rows_read` is null where the store does not report it. */
type StoreResult = {
  store: StoreName
  runs: number
  errors: number
  error: string | null
  median_ms: number | null
  p95_ms: number | null
  rows_read: number | null
  rows: number | null
}

/** A case and its results. `equal` is null if fewer than two stores answered. */
export type CaseResult = Omit<BenchmarkCase, 'body'> & {
  query_class: QueryClass
  query: Record<string, unknown>
  stores: StoreResult[]
  equal: boolean | null
} & Comparison

/** The progress of a benchmark, and its result at the end. */
export type BenchmarkProgress = {
  done: number
  of: number
  cases: CaseResult[]
  /** Recorded queries that are no longer valid. */
  unreadable: number
  /** Whether the benchmark reached its time limit before the last case. */
  stopped_early: boolean
}

/** Minimum pairs of runs of a query, for a recommendation. */
export const pairs_min = 15

/** Limits of one statement, so that a benchmark does not slow down users' queries. */
const limits: QueryLimits = {
  rows_read_max: 100_000_000,
  bytes_read_max: 20_000_000_000,
  time_ms_max: 10_000,
  memory_bytes_max: 2_000_000_000,
  result_rows_max: 10_001,
}

/** Time limit of a benchmark. */
const time_ms_max = 180_000

/**
 * Runs the same queries on every store that holds the window, one statement at a time: a fixed
 * suite, and the project's slowest and latest queries. A killed run resumes at its case.
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
  const cases = await listCases(options, job, signal)
  const saved = (job.progress ?? {}) as Partial<BenchmarkProgress>
  const state: BenchmarkProgress = {
    done: saved.done ?? 0,
    of: cases.length,
    cases: saved.cases ?? [],
    unreadable: saved.unreadable ?? 0,
    stopped_early: false,
  }
  for (const each of cases.slice(state.done)) {
    signal.throwIfAborted()
    state.stopped_early = clock.now_ms() - began_ms > time_ms_max
    if (state.stopped_early) break
    const replay = readReplay(each, project_id)
    if (replay === undefined) state.unreadable += 1
    else state.cases.push(await runCase(options, each, { replay, runs, signal }))
    state.done += 1
    await progress(state)
  }
  return state
}

async function listCases(
  options: BenchmarkOptions,
  { project_id, params, created_at }: Job,
  signal: AbortSignal,
): Promise<BenchmarkCase[]> {
  const { db } = options
  // The job's own time, so that a resumed run has the same cases.
  const now_ms = Date.parse(created_at)
  const routing = await routingTable.read(db, project_id)
  const hours = Math.min(routing.hot_window_hours, 24)
  const sample = await findSample(options, { project_id, now_ms, hours, signal })
  const each = Math.ceil(Number(params['queries_max']) / 2)
  const recorded = await slowestAndLatest(db, { project_id, each })
  return [
    ...suiteCases(now_ms, { hours, sample }),
    ...recorded.flatMap((query) => recordedCase(query, now_ms) ?? []),
  ]
}

/** Finds a trace of the window, for look-ups. */
async function findSample(
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

async function runCase(
  options: BenchmarkOptions,
  given: BenchmarkCase,
  about: { replay: Replay; runs: number; signal: AbortSignal },
): Promise<CaseResult> {
  const { replay, runs, signal } = about
  const { name, origin, kind, body } = given
  const stores = await findHolders(options, replay)
  const seen = new Map(stores.map((store) => [store, noObservations()]))
  const runOn = (store: StoreName) => replay.runOn(options.runners[store], { signal, limits })
  // The first run of a statement also loads files and plans, so it warms up and is not counted.
  for (const store of stores) await observe(noObservations(), () => runOn(store))
  for (let run = 0; run < runs; run++) {
    // The first store has colder caches, so the stores alternate.
    for (const store of run % 2 === 0 ? stores : stores.toReversed()) {
      const one = seen.get(store)
      if (one) await observe(one, () => runOn(store))
      signal.throwIfAborted()
    }
  }
  const checksums = [...seen.values()].flatMap(({ checksum }) => checksum ?? [])
  return {
    name,
    origin,
    kind,
    query: body,
    query_class: replay.query_class,
    stores: [...seen].map(([store, one]) => toStoreResult(store, one)),
    equal: checksums.length < 2 ? null : new Set(checksums).size === 1,
    ...comparePairs(
      seen.get('clickhouse')?.durations_ms ?? [],
      seen.get('postgres')?.durations_ms ?? [],
    ),
  }
}

async function findHolders(
  { chooseStore }: BenchmarkOptions,
  { project_id, query_class, entity, window }: Replay,
): Promise<StoreName[]> {
  const { candidates } = await chooseStore({ project_id, query_class, entity, window })
  const hasEntity = (store: StoreName) =>
    (storeCapabilities[store].entities as readonly string[]).includes(entity)
  const isHolder = (store: StoreName) =>
    (store === 'clickhouse' && hasEntity(store)) ||
    candidates.some((each) => each.store === store && each.eligible)
  return storeNames.filter(isHolder)
}

type Observed = {
  /** By run; undefined for a run that failed. */
  durations_ms: (number | undefined)[]
  errors: number
  error: string | null
  rows_read: number | null
  rows: number | null
  checksum: string | undefined
}

function noObservations(): Observed {
  const unknown = { error: null, rows_read: null, rows: null, checksum: undefined }
  return { durations_ms: [], errors: 0, ...unknown }
}

async function observe(seen: Observed, run: () => ReturnType<Replay['runOn']>): Promise<void> {
  try {
    const { rows, stats } = await run()
    seen.durations_ms.push(stats.duration_ms)
    seen.rows_read = stats.rows_read
    seen.rows = rows.length
    seen.checksum ??= checksumOf(rows)
  } catch (error) {
    seen.durations_ms.push(undefined)
    seen.errors += 1
    seen.error = error instanceof Error ? error.message.slice(0, error_chars_max) : String(error)
  }
}

const error_chars_max = 200

function toStoreResult(store: StoreName, seen: Observed): StoreResult {
  const { durations_ms, errors, error, rows_read, rows } = seen
  const sorted = durations_ms.filter((each) => each !== undefined).toSorted((a, b) => a - b)
  const at = (share: number) => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
    return value === undefined ? null : rounded(value)
  }
  const runs = durations_ms.length
  return { store, runs, errors, error, median_ms: at(0.5), p95_ms: at(0.95), rows_read, rows }
}
