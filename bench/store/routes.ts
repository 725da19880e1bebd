import { queryLimits } from '../../src/capabilities/query/language/limits.ts'
import { median } from '../rounds.ts'
import type { BenchEngine } from './engine.ts'
import { askByHand, momentsOf, type Row, sameRows, warmUps } from './measure.ts'
import { type Moment, type Question, questions } from './questions.ts'
import type { BenchServices } from './services.ts'

/** A question through the routes of the api; medians in ms, from the request to the rows. */
export type RouteFacts = {
  name: string
  goal_ms: number
  route_ms: number
  spread_ms: readonly [number, number]
  hand_ms: number
  /** The route minus the handwritten statement on ClickHouse, in the same round. */
  overhead_ms: number
  explain_ms: number
  /** Whether both answered the same in every round. */
  equal: boolean
}

/** Asks every question of the api and by hand in turn, and explains it with the api. */
export async function measureRoutes(
  engine: BenchEngine,
  services: BenchServices,
  rounds: number,
): Promise<RouteFacts[]> {
  const facts: RouteFacts[] = []
  for (const question of questions()) {
    const moments = await momentsOf(engine, question, rounds + warmUps)
    const found: Round[] = []
    for (const [at, moment] of moments.entries()) {
      found.push(await oneRound({ engine, services }, question, moment, at % 2 === 0))
    }
    facts.push(factsOf(question, found))
  }
  return facts
}

type Round = { route_ms: number; hand_ms: number; explain_ms: number; equal: boolean }
type Parts = { engine: BenchEngine; services: BenchServices }

async function oneRound(
  { engine, services }: Parts,
  question: Question,
  moment: Moment,
  route_first: boolean,
): Promise<Round> {
  const { kind, project_id } = question
  const root = '/api/v2/observability/query'
  const body = question.body(moment)
  const path = kind === 'page' ? root : `${root}/aggregate`
  const ask = () => timed(() => services.post(path, project_id, body))
  const early = route_first ? await ask() : undefined
  const hand = await askByHand(engine, question, moment)
  const route = early ?? (await ask())
  const explain = await timed(() => services.post(`${root}/explain`, project_id, body))
  const limit = Number(body['limit'] ?? queryLimits.rows_default)
  const shown = route.answer['rows'] as Row[]
  return {
    route_ms: route.took_ms,
    hand_ms: hand.took_ms,
    explain_ms: explain.took_ms,
    // The handwritten statement reads one row more than it shows, to detect a next page.
    equal: sameRows(shown, hand.rows.slice(0, limit)),
  }
}

async function timed<Answer>(ask: () => Promise<Answer>) {
  const start_ms = performance.now()
  const answer = await ask()
  return { answer, took_ms: performance.now() - start_ms }
}

function factsOf({ name, goal_ms }: Question, rounds: readonly Round[]): RouteFacts {
  const counted = rounds.slice(warmUps)
  const times = counted.map(({ route_ms }) => route_ms)
  return {
    name,
    goal_ms,
    route_ms: median(times),
    spread_ms: [Math.min(...times), Math.max(...times)],
    hand_ms: median(counted.map(({ hand_ms }) => hand_ms)),
    overhead_ms: median(counted.map(({ route_ms, hand_ms }) => route_ms - hand_ms)),
    explain_ms: median(counted.map(({ explain_ms }) => explain_ms)),
    equal: rounds.every(({ equal }) => equal),
  }
}
