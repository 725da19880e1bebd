import { hash } from 'node:crypto'
import { z } from 'zod'
import { checkWindow, expected, instantParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { type RunDeps, readRecords } from '../query/index.ts'
import type { TimeWindow } from '../storage/index.ts'
import {
  filterFrom,
  isoWindowOf,
  maxTraceRows,
  onStore,
  type RowChoice,
  readTraceRows,
  type TraceRowsResult,
} from './read-trace-rows.ts'
import { checkTraceExists, type TraceDeps } from './trace-path.ts'
import { buildTree, observationKey } from './tree/build-tree.ts'
import { type TraceRow, type TraceTree, tokenBuckets } from './tree/contract.ts'

/** A trace's tree, the store that answered, and the revision of its rows. */
export type LoadedTree = Omit<TraceRowsResult, 'rows'> & { tree: TraceTree; revision: string }

/** The observations of a tree, and the request that reads them. */
export type TreeSource = {
  project_id: string
  choice: RowChoice
  window: TimeWindow
  signal: AbortSignal
}

/**
 * Reads a trace and builds its tree. Throws `trace_not_found` if the project has no records of the
 * trace, and like `readTraceRows`.
 */
export async function loadTree(
  deps: TraceDeps,
  request: {
    project_id: string
    trace_id: string
    query: TreeQuery
    signal: AbortSignal
  },
): Promise<LoadedTree> {
  const { project_id, trace_id, query, signal } = request
  checkWindow(query)
  const choice = { trace_ids: [trace_id] }
  const source = { project_id, choice, window: windowOf(query), signal }
  const loaded = await readTree(deps, source, query)
  if (loaded.tree.nodes.length === 0) await checkTraceExists(deps.records, project_id, trace_id)
  return loaded
}

/**
 * Reads the observations of a source and builds their tree. Roots of the part of a trace that
 * belongs to a task can have a parent outside of it. Throws like `readTraceRows`.
 */
export async function readTree(
  { queries, rows_max = maxTraceRows }: Pick<TraceDeps, 'queries' | 'rows_max'>,
  source: TreeSource,
  { clocks }: Pick<TreeQuery, 'clocks'>,
): Promise<LoadedTree> {
  const read = await readTraceRows(queries, { ...source, rows_max })
  const outer =
    'task_id' in source.choice ? await findOuterParents(queries, read, source) : new Set<string>()
  const { rows, ...answer } = read
  const tree = buildTree(rows, { keep_clocks: clocks === 'recorded', outer })
  return { ...answer, tree, revision: hashRows(tree) }
}

/** Returns the window of a query, without its open sides. */
export function windowOf({ from, to }: Pick<TreeQuery, 'from' | 'to'>): TimeWindow {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** Query parameters of each route that builds a tree. */
export const treeFields = {
  from: instantParameter(
    'Start of the window of observations, inclusive. A window reduces reading; PostgreSQL can answer inside the hot window.',
  ),
  to: instantParameter('End of the window of observations, exclusive.'),
  clocks: z
    .enum(['corrected', 'recorded'], { error: expected('corrected or recorded') })
    .default('corrected')
    .describe('`corrected`: shifts and marks times where the clocks of hosts differ.'),
}

const treeQuery = z.strictObject(treeFields)

type TreeQuery = z.output<typeof treeQuery>

/** Reply fields of each route that builds a tree. */
export const readFields = {
  revision: z
    .string()
    .describe('Revision of the tree; changes when an observation is added or changed.'),
  truncated: z
    .boolean()
    .describe(
      `Whether the tree would have more than ${maxTraceRows} observations. Only the earliest are included.`,
    ),
  served_by: z.enum(['clickhouse', 'postgres']).describe('Store that answered.'),
  fallback_reason: z
    .string()
    .nullable()
    .describe('Why the preferred store did not answer; null when it did.'),
  stats: record('TreeStats', {
    rows_read: z.int().nullable().describe('Rows read; null if the store does not report it.'),
    duration_ms: z.number().describe('Time that the store took, in milliseconds.'),
  }),
}

/** Converts a loaded tree to the fields of `readFields`. */
export function toReadFields({ revision, more, served_by, fallback_reason, stats }: LoadedTree) {
  return {
    revision,
    served_by,
    fallback_reason,
    truncated: more,
    stats: { rows_read: stats.rows_read, duration_ms: Math.round(stats.duration_ms * 1000) / 1000 },
  }
}

/** Hashes a tree's rows. The hash, of 22 characters, changes when a row is added or changed. */
function hashRows({ nodes }: TraceTree): string {
  let text = ''
  let trace = ''
  for (const { row, marks } of nodes) {
    if (row === null) continue
    const tokens = tokenBuckets.map((bucket) => row[bucket]).join()
    // Rows of one trace mostly follow each other, so its id is written once.
    const ids = `${row.trace_id === trace ? '' : row.trace_id} ${row.observation_id} ${row.parent_observation_id}`
    trace = row.trace_id
    const times = `${row.start_time} ${row.end_time} ${row.status}`
    text += `${ids} ${times} ${tokens} ${row.cost_usd} ${row.type} ${row.name}\n`
    if (marks.includes('outer_parent')) text += 'outer parent\n'
  }
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Maximum parents that are looked up; further ones count as missing. */
const parents_max = 10_000
/** Parents of one statement; their ids fit its filter. */
const step = 500
const rows_max = 10_000

/**
 * Finds the parents of rows that are stored but not among the rows: they belong to another task or
 * start outside of the window. Returns their keys by `observationKey`. Reads from the store
 * that returned the rows. Rejects like `readTraceRows`.
 */
async function findOuterParents(
  queries: RunDeps,
  { rows, served_by }: TraceRowsResult,
  { project_id, signal }: { project_id: string; signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const missing = listMissingParents(rows)
  for (let at = 0; at < Math.min(missing.length, parents_max); at += step) {
    const part = missing.slice(at, Math.min(at + step, parents_max))
    const trace_ids = [...new Set(part.map(({ trace_id }) => trace_id))]
    const ids = [...new Set(part.map(({ observation_id }) => observation_id))]
    const read = await readRecords(onStore(queries, served_by), {
      project_id,
      signal,
      rows_max,
      query_class: 'explorer',
      body: {
        entity: 'observations',
        window: isoWindowOf({}),
        where: {
          and: [filterFrom({ trace_ids }), { field: 'observation_id', op: 'in', value: ids }],
        },
        select: ['trace_id', 'observation_id'],
        order_by: [{ field: 'start_time', direction: 'asc' }],
      },
    })
    for (const row of read.rows) {
      const value = (name: string) => String(row[read.alias[name] ?? ''])
      const [trace_id, observation_id] = [value('trace_id'), value('observation_id')]
      found.add(observationKey({ trace_id, observation_id }))
    }
  }
  return found
}

type Parent = Pick<TraceRow, 'trace_id' | 'observation_id'>

/** Lists the parents that rows name and that are not among them, each once. */
function listMissingParents(rows: readonly TraceRow[]): Parent[] {
  const ids = new Set(rows.map(({ observation_id }) => observation_id))
  const missing = new Map<string, Parent>()
  for (const { trace_id, parent_observation_id: observation_id } of rows) {
    if (observation_id === '' || ids.has(observation_id)) continue
    const parent = { trace_id, observation_id }
    missing.set(observationKey(parent), parent)
  }
  return [...missing.values()]
}
