import { newId } from '../../../kernel/ids.ts'
import { aggregateSchema } from '../language/aggregate-query.ts'
import { querySchema } from '../language/page-query.ts'
import { type JsonValue, toJsonRow } from '../query.ts'
import type { QueryLimits, QueryRunner, QueryStats, RoutingRequest, Served } from './contract.ts'
import { prepareAggregate, prepareQuery } from './prepare-run.ts'
import { dialects, type PreparedRun } from './run-query.ts'

/** A recorded query that can be run again on any store. */
export type Replay = RoutingRequest & {
  /** Runs the query on a store, regardless of the project's routing. Rejects like the runner. */
  runOn(
    runner: QueryRunner,
    options: { signal: AbortSignal; limits: QueryLimits },
  ): Promise<{ rows: Record<string, JsonValue>[]; stats: QueryStats }>
}

/** Reads a recorded query. Returns undefined if it is no longer valid: its fields changed. */
export function readReplay(
  { kind, body }: Pick<Served['query'], 'kind' | 'body'>,
  project_id: string,
): Replay | undefined {
  const prepared = prepareAgain(kind, body, project_id)
  if (prepared === undefined) return undefined
  const { query_class, entity, window } = prepared
  return {
    ...{ project_id, query_class, entity, window },
    runOn: async (runner, { signal, limits }) => {
      const statement = prepared.compile(dialects[runner.store])
      const result = await runner.run(statement, { signal, limits, query_id: newId() })
      return {
        rows: result.rows.map((row) => toJsonRow(row, statement.columns)),
        stats: result.stats,
      }
    },
  }
}

/** Never aborts: `runOn` passes a signal of its own. */
const neverAborts = new AbortController().signal

function prepareAgain(
  kind: Served['query']['kind'],
  body: object,
  project_id: string,
): PreparedRun | undefined {
  const caller = { project_id, signal: neverAborts }
  if (kind === 'aggregate') {
    const { data } = aggregateSchema.safeParse(body)
    return data && prepareAggregate(data, caller)
  }
  const { data } = querySchema.safeParse(body)
  return data && prepareQuery(data.query, caller, () => undefined)
}
