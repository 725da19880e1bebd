import { createHash } from 'node:crypto'
import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { type Finding, indexMarks, type MarksAt } from '../../detection/index.ts'
import type { RunDeps } from '../../query/index.ts'
import type { LoadedTree, TreeSource } from '../load-tree.ts'
import { onStore } from '../read-trace-rows.ts'
import type { TreeNode } from '../tree/contract.ts'
import type { ExplorerQuery } from './explorer-query.ts'
import { type NodeDetails, type NodeReply, nodeSchema, toNodeReply } from './node-reply.ts'
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

/** The fields of a page of a tree. */
export const pageFields = {
  grown: z
    .boolean()
    .nullable()
    .describe('Whether the tree changed since the first page; null without a cursor.'),
  parent_id: z.string().nullable().describe('Parent of the listed nodes; null for the roots.'),
  total: z.int().nonnegative().describe('Siblings in the list, or observations found.'),
  nodes: z
    .array(nodeSchema)
    .describe('Nodes, parents before children; with a filter, ordered by start.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
}

type PageContext = { queries: RunDeps; source: TreeSource; findings: readonly Finding[] }

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
export async function answerPage(
  loaded: LoadedTree,
  query: ExplorerQuery,
  context: PageContext,
): Promise<ExplorerPage> {
  const list = listName(query, context.source)
  const after = query.cursor === undefined ? undefined : readPageCursor(list, query.cursor)
  const grown = after === undefined ? null : after.revision !== loaded.revision
  const found = await findFiltered(loaded, query, context)
  const request: PageRequest = { loaded, query, list, after }
  const page = found === undefined ? pageTree(request) : pageFound(request, found)
  const { served_by } = loaded
  const details = await readDetails(
    onStore(context.queries, served_by),
    page.nodes.map(({ node }) => node),
    context.source,
  )
  const marksAt = indexMarks(context.findings)
  return {
    ...page,
    grown,
    nodes: page.nodes.map((each) => toReply(each, loaded, { details, marksAt })),
  }
}

type PageRequest = {
  loaded: LoadedTree
  query: ExplorerQuery
  list: string
  after: PagePosition | undefined
}

type PagedNode = { node: TreeNode; shown: number; next_cursor: string | null; path?: string[] }

type Page = Omit<ExplorerPage, 'grown' | 'nodes'> & { nodes: PagedNode[] }

/** Names the list in cursors: the source and all parameters that decide which nodes are listed. */
function listName(query: ExplorerQuery, { choice }: TreeSource): string {
  const { name, type, status, mark, q, search_content, clocks, from, to } = query
  const words = [choice, name, type, status, mark, q, search_content, clocks, `${from}`, `${to}`]
  const hash = createHash('sha256').update(JSON.stringify(words)).digest('base64url')
  return `explorer ${hash.slice(0, 22)}`
}

/** Finds the nodes that match the filters; undefined without filters. */
async function findFiltered(
  { tree }: LoadedTree,
  query: ExplorerQuery,
  { queries, source }: PageContext,
): Promise<TreeNode[] | undefined> {
  const { name, type, status, mark, q, search_content = false } = query
  const narrowed = [name, type, status, mark, q].some((each) => each !== undefined)
  if (!narrowed) return undefined
  const search = { source, content: search_content }
  const keys = q === undefined ? undefined : await searchText(queries, { ...search, text: q })
  return findNodes(tree, { name, type, status, mark, keys })
}

function pageFound({ loaded, query, list, after }: PageRequest, found: TreeNode[]): Page {
  const { tree, revision } = loaded
  const top =
    query.parent === undefined ? undefined : requireNode(loaded, query.parent, query.trace_id)
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
      cursorAfterNode(list, { ...toPosition(last, tree), ...ofRoots, revision: first_revision }),
  }
}

function isBelow(node: TreeNode, top: TreeNode): boolean {
  return node.position > top.position && node.position <= top.last
}

function pageTree({ loaded, query, list, after }: PageRequest): Page {
  const { tree, revision } = loaded
  const parent_id = after === undefined ? (query.parent ?? '') : after.parent
  const parent =
    after === undefined
      ? requireNode(loaded, parent_id, query.trace_id)
      : // A synthetic root disappears when the parents of all orphans have arrived.
        findNode(loaded, parent_id, after.parent_trace)
  const siblings = parent_id === '' ? tree.roots : (parent?.children ?? [])
  const target =
    after === undefined && query.open ? requireNode(loaded, query.open, query.trace_id) : undefined
  const from = after === undefined ? 0 : indexAfter(siblings, after, tree.origin_ns)
  const { depth, children: children_max, limit: nodes_max } = query
  const selected = selectNodes({ siblings, from, depth, children_max, nodes_max, target })
  const first_revision = after?.revision ?? revision
  const cursorFor = (owner: ListOwner, of: readonly TreeNode[], next: number) => {
    if (next >= of.length) return null
    const last = of[next - 1]
    const position = last === undefined ? beforeAll : toPosition(last, tree)
    return cursorAfterNode(list, { ...position, ...owner, revision: first_revision })
  }
  const owner = after ?? (parent === undefined ? ofRoots : toOwner(parent))
  return {
    parent_id: parent_id === '' ? null : parent_id,
    total: siblings.length,
    nodes: selected.nodes.map((node) => {
      const shown = selected.shown.get(node) ?? 0
      return { node, shown, next_cursor: cursorFor(toOwner(node), node.children, shown) }
    }),
    next_cursor: cursorFor(
      { parent: owner.parent, parent_trace: owner.parent_trace },
      siblings,
      selected.next,
    ),
  }
}

/** The node whose children a list has. */
type ListOwner = Pick<PagePosition, 'parent' | 'parent_trace'>

const ofRoots: ListOwner = { parent: '', parent_trace: '' }
const beforeAll = { start: null, id: '', trace: '' }

function toOwner({ id, trace_id }: TreeNode): ListOwner {
  return { parent: id, parent_trace: trace_id }
}

/** Finds a node by its id, in any trace unless one is given. */
function findNode(
  { tree }: LoadedTree,
  id: string,
  trace_id: string | undefined,
): TreeNode | undefined {
  return tree.nodes.find(
    (node) =>
      node.id === id &&
      (trace_id === undefined || node.trace_id === trace_id) &&
      !node.marks.includes('repeated_id'),
  )
}

/** Finds a node by its id; undefined for '', the parent of roots. Throws `observation_not_found`. */
function requireNode(
  loaded: LoadedTree,
  id: string,
  trace_id: string | undefined,
): TreeNode | undefined {
  const node = id === '' ? undefined : findNode(loaded, id, trace_id)
  if (node !== undefined || id === '') return node
  throw problem('observation_not_found', {
    detail: `got "${id.slice(0, 80)}", expected a node of this tree`,
  })
}

function toReply(
  { node, ...paged }: PagedNode,
  { tree }: LoadedTree,
  parts: { details: ReadonlyMap<string, NodeDetails>; marksAt: MarksAt },
): NodeReply {
  return toNodeReply(node, { ...paged, origin_ns: tree.origin_ns, ...parts })
}
