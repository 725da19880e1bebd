import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSignals, type Rule } from '../../src/capabilities/incidents/index.ts'
import { ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import {
  refreshDefaults,
  refreshMinutes,
} from '../../src/capabilities/incidents/signals/minutes.ts'
import { openClickHouseLedgerStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import {
  type DetectionTables,
  migrateRelational,
  openRelational,
  type Relational,
  startEmbeddedPostgres,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { usageOf } from '../process-usage.ts'
import { median } from '../rounds.ts'
import { type BenchEngine, startBenchEngine } from '../store/engine.ts'
import type { SignalsFacts, SignalsRow } from './facts.ts'

const rules_per_project = 50
const callsPerMinute = 100
const hours = 6
const minute_ms = 60_000
/** Slots of an evaluation: the newest one, and the five before for late rows. */
const slots = 6

type Tables = TaskTables & DetectionTables
type Stores = { engine: BenchEngine; relational: Relational<Tables>; postgres_pid: number }

/** Measures the processor time of the signals of 1,000 rules, 50 for each project. */
export async function measureSignals(rounds: number, projects = 20): Promise<SignalsFacts> {
  await using parts = new AsyncDisposableStack()
  const engine = await startBenchEngine()
  parts.defer(() => engine.stop())
  const stores = { engine, ...(await startRelational(parts)) }
  const ids = Array.from({ length: projects }, () => newId())
  const end_ms = Math.floor(Date.now() / minute_ms) * minute_ms - minute_ms
  for (const project_id of ids) await fill(stores, project_id, end_ms)
  const rows: SignalsRow[] = []
  for (const kind of ['alike', 'distinct'] as const) {
    rows.push(await measureKind(stores, { kind, ids, end_ms, rounds }))
    console.log(rows.at(-1))
  }
  return { rounds, rows }
}

async function startRelational(parts: AsyncDisposableStack) {
  const logger = createLogger({ role: 'bench', level: 'error' })
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-signals-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const data = join(directory, 'postgres')
  const postgres = await startEmbeddedPostgres({ directory: data, logger })
  parts.defer(() => postgres.stop())
  const relational = openRelational<Tables>({
    scope: allTenants,
    url: postgres.url,
    pool_max: 4,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 60_000,
    logger,
  })
  parts.defer(() => relational.close())
  await migrateRelational({ url: postgres.url, logger })
  const [pid = ''] = (await readFile(await postmasterFile(data), 'utf8')).split('\n')
  return { relational, postgres_pid: Number(pid) }
}

async function postmasterFile(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true })
  return join(directory, files.find((file) => file.endsWith('postmaster.pid')) ?? '')
}

/** Stores calls of six hours, each 2 s after its start, and tasks. */
async function fill({ engine, relational }: Stores, project_id: string, end_ms: number) {
  const rows = callsPerMinute * 60 * hours
  await engine.columnar.command(
    `INSERT INTO observations (project_id, trace_id, observation_id, type, start_time, end_time, status,
       model, provider, environment, task_name, release, task_id, cost_usd, input_uncached_tokens,
       time_to_first_token_ms, message_id, ingested_at)
     SELECT {project:UUID}, reinterpretAsUUID(sipHash128(number)), toString(number), 'generation',
       at, at + (number * 7919 % 9000) / 1000, if(number % 29 = 0, 'error', 'ok'),
       concat('model-', toString(number % 7)), concat('provider-', toString(number % 3)),
       if(number % 5 = 0, 'staging', 'production'), concat('task-', toString(number % 40)), 'v1',
       concat('t', toString(intDiv(number, 8))), number % 100 / 10000, number % 5000, 200, 'm',
       at + toIntervalSecond(2)
     FROM (SELECT number, fromUnixTimestamp64Milli({end:Int64}, 'UTC')
       - toIntervalMillisecond(intDiv(number * 60000, {per:UInt32})) AS at
       FROM numbers({rows:UInt64}))`,
    { project: project_id, end: BigInt(end_ms), per: callsPerMinute, rows },
    { timeout_ms: 600_000 },
  )
  await relational.pool.query(
    `insert into tasks (project_id, task_id, name, implicit, state, ended_at, started_at, last_activity_at, calls, models)
     select $1, 't' || n, 'task-' || n % 40, false, 'completed', at, at, at, 8, array['model-' || n % 7]
     from (select n, to_timestamp($2::float8 / 1000) - make_interval(secs => n * 5) as at
       from generate_series(1, 4000) as n) as numbers`,
    [project_id, end_ms],
  )
}

type Kind = { kind: SignalsRow['rules']; ids: readonly string[]; end_ms: number; rounds: number }

async function measureKind(
  stores: Stores,
  { kind, ids, end_ms, rounds }: Kind,
): Promise<SignalsRow> {
  const { engine, relational } = stores
  const logger = createLogger({ role: 'bench', level: 'warn' })
  const signals = openSignals({
    columnar: engine.columnar,
    relational,
    logger,
    clock: systemClock,
    ledger: openClickHouseLedgerStore({ columnar: engine.columnar }),
    queue: {
      oldestAgeMs: async () => 0,
      stats: async () => ({ pending: 0, pending_bytes: 0, dead: 0, oldest_age_ms: 0 }),
    },
  })
  const rules = Array.from({ length: rules_per_project }, (_, at) => ruleOf(kind, at))
  const minute = async () => {
    const settings = { ...refreshDefaults, signal: new AbortController().signal }
    for (const project_id of ids) {
      await refreshMinutes(engine.columnar, project_id, settings)
      const asked = rules.flatMap((rule, at) =>
        Array.from({ length: slots }, (_, slot) => ({
          rule_id: `${at}`,
          rule,
          end_ms: end_ms - slot * minute_ms,
        })),
      )
      const measured = await signals.measure({ project_id, slots: asked, lag_ms: 0 })
      if (measured.some((one) => 'error' in one)) throw new Error('a measurement failed')
    }
  }
  await minute()
  const found: Record<'node_ms' | 'clickhouse_ms' | 'postgres_ms' | 'wall_ms', number>[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = await usage(stores)
    const start_ms = performance.now()
    await minute()
    const wall_ms = performance.now() - start_ms
    const after = await usage(stores)
    found.push({
      wall_ms,
      node_ms: after.node_ms - before.node_ms,
      clickhouse_ms: after.clickhouse_ms - before.clickhouse_ms,
      postgres_ms: after.postgres_ms - before.postgres_ms,
    })
  }
  const of = (name: keyof (typeof found)[number]) => median(found.map((one) => one[name]))
  return {
    rules: kind,
    count: rules.length * ids.length,
    projects: ids.length,
    calls_per_minute: callsPerMinute * ids.length,
    node_ms: of('node_ms'),
    clickhouse_ms: of('clickhouse_ms'),
    postgres_ms: of('postgres_ms'),
    wall_ms: of('wall_ms'),
  }
}

/** Ten filters, or one for each rule. Of ten rules, seven read calls, and one each the others. */
function ruleOf(kind: SignalsRow['rules'], at: number): Rule {
  const filter = kind === 'alike' ? at % 10 : at
  const about = { name: 'rule', severity: 'low', selector: { task_name: [`task-${filter}*`] } }
  const group_by = filter % 2 === 0 ? ['model'] : []
  const threshold = 0.5
  const signal = ['error_rate', 'latency_p95', 'cost', 'tokens', 'ttft_p95', 'error_rate', 'cost']
  const kinds = [
    ...signal.map((one, index) => {
      return { condition: { signal: one, window: index % 2 === 0 ? '5m' : '10m', threshold } }
    }),
    { burn_rate: { signal: 'error_rate', objective: 0.95, preset: 'standard' } },
    { condition: { signal: 'loop_rate', window: '30m', threshold } },
    { condition: { signal: 'failure_count', window: '10m', threshold } },
  ]
  return ruleShape.parse({ ...about, group_by, ...kinds[Math.floor(at / 5) % kinds.length] })
}

async function usage({ engine, postgres_pid }: Stores) {
  const { user, system } = process.cpuUsage()
  return {
    node_ms: (user + system) / 1_000,
    clickhouse_ms: await engine.cpu_ms(),
    postgres_ms: await treeTimeMs(postgres_pid),
  }
}

/** Processor time of a process and its children. */
async function treeTimeMs(pid: number): Promise<number> {
  const lists = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1')
  const pids = [
    pid,
    ...lists
      .split(' ')
      .filter((text) => text.trim() !== '')
      .map(Number),
  ]
  const times = await Promise.all(
    pids.map((one) =>
      usageOf(one).then(
        ({ cpu_ms }) => cpu_ms,
        () => 0,
      ),
    ),
  )
  return times.reduce((all, one) => all + one, 0)
}
