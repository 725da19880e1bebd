import { createHash } from 'node:crypto'
import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import {
  cursorParameter,
  expected,
  flagParameter,
  integerParameter,
  textParameter,
} from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { observationTypes, statuses } from '../../../model/observation.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { RunDeps } from '../../query/index.ts'
import {
  type LoadedTree,
  loadTree,
  readFields,
  toReadFields,
  treeFields,
  windowOf,
} from '../load-tree.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import { marks, type TreeNode } from '../tree/contract.ts'
import {
  type NodeDetails,
  type NodeReply,
  nodeSchema,
  summariseTrace,
  summarySchema,
  toNodeReply,
} from './node-reply.ts'
import { readDetails, searchText } from './read-nodes.ts'
import {
  cursorAfterNode,
  findNodes,
  indexAfter,
  type PagePosition,
  pathOf,
  readPageCursor,
  selectNodes,
  toPosition,
} from './select-nodes.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/explorer: returns a trace as a tree, page by page.
 * Pages stay consistent while a trace grows: a cursor names a node, and `grown` reports changes.
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
    reply: replySchema,
    errors: [
      'trace_not_found',
      'observation_not_found',
      'invalid_cursor',
      'query_too_expensive',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params: { trace_id }, query, caller: { project_id }, signal }) => {
      const loaded = await loadTree(deps, { project_id, trace_id, query, signal })
      const context = { queries: deps.queries, project_id, trace_id, signal }
      const page = await answerPage(loaded, query, context)
      return { trace_id, ...toReadFields(loaded), summary: summariseTrace(loaded.tree), ...page }
    },
  })
}

const replySchema = record('TraceExplorerPage', {
  trace_id: z.guid().describe('W3C trace id, as a UUID.'),
  ...readFields,
  summary: summarySchema,
  grown: z
    .boolean()
    .nullable()
    .describe('Whether the trace changed since the first page; null without a cursor.'),
  parent_id: z.string().nullable().describe('Parent of the listed nodes; null for the roots.'),
  total: z.int().nonnegative().describe('Siblings in the list, or observations found.'),
  nodes: z
    .array(nodeSchema)
    .describe('Nodes, parents before children; with a filter, ordered by start.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
})

/** The query parameters of the explorer. */
const explorerQuery = z.strictObject({
  ...treeFields,
  parent: textParameter('Returns only nodes below this one, by `node_id`.', 300),
  open: textParameter('Includes this observation, its ancestors and its descendants first.', 64),
  depth: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Maximum levels returned, 1–100.',
  }),
  children: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 50,
    description: 'Maximum children returned of each node, 1–500.',
  }),
  limit: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'Maximum nodes returned, 1–500.',
  }),
  cursor: cursorParameter,
  name: textParameter(
    'Returns only observations with exactly this name, as a list ordered by start.',
  ),
  type: z
    .enum(observationTypes, { error: expected(`one of ${observationTypes.join(', ')}`) })
    .optional()
    .describe('Returns only observations of this type.'),
  status: z
    .enum(statuses, { error: expected(`one of ${statuses.join(', ')}`) })
    .optional()
    .describe('Returns only observations with this status.'),
  mark: z
    .enum(marks, { error: expected(`one of ${marks.join(', ')}`) })
    .optional()
    .describe('Returns only observations with this mark.'),
  q: textParameter('Returns only observations with this text in a name or error; case-sensitive.'),
  search_content: flagParameter('Whether `q` also searches inputs and outputs.'),
})

type ExplorerQuery = z.output<typeof explorerQuery>

type PageContext = { queries: RunDeps; project_id: string; trace_id: string; signal: AbortSignal }

/** A page of the explorer. */
type ExplorerPage = {
  grown: boolean | null
  parent_id: string | null
  total: number
  nodes: NodeReply[]
  next_cursor: string | null
}

/**
 * Returns a page of the tree, or of the nodes that the filters find. Throws `invalid_cursor` and
 * `observation_not_found`.
 */
async function answerPage(
  loaded: LoadedTree,
  query: ExplorerQuery,
  context: PageContext,
): Promise<ExplorerPage> {
  const list = listName(query, context.trace_id)
  const after = query.cursor === undefined ? undefined : readPageCursor(list, query.cursor)
  const grown = after === undefined ? null : after.revision !== loaded.revision
  const found = await findFiltered(loaded, query, context)
  const request: PageRequest = { loaded, query, list, after }
  const page = found === undefined ? pageTree(request) : pageFound(request, found)
  const { served_by } = loaded
  const sameStore = { candidates: [], order: [served_by], fallback: false }
  const details = await readDetails(
    { ...context.queries, chooseStore: async () => sameStore },
    page.nodes.map(({ node }) => node),
    context,
  )
  return { ...page, grown, nodes: page.nodes.map((each) => toReply(each, loaded, details)) }
}

