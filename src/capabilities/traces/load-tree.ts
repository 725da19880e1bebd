import { z } from 'zod'
import { checkWindow, expected, instantParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { readTraceRows, type TraceRowsRead, traceRows_max } from './read-trace-rows.ts'
import type { TraceDeps } from './trace-deps.ts'
import { checkTraceExists } from './trace-path.ts'
import { buildTree } from './tree/build-tree.ts'
import type { TraceTree } from './tree/contract.ts'
import { revisionOf } from './tree/revision.ts'

/** A trace's tree, who told its rows, and what they are known by. */
export type LoadedTree = Omit<TraceRowsRead, 'rows'> & { tree: TraceTree; revision: string }

/**
 * Reads a trace and builds its tree. Throws `trace_not_found` when nothing of the trace is stored, or
 * only in another project, and what `readTraceRows` rejects with.
 */
export async function loadTree(
  { queries, records }: TraceDeps,
  asked: {
    project_id: string
    trace_id: string
    query: z.output<typeof treeQuery>
    signal: AbortSignal
  },
): Promise<LoadedTree> {
  const { project_id, trace_id, query, signal } = asked
  checkWindow(query)
  const window = windowOf(query)
  const { rows, ...read } = await readTraceRows(queries, {
    ...{ project_id, window, signal },
    trace_ids: [trace_id],
    rows_max: traceRows_max,
  })
  if (rows.length === 0) await checkTraceExists(records, project_id, trace_id)
  const tree = buildTree(rows, { keep_clocks: query.clocks === 'recorded' })
  return { ...read, tree, revision: revisionOf(tree) }
}

/** The window of a query, without sides that are open. */
export function windowOf({ from, to }: Pick<z.output<typeof treeQuery>, 'from' | 'to'>) {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** What each route that builds a tree takes. */
export const treeFields = {
  from: instantParameter(
    'Only observations that started at or after this instant. A window spares reading; one within the hot window lets PostgreSQL answer.',
  ),
  to: instantParameter('Only observations that started before this instant.'),
  clocks: z
    .enum(['corrected', 'recorded'], { error: expected('corrected or recorded') })
    .default('corrected')
    .describe('`corrected`: where clocks of hosts differ, times are moved and marked.'),
}
const treeQuery = z.strictObject(treeFields)

/** What each reply that a tree was built for says of its reading. */
export const readFields = {
  revision: z.string().describe('Another one when an observation was added or changed.'),
  truncated: z
    .boolean()
    .describe(`There are more than ${traceRows_max} observations: the earliest are shown.`),
  served_by: z.enum(['clickhouse', 'postgres']).describe('The store that answered.'),
  fallback_reason: z
    .string()
    .nullable()
    .describe('Why another store answered than the one that is asked first; null when it did.'),
  stats: record('TreeStats', {
    rows_read: z.int().nullable().describe('Null: the store does not tell.'),
    duration_ms: z.number().describe('From the question to the store until its answer.'),
  }),
}

/** Shapes them. */
export function readOf({ revision, more, served_by, fallback_reason, stats }: LoadedTree) {
  return {
    ...{ revision, served_by, fallback_reason },
    truncated: more,
    stats: { rows_read: stats.rows_read, duration_ms: Math.round(stats.duration_ms * 1000) / 1000 },
  }
}
