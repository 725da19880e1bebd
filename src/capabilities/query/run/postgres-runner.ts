import {
  isRelationalUnavailable,
  ReadOverTime,
  type Relational,
  readBounded,
} from '../../../platform/relational/index.ts'
import { type QueryRunner, QueryTooExpensive } from './contract.ts'
import { planOfPostgres } from './postgres-plan.ts'
import { storeAway } from './store-problem.ts'

/** How long a plan may take to be made. */
const plan_ms_max = 1_000

type Pool = Relational<unknown>['pool']

/** Where queries run, and where there are connections left to cancel them by. */
type PostgresPools = { pool: Pool; cancel_through?: Pool }

/**
 * Runs statements on PostgreSQL. Of the limits it knows time; rows of the answer are in the statement.
 * It has no bound for what a statement reads or holds, and does not tell what one has read.
 */
export function openPostgresRunner({ pool, cancel_through = pool }: PostgresPools): QueryRunner {
  return {
    store: 'postgres',
    plan: async ({ text, params }, { signal }) => {
      const read = { params, name: 'looptrace explain', time_ms_max: plan_ms_max }
      const rows = await readBounded(pool, {
        ...read,
        ...{ signal, cancel_through },
        text: `EXPLAIN (FORMAT JSON) ${text}`,
      }).catch(rethrowOfPlan)
      return planOfPostgres(rows)
    },
    run: async ({ text, params }, { signal, limits, query_id }) => {
      const started_ms = performance.now()
      const rows = await readBounded(pool, {
        ...{ text, params, signal, cancel_through },
        name: `looptrace query ${query_id}`,
        time_ms_max: limits.time_ms_max,
      }).catch(rethrow)
      const duration_ms = performance.now() - started_ms
      return { rows, stats: { rows_read: null, bytes_read: null, duration_ms } }
    },
  }
}

function rethrow(error: unknown): never {
  if (error instanceof ReadOverTime) throw new QueryTooExpensive('time_ms_max', { cause: error })
  throw isRelationalUnavailable(error) ? storeAway('postgres', error) : error
}

/** A plan has a limit of its own: over it, the server is slow and the query is not at fault. */
function rethrowOfPlan(error: unknown): never {
  throw error instanceof ReadOverTime ? storeAway('postgres', error) : rethrow(error)
}