type PageRequest = {
  loaded: LoadedTree
  query: ExplorerQuery
  list: string
  after: PagePosition | undefined
}

type PagedNode = { node: TreeNode; shown: number; next_cursor: string | null; path?: string[] }

type Page = Omit<ExplorerPage, 'grown' | 'nodes'> & { nodes: PagedNode[] }

/** Names the list in cursors: the trace and all parameters that decide which nodes are listed. */
function listName(query: ExplorerQuery, trace_id: string): string {
  const { name, type, status, mark, q, search_content, clocks, from, to } = query
  const words = [name, type, status, mark, q, search_content, clocks, `${from}`, `${to}`]
  const hash = createHash('sha256').update(JSON.stringify(words)).digest('base64url')
  return `explorer ${trace_id} ${hash.slice(0, 11)}`
}

/** Finds the nodes that match the filters; undefined without filters. */
async function findFiltered(
  { tree }: LoadedTree,
  query: ExplorerQuery,
  context: PageContext,
): Promise<TreeNode[] | undefined> {
  const { name, type, status, mark, q, search_content = false } = query
  const narrowed = [name, type, status, mark, q].some((each) => each !== undefined)
  if (!narrowed) return undefined
  const search = { ...context, window: windowOf(query), content: search_content }
  const ids =
    q === undefined ? undefined : await searchText(context.queries, { ...search, text: q })
  return findNodes(tree, { name, type, status, mark, ids })
}

function pageFound({ loaded, query, list, after }: PageRequest, found: TreeNode[]): Page {
  const { tree, revision } = loaded
  const top = query.parent === undefined ? undefined : requireNode(loaded, query.parent)
  const within = top === undefined ? found : found.filter((node) => isBelow(node, top))
  const from = after === undefined ? 0 : indexAfter(within, after, tree.origin_ns)
  const page = within.slice(from, from + query.limit)
  const last = from + page.length < within.length ? (page.at(-1) ?? null) : null
  const first_revision = after?.revision ?? revision
  return {
    parent_id: query.parent ?? null,
    total: within.length,
    nodes: page.map((node) => ({ node, shown: 0, next_cursor: null, path: pathOf(node) })),
    next_cursor:
      last &&
      cursorAfterNode(list, { ...toPosition(last, tree), parent: '', revision: first_revision }),
  }
}

function isBelow(node: TreeNode, top: TreeNode): boolean {
  return node.position > top.position && node.position <= top.last
}

function pageTree({ loaded, query, list, after }: PageRequest): Page {
  const { tree, revision } = loaded
  const parent_id = after === undefined ? (query.parent ?? '') : after.parent
  // A synthetic root disappears when the parents of all orphans have arrived.
  const parent = after === undefined ? requireNode(loaded, parent_id) : findNode(loaded, parent_id)
  const siblings = parent_id === '' ? tree.roots : (parent?.children ?? [])
  const target = after === undefined && query.open ? requireNode(loaded, query.open) : undefined
  const from = after === undefined ? 0 : indexAfter(siblings, after, tree.origin_ns)
  const { depth, children: children_max, limit: nodes_max } = query
  const selected = selectNodes({ siblings, from, depth, children_max, nodes_max, target })
  const first_revision = after?.revision ?? revision
  const cursorFor = (owner: string, of: readonly TreeNode[], next: number) => {
    if (next >= of.length) return null
    const last = of[next - 1]
    const position = last === undefined ? { start: null, id: '' } : toPosition(last, tree)
    return cursorAfterNode(list, { ...position, parent: owner, revision: first_revision })
  }
  return {
    parent_id: parent_id === '' ? null : parent_id,
    total: siblings.length,
    nodes: selected.nodes.map((node) => {
      const shown = selected.shown.get(node) ?? 0
      return { node, shown, next_cursor: cursorFor(node.id, node.children, shown) }
    }),
    next_cursor: cursorFor(parent_id, siblings, selected.next),
  }
}

function findNode({ tree }: LoadedTree, id: string): TreeNode | undefined {
  return tree.nodes.find((node) => node.id === id && !node.marks.includes('repeated_id'))
}

/** Finds a node by id; undefined for '', the parent of roots. Throws `observation_not_found`. */
function requireNode(loaded: LoadedTree, id: string): TreeNode | undefined {
  const node = id === '' ? undefined : findNode(loaded, id)
  if (node !== undefined || id === '') return node
  throw problem('observation_not_found', {
    detail: `got "${id.slice(0, 80)}", expected a node of this trace`,
  })
}

function toReply(
  { node, ...paged }: PagedNode,
  { tree }: LoadedTree,
  details: ReadonlyMap<string, NodeDetails>,
): NodeReply {
  return toNodeReply(node, { ...paged, origin_ns: tree.origin_ns, details })
}
