import type { Param, Statement } from '../compile/statement.ts'
import type { Aggregate } from '../language/check-aggregate.ts'
import type { Query } from '../language/check-query.ts'
import { askedAggregate, askedQuery } from './asked-run.ts'
import type { QueryLimits, StorePlan } from './contract.ts'
import { positionIn } from './page-cursor.ts'
import { warningsOf } from './query-warnings.ts'
import { type AskedRun, dialects, inTurn, type RunDeps, storesFor } from './run-query.ts'
import { withSlices } from './with-slices.ts'

/** A query with where its page begins, or an aggregate. */
export type Explained = { query: Query; cursor: string | undefined } | { aggregate: Aggregate }

type Caller = { project_id: string; signal: AbortSignal }

/** Tells what running a query would do. Throws `store_unavailable`, `invalid_cursor`. */
export async function explainQuery(deps: RunDeps, given: Explained & Caller) {
  const asked = await askedFor(deps, given)
  const choice = await storesFor(deps, asked)
  const [chosen = 'clickhouse'] = choice.order
  const statement = asked.compile(dialects[chosen])
  const planned = asked.compile(dialects[chosen], { to_plan: true })
  const plan = await inTurn(deps, asked, () => deps.runners[chosen].plan(planned, asked))
  return {
    kind: asked.query.kind,
    query_class: asked.query_class,
    query: asked.query.body as Record<string, unknown>,
    store: {
      ...{ chosen, fallback: choice.fallback },
      candidates: choice.candidates.map((each) => ({ ...each })),
    },
    statement: shownStatement(statement, dialects[chosen].param_name),
    plan: [...plan.lines],
    estimate: shownEstimate(plan),
    limits: shownLimits(deps.limits),
    warnings: warningsOf('aggregate' in given ? given.aggregate : given.query, {
      ...{ plan, statement, limits: deps.limits },
    }),
  }
}

async function askedFor(deps: RunDeps, given: Explained & Caller): Promise<AskedRun> {
  const { project_id } = given
  if ('aggregate' in given) {
    return askedAggregate(await withSlices(deps, given.aggregate, project_id), given)
  }
  const { cursor } = given
  const query = await withSlices(deps, given.query, project_id)
  const asked: AskedRun = askedQuery(query, given, ({ keys }) =>
    cursor === undefined
      ? undefined
      : positionIn(`${asked.entity} ${asked.query.hash}`, cursor, keys),
  )
  return asked
}

function shownStatement({ text, params }: Statement, nameOf: (at: number) => string) {
  return { text, params: params.map((value, at) => ({ name: nameOf(at), value: shown(value) })) }
}

function shown(value: Param): unknown {
  if (typeof value === 'object') return value.map(shown)
  return typeof value === 'bigint' ? String(value) : value
}

function shownEstimate({ estimate, parts, granules, skipped_share }: StorePlan) {
  return { ...estimate, parts, granules, skipped_share }
}

function shownLimits(limits: QueryLimits): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [`query_${name}`, value]))
}
