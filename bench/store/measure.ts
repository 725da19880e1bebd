import { compileAggregate } from '../../src/capabilities/query/compile/compile-aggregate.ts'
import { compileQuery } from '../../src/capabilities/query/compile/compile-query.ts'
import type { Dialect } from '../../src/capabilities/query/compile/dialect.ts'
import { clickhouse } from '../../src/capabilities/query/compile/dialects/clickhouse.ts'
import { namedParams, type Statement } from '../../src/capabilities/query/compile/statement.ts'
import { aggregateSchema } from '../../src/capabilities/query/language/aggregate-query.ts'
import { querySchema } from '../../src/capabilities/query/language/page-query.ts'
import { openClickHouseRunner } from '../../src/capabilities/query/run/clickhouse-runner.ts'
import { toJsonRow } from '../../src/capabilities/query/run/run-query.ts'
import type { QueryParams } from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { median } from '../rounds.ts'
import type { BenchEngine } from './engine.ts'
import { span } from './generated-rows.ts'
import type { Moment, Question } from './questions.ts'

/** Costs of one way of asking; times are medians in ms, from the question to rows in JSON. */
type Cost = {
  warm_ms: number
  spread_ms: readonly [number, number]
  cold_ms: number
  /** Processor time of ClickHouse in an average round. */
  cpu_ms: number
  rows_read: number
}

export type QuestionFacts = {
  name: string
  goal_ms: number
  compiled: Cost
  hand: Cost
  /** The compiled statement minus the other, in the same round; medians. */
  overhead_ms: number
  /** Parsing the body and compiling the statement. */
  compile_ms: number
  /** The store's own plan and estimate, as the explain route requests them. */
  explain_ms: number
  rows: number
  /** Whether both answered the same in every round. */
  equal: boolean
}

type Asked = { sql: string; params: QueryParams; shown: (row: Row) => Row; compile_ms: number }
type Compiled = Asked & { statement: Statement }
/** A row of an answer, by column name. */
export type Row = Record<string, unknown>
type Run = { took_ms: number; cpu_ms: number; compile_ms: number; rows: Row[] }

/** Asks in both ways in turn, after two rounds that do not count; then cold. */
export async function measureQuestion(
  engine: BenchEngine,
  question: Question,
  rounds: number,
): Promise<QuestionFacts> {
  const moments = await momentsOf(engine, question, rounds + warmUps)
  for (let time = 0; time < compileWarmUps; time += 1) {
    for (const moment of moments) compiledQuestion(question, moment)
  }
  const compiled: Run[] = []
  const hand: Run[] = []
  for (const [round, moment] of moments.entries()) {
    const ways = [
      () => ask(engine, () => compiledQuestion(question, moment)).then((run) => compiled.push(run)),
      () => askByHand(engine, question, moment).then((run) => hand.push(run)),
    ]
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) await way()
  }
  const equal = compiled.every(({ rows }, at) => sameRows(rows, hand[at]?.rows ?? []))
  const counted = { compiled: compiled.slice(warmUps), hand: hand.slice(warmUps) }
  const [last] = moments.slice(-1)
  if (last === undefined) throw new RangeError('no rounds')
  const explain_ms = await explainTime(engine, question, moments)
  return {
    name: question.name,
    goal_ms: question.goal_ms,
    compiled: await costOf(engine, counted.compiled, () => compiledQuestion(question, last)),
    hand: await costOf(engine, counted.hand, () => handQuestion(question, last)),
    overhead_ms: median(
      counted.compiled.map(({ took_ms }, at) => took_ms - (counted.hand[at]?.took_ms ?? 0)),
    ),
    compile_ms: median(counted.compiled.map(({ compile_ms }) => compile_ms)),
    explain_ms,
    rows: compiled[0]?.rows.length ?? 0,
    equal,
  }
}

/** An api has compiled many questions: its functions are machine code by then. */
const compileWarmUps = 50

/** Warm-up rounds that do not count. */
export const warmUps = 2

