import { newId } from '../../../kernel/ids.ts'
import { rowOf, type Shown } from '../compile/read-rows.ts'
import { aggregateSchema, querySchema } from '../language/schemas.ts'
import { askedAggregate, askedQuery } from './asked-run.ts'
import type { QueryLimits, QueryRunner, QueryStats, Served, StoreAsked } from './contract.ts'
import { type AskedRun, dialects } from './run-query.ts'

/** A query that can be run on each store. */
export type Replay = StoreAsked & {
  /** Runs it to its end, whatever a project's routing says. Rejects as the runner does. */
  runOn(
    runner: QueryRunner,
    about: { signal: AbortSignal; limits: QueryLimits },
  ): Promise<{ rows: Record<string, Shown>[]; stats: QueryStats }>
}

/** Reads a query as it was recorded; undefined when it is none any more: its fields changed. */
export function replayOf(
  { kind, body }: Pick<Served['query'], 'kind' | 'body'>,
  project_id: string,
): Replay | undefined {
  const asked = askedOf(kind, body, project_id)
  if (asked === undefined) return undefined
  const { query_class, entity, window } = asked
  return {
    ...{ project_id, query_class, entity, window },
    runOn: async (runner, { signal, limits }) => {
      const statement = asked.compile(dialects[runner.store])
      const ran = await runner.run(statement, { signal, limits, query_id: newId() })
      return { rows: ran.rows.map((row) => rowOf(row, statement.columns)), stats: ran.stats }
    },
  }
}

/** Nobody waits for the answer of the run that is asked for here. */
const nobody = new AbortController().signal

function askedOf(
  kind: Served['query']['kind'],
  body: object,
  project_id: string,
): AskedRun | undefined {
  const caller = { project_id, signal: nobody }
  if (kind === 'aggregate') {
    const { data } = aggregateSchema.safeParse(body)
    return data && askedAggregate(data, caller)
  }
  const { data } = querySchema.safeParse(body)
  return data && askedQuery(data.query, caller, () => undefined)
}
