import type pg from 'pg'
import { findDueProjects } from '../../src/capabilities/incidents/worker/due-projects.ts'
import { claimProjects } from '../../src/capabilities/incidents/worker/leases.ts'
import { oldestSlotStatement } from '../../src/capabilities/incidents/worker/open-evaluator.ts'
import { claimStatement } from '../../src/capabilities/jobs/claim-job.ts'
import { dueArchives } from '../../src/capabilities/lifecycle/retention/schedule/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type IncidentTables,
  type JobTables,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { startRelational } from '../start-relational.ts'
import { fillProjects } from './fill.ts'

type Tables = IncidentTables & JobTables
type Db = Relational<Tables>['db']

/** Rules of each project. */
const rules = Number(process.env['RULES'] ?? 100)
const sizes = (process.env['PROJECTS'] ?? '100,1000,10000').split(',').map(Number)
const rounds = 5

/** A tick with its cost, by the number of projects. */
type Row = { tick: string } & Record<string, number | string>

/**
 * `npm run bench -- scale`: fills PostgreSQL with projects, rules, leases and the daily runs of all
 * projects (SQL, `generate_series`), and measures the statements of ticks at each size: what grows
 * with the number of projects is a wall. PROJECTS=100,1000,10000 and RULES=100 set the sizes.
 */
export async function printScale(): Promise<void> {
  const rows = new Map<string, Row>()
  for (const projects of sizes) {
    await using parts = new AsyncDisposableStack()
    const { db, pool } = await startRelational<Tables>(parts, {
      shared_preload_libraries: 'pg_stat_statements',
    })
    await pool.query('create extension pg_stat_statements')
    const filled = await fillProjects(pool, { projects, rules })
    for (const [tick, { ms, blocks }] of await measureTicks(pool, db, filled)) {
      const row = rows.get(tick) ?? { tick }
      rows.set(tick, { ...row, [`${projects}: ms`]: ms, [`${projects}: blocks`]: blocks })
    }
    console.table([...rows.values()])
  }
}

type Filled = Awaited<ReturnType<typeof fillProjects>>

async function measureTicks(
  pool: pg.Pool,
  db: Db,
  { holder, some }: Filled,
): Promise<Map<string, Cost>> {
  const lease_ms = 600_000
  const now_ms = Date.now()
  const due = { holder, kind: 'due_at', now_ms, but: [], limit: 256 } as const
  const claim = { kinds: ['retention'], lease_owner: newId(), lease_ms }
  const ticks: Record<string, () => Promise<unknown>> = {
    'claim projects (nothing to move)': () => claimProjects(db, { holder, lease_ms, held: 1 }),
    'due projects, 256 at most': () => findDueProjects(db, due),
    'last slots of one project': () => readLastSlots(db, some.slice(0, 1)),
    'last slots of 256 projects': () => readLastSlots(db, some),
    'claim one of all daily runs': () => claimStatement(claim).execute(db),
    'due slots of retention': () => readDueSlots(db),
    'schedules of archives': () => readSchedules(db),
    'mutable projects': () => readUnresolved(db, holder),
    'gauge: oldest slot': () => oldestSlotStatement.execute(db),
  }
  const costs = new Map<string, Cost>()
  for (const [tick, run] of Object.entries(ticks)) costs.set(tick, await measure(pool, run))
  return costs
}

/** Execution time in PostgreSQL, and blocks of 8 KiB that were read from its memory or the disk. */
type Cost = { ms: number; blocks: number }

/** Means of the rounds, by pg_stat_statements, without planning. */
async function measure(pool: pg.Pool, run: () => Promise<unknown>): Promise<Cost> {
  await run()
  await pool.query('select pg_stat_statements_reset()')
  for (let round = 0; round < rounds; round += 1) await run()
  const { rows } = await pool.query<Cost>(`
    select (sum(total_exec_time) / ${rounds})::float8 as ms,
      round(sum(shared_blks_hit + shared_blks_read) / ${rounds})::float8 as blocks
    from pg_stat_statements
    where query not like '%pg_stat_statements%' and query not like 'select set_config%'`)
  const { ms, blocks } = rows[0] ?? { ms: Number.NaN, blocks: Number.NaN }
  return { ms: Number(ms.toFixed(2)), blocks }
}

function readLastSlots(db: Db, projects: readonly string[]) {
  return sql`
    select id, rule.project_id, version, last_slot, evaluated_at, partial, failures
    from incident_rules as rule left join rule_evaluations on rule_id = id
    where rule.project_id = any(${[...projects]}::uuid[]) and not suspended and kind <> 'event'
    order by id`.execute(db)
}

function readDueSlots(db: Db) {
  return sql`
    select project_id, next_run_at, updated_at from retention_policies
    where next_run_at is null or next_run_at <= now() order by project_id limit 500`.execute(db)
}

function readSchedules(db: Db) {
  const due = { now: new Date(), after: undefined, limit: 500 }
  return dueArchives(db as never, due).execute()
}

function readUnresolved(db: Db, holder: string) {
  return sql`
    select project_id from incidents where state <> 'resolved' and project_id in (
      select project_id from evaluation_leases where holder = ${holder}::uuid)
    group by project_id`.execute(db)
}
