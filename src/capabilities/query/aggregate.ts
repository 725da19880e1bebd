import { z } from 'zod'
import { isoFromNs } from '../../kernel/time.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type Aggregate, aggregateSchema } from './language/aggregate-query.ts'
import { startsOf } from './language/buckets.ts'
import { answerFields, toAnswerColumns, toAnswerStats } from './query.ts'
import type { RunDeps } from './run/open-queries.ts'
import { prepareAggregate } from './run/prepare-run.ts'
import { addRestoredSlices, type JsonValue, runQuery, toJsonRow } from './run/run-query.ts'

/** POST /api/v2/observability/query/aggregate: returns measures of groups of records. */
export function runAggregateRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query/aggregate',
    id: 'runAggregate',
    summary: 'Aggregate records by group',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    body: aggregateSchema,
    reply: aggregateReply,
    errors: ['query_too_expensive', 'rate_limited', 'store_unavailable'],
    handle: ({ body: aggregate, caller: { project_id }, signal }) =>
      answerAggregate(deps, { aggregate, project_id, signal }),
  })
}

/** The answer of POST query/aggregate. */
const aggregateReply = z
  .strictObject({
    ...answerFields,
    truncated: z
      .boolean()
      .describe(
        'Whether groups above the limit were left out. With `fill`, whole buckets are left out.',
      ),
  })
  .meta({ id: 'AggregateAnswer' })

/** An aggregate query and its caller. */
type AggregateRequest = { aggregate: Aggregate; project_id: string; signal: AbortSignal }

/** Runs an aggregate and returns its answer. Throws like `runQuery`. */
export async function answerAggregate(
  deps: RunDeps,
  { aggregate: body, ...caller }: AggregateRequest,
) {
  const aggregate = await addRestoredSlices(deps, body, caller.project_id)
  const { statement, rows, served_by, fallback_reason, stats } = await runQuery(
    deps,
    prepareAggregate(aggregate, caller),
  )
  const { columns } = statement
  const jsonRows = rows.map((row) => toJsonRow(row, columns))
  const groups = {
    rows: jsonRows.slice(0, aggregate.limit),
    truncated: jsonRows.length > aggregate.limit,
  }
  const { rows: whole, truncated } = aggregate.fill ? fillGaps(aggregate, jsonRows) : groups
  return {
    rows: whole,
    columns: toAnswerColumns(columns),
    truncated,
    served_by,
    fallback_reason,
    stats: toAnswerStats(stats),
  }
}

type Row = Record<string, JsonValue>

/**
 * Fills gaps between the rows of an aggregate, which are sorted by bucket: each group of the answer
 * gets a row in every bucket of the window. Above the limit, leaves out the last buckets, each one
 * as a whole.
 */
export function fillGaps(
  aggregate: Aggregate,
  rows: readonly Row[],
): { rows: Row[]; truncated: boolean } {
  const { limit, groups } = aggregate
  const buckets = bucketsOf(aggregate)
  const cut = rows.length > limit ? rows.at(-1)?.['time_bucket'] : undefined
  const whole = cut === undefined ? buckets : buckets.filter((bucket) => bucket < String(cut))
  const keys = groups.filter(({ kind }) => kind === 'field').map(({ name }) => name)
  const combinations = groupsIn(rows, aggregate.top_n ? [...keys, 'other'] : keys)
  const fitting = Math.max(1, Math.floor(limit / Math.max(1, combinations.length)))
  const shown = whole.slice(0, fitting)
  const empty = emptyMeasures(aggregate)
  const byBucket = Map.groupBy(rows, (row) => String(row['time_bucket']))
  const filled = shown.flatMap((time_bucket) => {
    const known = byBucket.get(time_bucket) ?? []
    const byGroup = new Map(known.map((row) => [keyOf(row, combinations), row]))
    return combinations.map(
      (group) => byGroup.get(keyOf(group, combinations)) ?? { ...group, time_bucket, ...empty },
    )
  })
  return { rows: filled.slice(0, limit), truncated: shown.length < buckets.length }
}

/** Returns the starts of all buckets that overlap the window, earliest first. */
function bucketsOf({ window, groups }: Aggregate): string[] {
  const bucket = groups.find((group) => group.kind === 'bucket')
  if (bucket?.kind !== 'bucket') throw new RangeError('gaps are filled between buckets')
  return startsOf(bucket, window).map(isoFromNs)
}

/** Returns each group once, without bucket and measures, in order of first appearance. */
function groupsIn(rows: readonly Row[], names: readonly string[]): Row[] {
  if (names.length === 0) return [{}]
  const groups = new Map<string, Row>()
  for (const row of rows) {
    const group = Object.fromEntries(names.map((name) => [name, row[name] ?? null]))
    groups.set(JSON.stringify(group), group)
  }
  return [...groups.values()]
}

function keyOf(row: Row, [some]: readonly Row[]): string {
  return JSON.stringify(Object.keys(some ?? {}).map((name) => row[name] ?? null))
}

/** Returns the measures of an empty bucket: 0 for counts, sums and rates, else null. */
function emptyMeasures({ measures }: Aggregate): Row {
  return Object.fromEntries(
    measures.map(({ name, fn, type }) => {
      const zero = type === 'decimal' ? '0' : 0
      const counts = fn === 'count' || fn === 'count_distinct' || fn === 'sum' || fn === 'rate'
      return [name, counts ? zero : null]
    }),
  )
}