async function explainTime(
  { columnar }: BenchEngine,
  question: Question,
  moments: readonly Moment[],
): Promise<number> {
  const logger = createLogger({ role: 'bench', level: 'error' })
  const { plan } = openClickHouseRunner({ columnar, logger })
  const { signal } = new AbortController()
  const times: number[] = []
  for (const moment of moments) {
    const statement = statementOf(question, moment, clickhouse, { to_plan: true })
    const start_ms = performance.now()
    await plan(statement, { project_id: question.project_id, signal })
    times.push(performance.now() - start_ms)
  }
  return median(times.slice(warmUps))
}

async function costOf(
  engine: BenchEngine,
  runs: readonly Run[],
  asked: () => Asked,
): Promise<Cost> {
  const times = runs.map(({ took_ms }) => took_ms)
  const { sql, params } = asked()
  const rows_read = await engine.rowsRead(sql, params)
  await engine.forget()
  const cold = await ask(engine, asked)
  return {
    warm_ms: median(times),
    spread_ms: [Math.min(...times), Math.max(...times)],
    cold_ms: cold.took_ms,
    cpu_ms: runs.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0) / runs.length,
    rows_read,
  }
}

async function ask(engine: BenchEngine, question: () => Asked): Promise<Run> {
  const cpu_ms = await engine.cpu_ms()
  const start_ms = performance.now()
  const { sql, params, shown, compile_ms } = question()
  const found = await engine.columnar.query<Row>(sql, params)
  const rows = found.map(shown)
  const took_ms = performance.now() - start_ms
  return { took_ms, cpu_ms: (await engine.cpu_ms()) - cpu_ms, compile_ms, rows }
}

/** The statement of the query language's compiler. */
export function compiledQuestion(question: Question, at: Moment): Compiled {
  const start_ms = performance.now()
  const statement = statementOf(question, at, clickhouse)
  const params = namedParams(statement)
  const compile_ms = performance.now() - start_ms
  const shown = (row: Row) => toJsonRow(row, statement.columns)
  return { sql: statement.text, params, shown, compile_ms, statement }
}

/** The statement that the query language's compiler makes of a question for a store. */
export function statementOf(
  { kind, body, project_id }: Question,
  at: Moment,
  dialect: Dialect,
  how: { to_plan?: boolean } = {},
): Statement {
  const about = { project_id, dialect, ...how }
  return kind === 'page'
    ? compileQuery(querySchema.parse(body(at)).query, about)
    : compileAggregate(aggregateSchema.parse(body(at)), about)
}

/** Asks with the handwritten statement. */
export function askByHand(engine: BenchEngine, question: Question, at: Moment): Promise<Run> {
  return ask(engine, () => handQuestion(question, at))
}

function handQuestion({ hand, project_id: _ }: Question, at: Moment): Asked {
  return { ...hand(at), shown: (row) => row, compile_ms: 0 }
}

/** Pages are compared by their observations, sums by the last number of each row. */
export function sameRows(one: readonly Row[], other: readonly Row[]): boolean {
  const seen = (row: Row) => row['observation_id'] ?? Number(Object.values(row).at(-1)).toFixed(3)
  return one.length === other.length && one.every((row, at) => seen(row) === seen(other[at] ?? {}))
}

const hour_ms = 3_600_000
const betweenWindowsMs = 5 * hour_ms

/** Windows that end some time apart, and a trace of the project that began in each. */
export async function momentsOf(
  { columnar }: BenchEngine,
  { project_id }: Question,
  count: number,
  step_ms = betweenWindowsMs,
): Promise<Moment[]> {
  const moments: Moment[] = []
  for (let at = 0; at < count; at += 1) {
    const to_ms = span.to_ms - at * step_ms
    const [row] = await columnar.query<{ trace_id: string; ms: string }>(
      `SELECT trace_id, toUnixTimestamp64Milli(start_time) AS ms FROM observations
       WHERE project_id = {project:UUID} AND start_time >= fromUnixTimestamp64Milli({from:Int64})
       ORDER BY start_time LIMIT 1`,
      { project: project_id, from: to_ms - 31 * hour_ms },
    )
    if (row) moments.push({ to_ms, trace_id: row.trace_id, trace_ms: Number(row.ms) })
  }
  return moments
}
