import { isDeepStrictEqual } from 'node:util'
import { clickhouse } from '../../src/capabilities/query/compile/dialects/clickhouse.ts'
import { postgres } from '../../src/capabilities/query/compile/dialects/postgres.ts'
import {
  openClickHouseRunner,
  openPostgresRunner,
  type QueryLimits,
  type QueryRunner,
} from '../../src/capabilities/query/index.ts'
import { toJsonRow } from '../../src/capabilities/query/run/run-query.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { median } from '../rounds.ts'
import type { BenchEngine } from './engine.ts'
import { type HotLoadFacts, loadHotWindow } from './hot-load.ts'
import { momentsOf, type Row, statementOf, warmUps } from './measure.ts'
import { hotQuestions, type Moment, type Question } from './questions.ts'
import type { BenchServices } from './services.ts'

/** Times of one store in ms: from the question to rows in JSON. */
export type StoreTimes = { ms: number; spread_ms: readonly [number, number] }

/** The same question to both stores. */
export type HotQuestionFacts = {
  name: string
  goal_ms: number
  postgres: StoreTimes
  clickhouse: StoreTimes
  /** Rows of the last answer. */
  rows: number
  /** Whether both answered the same in every round. */
  equal: boolean
}

export type HotFacts = { load: HotLoadFacts; questions: HotQuestionFacts[] }

/** Fills the hot window, then asks both stores in turn, as the product's runners do. */
export async function measureHotWindow(
  engine: BenchEngine,
  services: BenchServices,
  rounds: number,
): Promise<HotFacts> {
  const load = await loadHotWindow(engine, services)
  const logger = createLogger({ role: 'bench', level: 'error' })
  const runners = [
    openPostgresRunner(services.relational),
    openClickHouseRunner({ columnar: engine.columnar, logger }),
  ]
  const facts: HotQuestionFacts[] = []
  for (const question of hotQuestions()) {
    const moments = await momentsOf(engine, question, rounds + warmUps, betweenWindowsMs)
    facts.push(await measureBoth(runners, question, moments))
  }
  return { load, questions: facts }
}

/** Windows have the same start and different ends, all within the hot window. */
const betweenWindowsMs = 10 * 60_000

const limits: QueryLimits = {
  rows_read_max: 100_000_000,
  bytes_read_max: 20_000_000_000,
  time_ms_max: 60_000,
  memory_bytes_max: 2_000_000_000,
  result_rows_max: 10_001,
}
const dialects = { clickhouse, postgres }

async function measureBoth(
  runners: readonly QueryRunner[],
  question: Question,
  moments: readonly Moment[],
): Promise<HotQuestionFacts> {
  const times = { clickhouse: [] as number[], postgres: [] as number[] }
  let equal = true
  let rows = 0
  for (const [at, moment] of moments.entries()) {
    const answers: Row[][] = []
    // The first one has the colder processor: they alternate.
    for (const runner of at % 2 === 0 ? runners : runners.toReversed()) {
      const answer = await askStore(runner, question, moment)
      times[runner.store].push(answer.took_ms)
      answers.push(answer.rows)
    }
    const [one = [], other = []] = answers
    rows = one.length
    equal &&= rows > 0 && sameAnswer(one, other)
  }
  const { name, goal_ms } = question
  const { clickhouse: columns, postgres: records } = times
  return { name, goal_ms, postgres: timesOf(records), clickhouse: timesOf(columns), rows, equal }
}

async function askStore(
  { store, run }: QueryRunner,
  question: Question,
  moment: Moment,
): Promise<{ took_ms: number; rows: Row[] }> {
  const { signal } = new AbortController()
  const start_ms = performance.now()
  const statement = statementOf(question, moment, dialects[store])
  const found = await run(statement, {
    project_id: question.project_id,
    signal,
    limits,
    query_id: newId(),
  })
  const rows = found.rows.map((row) => toJsonRow(row, statement.columns))
  return { took_ms: performance.now() - start_ms, rows }
}

function sameAnswer(one: readonly Row[], other: readonly Row[]): boolean {
  const same = (row: Row, second: Row) =>
    Object.entries(row).every(([name, value]) => isSame(value, second[name]))
  return one.length === other.length && one.every((row, at) => same(row, other[at] ?? {}))
}

/** Stores may round the last bits of floats differently. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'number' || typeof other !== 'number') return isDeepStrictEqual(one, other)
  return Math.abs(one - other) <= 1e-12 * Math.max(Math.abs(one), Math.abs(other))
}

function timesOf(all: readonly number[]): StoreTimes {
  const counted = all.slice(warmUps)
  return { ms: median(counted), spread_ms: [Math.min(...counted), Math.max(...counted)] }
}
