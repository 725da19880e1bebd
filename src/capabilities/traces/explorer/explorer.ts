import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import {
  type LoadedTree,
  loadTree,
  readFields,
  type TreeSource,
  toReadFields,
  windowOf,
} from '../load-tree.ts'
import { countTraceRows } from '../read-trace-rows.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import { answerPage, pageFields } from './answer-page.ts'
import { checkExplorerQuery, type ExplorerQuery, explorerQuery } from './explorer-query.ts'
import { readFindingsOf } from './node-findings.ts'
import { outlineFields, toOutline } from './outline.ts'
import { summariseTrace, summarySchema } from './summary.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/explorer: returns a trace as a tree, page by page, or
 * as columns of all its nodes. Pages stay consistent while a trace grows: a cursor names a node, and
 * `grown` reports changes.
 */
export function exploreTrace(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/explorer',
    id: 'exploreTrace',
    summary: 'Trace as a tree, with times, sums and anomalies',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: explorerQuery,
    reply: explorerReply('Trace', {
      trace_id: z.guid().describe('W3C trace id, as a UUID.'),
    }),
    errors: ['trace_not_found', ...explorerErrors],
    handle: async ({ params: { trace_id }, query, caller: { project_id }, signal }) => {
      checkExplorerQuery(query)
      const loaded = await loadTree(deps, { project_id, trace_id, query, signal })
      const choice = { trace_ids: [trace_id] }
      const source = { project_id, choice, window: windowOf(query), signal }
      return { trace_id, ...(await answerExplorer(deps, loaded, { source, query })) }
    },
  })
}

/** Errors of an explorer, beside those of what it explores. */
export const explorerErrors = [
  'observation_not_found',
  'invalid_cursor',
  'query_too_expensive',
  'rate_limited',
  'store_unavailable',
] as const

/** Defines the reply of an explorer; `Named` begins the names of its schemas. */
export function explorerReply<Named extends string, Shape extends z.ZodRawShape>(
  name: Named,
  shape: Shape,
) {
  const fields = { ...shape, ...readFields, summary: summarySchema }
  return z
    .discriminatedUnion('view', [
      record(`${name}ExplorerPage`, { view: z.literal('tree'), ...fields, ...pageFields }),
      record(`${name}Outline`, { view: z.literal('outline'), ...fields, ...outlineFields }),
    ])
    .meta({ id: `${name}Explorer`, description: 'A page of the tree, or its outline.' })
}

/** Returns a page of a tree, or its outline. Throws `invalid_cursor` and `observation_not_found`. */
export async function answerExplorer(
  deps: Pick<TraceDeps, 'queries' | 'findings'>,
  loaded: LoadedTree,
  { source, query }: { source: TreeSource; query: ExplorerQuery },
) {
  const fields = { ...toReadFields(loaded), summary: summariseTrace(loaded.tree) }
  if (query.view === 'tree') {
    const findings = await readFindingsOf(deps, loaded.tree, source)
    const page = await answerPage(loaded, query, { queries: deps.queries, source, findings })
    return { view: query.view, ...fields, ...page }
  }
  const { tree, more } = loaded
  const [findings, total] = await Promise.all([
    readFindingsOf(deps, tree, source),
    more ? countTraceRows(deps.queries, source) : fields.summary.rollup.observations,
  ])
  const whole = 'task_id' in source.choice
  return { view: query.view, ...fields, total, ...toOutline(tree, { findings, whole }) }
}
