import {
  chooseByEntity,
  openClickHouseRunner,
  openPostgresRunner,
  openQueries,
} from '../../src/capabilities/query/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import {
  findCriticalPath,
  longestRoot,
} from '../../src/capabilities/traces/critical-path/find-path.ts'
import { findSlack } from '../../src/capabilities/traces/critical-path/find-slack.ts'
import { traceRoutes } from '../../src/capabilities/traces/index.ts'
import { buildTree } from '../../src/capabilities/traces/tree/build-tree.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { median } from '../rounds.ts'
import { runRoute } from '../run-route.ts'
import { type BenchEngine, startBenchEngine } from '../store/engine.ts'
import type { ExplorerFacts, ExplorerRow, OutlineRow, PageRow } from './facts.ts'
import { type Asked, measureOutline, timeOf } from './outline.ts'
import { type Shape, shapes, traceOf } from './trace-shapes.ts'

const sizes = [10_000, 100_000]
/** Warm-up rounds that do not count. */
const warmUps = 2
const insert_rows = 10_000

/**
 * Measures trees, critical paths and their pages for traces with 10,000 and 100,000 observations.
 */
export async function measureExplorer(rounds: number): Promise<ExplorerFacts> {
  const rows = shapes.flatMap((shape) => sizes.map((size) => measurePure(shape, size, rounds)))
  const engine = await startBenchEngine()
  try {
    const pages: PageRow[] = []
    const outlines: OutlineRow[] = []
    for (const size of sizes) {
      const of = { project_id: newId(), trace_id: newId() }
      await insert(engine, traceOf('agents', size, of))
      const ask = routesOf(engine, of)
      pages.push(await measurePages(engine, { observations: size, of, ask, rounds }))
      outlines.push(await measureOutline({ observations: size, of, ask, rounds }))
    }
    return { rows, pages, outlines }
  } finally {
    await engine.stop()
  }
}

function measurePure(shape: Shape, observations: number, rounds: number): ExplorerRow {
  const rows = traceOf(shape, observations, { project_id: newId(), trace_id: newId() })
  const tree_ms: number[] = []
  const path_ms: number[] = []
  for (let round = 0; round < rounds + warmUps; round += 1) {
    const start_ms = performance.now()
    const tree = buildTree(rows)
    const built_ms = performance.now()
    const root = longestRoot(tree)
    if (root === undefined) throw new RangeError('a trace has a root')
    findSlack(findCriticalPath(root))
    tree_ms.push(built_ms - start_ms)
    path_ms.push(performance.now() - built_ms)
  }
  const counted = (times: number[]) => median(times.slice(warmUps))
  return { shape, observations, tree_ms: counted(tree_ms), path_ms: counted(path_ms) }
}

/**
 * Both ways in turn, in alternating order, so that drift of the machine does not affect the ratio.
 */
async function measurePages(
  engine: BenchEngine,
  { observations, of, ask, rounds }: Asked,
): Promise<PageRow> {
  const times = { explorer: [] as number[], path: [] as number[], hand: [] as number[] }
  const ways = [
    async () => times.explorer.push(await timeOf(() => ask('explorer'))),
    async () => times.path.push(await timeOf(() => ask('critical-path'))),
    async () => times.hand.push(await timeOf(() => byHand(engine, of))),
  ]
  for (let round = 0; round < rounds + warmUps; round += 1) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) await way()
  }
  const counted = (all: number[]) => all.slice(warmUps)
  const ratios = counted(times.explorer).map((each, at) => each / (counted(times.hand)[at] ?? 1))
  return {
    observations,
    explorer_ms: median(counted(times.explorer)),
    critical_path_ms: median(counted(times.path)),
    hand_ms: median(counted(times.hand)),
    ratio: median(ratios),
  }
}

async function insert({ columnar }: BenchEngine, rows: readonly Observation[]): Promise<void> {
  const store = openClickHouseStore({ columnar })
  for (let at = 0; at < rows.length; at += insert_rows) {
    await store.insert(rows.slice(at, at + insert_rows), { token: newId() })
  }
}

/** Runs a route as the server does, to the JSON of its answer. */
function routesOf(
  { columnar }: BenchEngine,
  { project_id, trace_id }: { project_id: string; trace_id: string },
): Asked['ask'] {
  const logger = createLogger({ role: 'bench', level: 'error' })
  const noPool = {} as Parameters<typeof openPostgresRunner>[0]
  const queries = openQueries({
    runners: {
      clickhouse: openClickHouseRunner({ columnar, logger }),
      postgres: openPostgresRunner(noPool),
    },
    chooseStore: chooseByEntity,
    onServed: () => undefined,
    logger,
    metrics: createMetrics(),
    settings: {
      query_rows_read_max: 1_000_000_000,
      query_bytes_read_max: 100_000_000_000,
      query_time_ms_max: 60_000,
      query_memory_bytes_max: 4_000_000_000,
      query_result_rows_max: 10_000,
    },
  })
  const routes = traceRoutes({
    records: openClickHouseRecordStore({ columnar }),
    queries,
    findings: async () => [],
  })
  return async (name, query = {}) =>
    JSON.stringify(await runRoute(routes, { last: name, project_id, params: { trace_id }, query }))
}

/** The same columns by a bare statement. */
async function byHand(
  { columnar }: BenchEngine,
  { project_id, trace_id }: { project_id: string; trace_id: string },
): Promise<number> {
  const rows = await columnar.query(
    `SELECT trace_id, observation_id, parent_observation_id, type, name, status, source,
       service_name, span_kind, task_id, task_name,
       toUnixTimestamp64Nano(start_time) AS start_ns, toUnixTimestamp64Nano(end_time) AS end_ns,
       toString(cost_usd) AS cost, input_uncached_tokens, cache_read_tokens, cache_write_tokens,
       output_visible_tokens, reasoning_tokens
     FROM observations
     WHERE project_id = {project:UUID} AND trace_id = {trace:UUID}
     ORDER BY start_time, trace_id, observation_id, ingested_at DESC
     LIMIT 1 BY start_time, trace_id, observation_id`,
    { project: project_id, trace: trace_id },
  )
  return rows.length
}
