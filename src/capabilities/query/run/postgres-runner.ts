import {
  isRelationalUnavailable,
  ReadOverTime,
  type Relational,
  readBounded,
} from '../../../platform/relational/index.ts'
import {
  type QueryRunner,
  QueryTooExpensive,
  type StorePlan,
  storeUnavailable,
} from './contract.ts'

/** Bound of making a plan. */
const plan_ms_max = 1_000

/** The pools for queries, and a pool with free connections to cancel them. */
type PostgresPools = Pick<Relational<unknown>, 'pool' | 'scoped'> & {
  cancel_through?: Relational<unknown>['pool']
}

/**
 * Runs statements on PostgreSQL, which can limit their time only. Rows of the answer are limited in
 * the statement. PostgreSQL neither bounds nor reports what a statement reads.
 */
export function openPostgresRunner({
  scoped,
  pool,
  cancel_through = pool,
}: PostgresPools): QueryRunner {
  return {
    store: 'postgres',
    plan: async ({ text, params }, { signal }) => {
      const read = { params, name: 'looptrace explain', time_ms_max: plan_ms_max }
      const rows = await readBounded(scoped, {
        ...read,
        signal,
        cancel_through,
        text: `EXPLAIN (FORMAT JSON) ${text}`,
      }).catch(rethrowPlanError)
      return toStorePlan(rows)
    },
    run: async ({ text, params }, { signal, limits, query_id }) => {
      const started_ms = performance.now()
      const rows = await readBounded(scoped, {
        text,
        params,
        signal,
        cancel_through,
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
  throw isRelationalUnavailable(error) ? storeUnavailable('postgres', error) : error
}

/** A plan has a time limit of its own. Exceeding it means a slow server, not an expensive query. */
function rethrowPlanError(error: unknown): never {
  throw error instanceof ReadOverTime ? storeUnavailable('postgres', error) : rethrow(error)
}

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Plan Rows': number
  'Total Cost': number
  Plans?: Node[]
}

/** Reads the output of `EXPLAIN (FORMAT JSON)`. */
function toStorePlan(rows: readonly Record<string, unknown>[]): StorePlan {
  const [answer] = rows
  const [{ Plan: root } = { Plan: undefined }] = (answer?.['QUERY PLAN'] ?? []) as { Plan?: Node }[]
  return {
    lines: root === undefined ? [] : formatNode(root, 0),
    estimate: {
      rows: null,
      bytes: null,
      bytes_from: null,
      rows_at_most: null,
      reason: 'PostgreSQL estimates the rows that each step returns, not the rows that it reads',
    },
    parts: null,
    granules: null,
    skipped_share: null,
  }
}

function formatNode(node: Node, depth: number): string[] {
  const table = node['Relation Name'] === undefined ? '' : ` on ${node['Relation Name']}`
  const index = node['Index Name'] === undefined ? '' : ` by ${node['Index Name']}`
  const numbers = `${node['Plan Rows']} rows, cost ${node['Total Cost']}`
  const line = `${'  '.repeat(depth)}${node['Node Type']}${table}${index}: ${numbers}`
  return [line, ...(node.Plans ?? []).flatMap((child) => formatNode(child, depth + 1))]
}
