import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import type { RunDeps } from '../../query/index.ts'
import { type LoadedTree, windowOf } from '../load-tree.ts'
import type { TreeNode } from '../tree/contract.ts'
import type { explorerQuery } from './explorer-query.ts'
import { findNodes } from './find-nodes.ts'
import type { ShownNode } from './node-schema.ts'
import { cursorBehind, type PagePosition, placeBehind, positionOf } from './page-cursor.ts'
import { type NodeDetails, readDetails } from './read-details.ts'
import { searchText } from './search-text.ts'
import { selectNodes } from './select-nodes.ts'
import { shownNode } from './shown-node.ts'

type ExplorerQuery = z.output<typeof explorerQuery>
type About = { queries: RunDeps; project_id: string; trace_id: string; signal: AbortSignal }

/** The part of an answer that is a page. */
export type ExplorerPage = {
  grown: boolean | null
  parent_id: string | null
  total: number
  nodes: ShownNode[]
  next_cursor: string | null
}

/** Nodes above a found one that are named. */
const path_max = 100

/**
 * Makes the page that is asked for: of the tree, or of what the filters find in it. Throws
 * `invalid_cursor` and `observation_not_found`.
 */
export async function answerPage(
  loaded: LoadedTree,
  query: ExplorerQuery,
  about: About,
): Promise<ExplorerPage> {
  const list = listName(query, about.trace_id)
  const after = query.cursor === undefined ? undefined : positionOf(list, query.cursor)
  const grown = after === undefined ? null : after.revision !== loaded.revision
  const found = await foundBy(loaded, query, about)
  const asked: PageAsked = { loaded, query, list, after }
  const page = found === undefined ? pageOfTree(asked) : pageOfFound(asked, found)
  const { served_by } = loaded
  const sameStore = { candidates: [], order: [served_by], fallback: false }
  const details = await readDetails(
    { ...about.queries, chooseStore: async () => sameStore },
    page.nodes.map(({ node }) => node),
    about,
  )
  return { ...page, grown, nodes: page.nodes.map((each) => shownWith(each, loaded, details)) }
}

type PageAsked = {
  loaded: LoadedTree
  query: ExplorerQuery
  list: string
  after: PagePosition | undefined
}
type PagedNode = { node: TreeNode; shown: number; next_cursor: string | null; path?: string[] }
type Page = Omit<ExplorerPage, 'grown' | 'nodes'> & { nodes: PagedNode[] }

/** What a cursor belongs to: the trace and all that decides which nodes are listed, and when. */
function listName(query: ExplorerQuery, trace_id: string): string {
  const { name, type, status, mark, q, search_content, clocks, from, to } = query
  const words = [name, type, status, mark, q, search_content, clocks, `${from}`, `${to}`]
  const hash = createHash('sha256').update(JSON.stringify(words)).digest('base64url')
  return `explorer ${trace_id} ${hash.slice(0, 11)}`
}

/** Undefined when nothing narrows the tree. */
async function foundBy(
  { tree }: LoadedTree,
  query: ExplorerQuery,
  about: About,
): Promise<TreeNode[] | undefined> {
  const { name, type, status, mark, q, search_content = false } = query
  const narrowed = [name, type, status, mark, q].some((each) => each !== undefined)
  if (!narrowed) return undefined
  const search = { ...about, window: windowOf(query), content: search_content }
  const ids = q === undefined ? undefined : await searchText(about.queries, { ...search, text: q })
  return findNodes(tree, { name, type, status, mark, ids })
}

function pageOfFound({ loaded, query, list, after }: PageAsked, found: TreeNode[]): Page {
  const { tree, revision } = loaded
  const top = query.parent === undefined ? undefined : nodeNamed(loaded, query.parent)
  const within = top === undefined ? found : found.filter((node) => isBelow(node, top))
  const from = after === undefined ? 0 : placeBehind(within, after, tree.origin_ns)
  const page = within.slice(from, from + query.limit)
  const last = from + page.length < within.length ? (page.at(-1) ?? null) : null
  const began = after?.revision ?? revision
  return {
    parent_id: query.parent ?? null,
    total: within.length,
    nodes: page.map((node) => ({ node, shown: 0, next_cursor: null, path: pathOf(node) })),
    next_cursor:
      last && cursorBehind(list, { ...placeOf(last, loaded), parent: '', revision: began }),
  }
}

function isBelow(node: TreeNode, top: TreeNode): boolean {
  return node.position > top.position && node.position <= top.last
}

function pageOfTree({ loaded, query, list, after }: PageAsked): Page {
  const { tree, revision } = loaded
  const parent_id = after === undefined ? (query.parent ?? '') : after.parent
  // A synthetic root is gone once the parents of all orphans have come.
  const parent = after === undefined ? nodeNamed(loaded, parent_id) : nodeOf(loaded, parent_id)
  const siblings = parent_id === '' ? tree.roots : (parent?.children ?? [])
  const target = after === undefined && query.open ? nodeNamed(loaded, query.open) : undefined
  const from = after === undefined ? 0 : placeBehind(siblings, after, tree.origin_ns)
  const { depth, children: children_max, limit: nodes_max } = query
  const selected = selectNodes({ siblings, from, depth, children_max, nodes_max, target })
  const began = after?.revision ?? revision
  const cursorFor = (owner: string, of: readonly TreeNode[], next: number) => {
    if (next >= of.length) return null
    const last = of[next - 1]
    const place = last === undefined ? { start: null, id: '' } : placeOf(last, loaded)
    return cursorBehind(list, { ...place, parent: owner, revision: began })
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

function placeOf({ start, id }: TreeNode, { tree }: LoadedTree) {
  return { start: tree.origin_ns + BigInt(Math.round(start)), id }
}

function nodeOf({ tree }: LoadedTree, id: string): TreeNode | undefined {
  return tree.nodes.find((node) => node.id === id && !node.marks.includes('repeated_id'))
}

/** Undefined for the roots, which are below no node. */
function nodeNamed(loaded: LoadedTree, id: string): TreeNode | undefined {
  const node = id === '' ? undefined : nodeOf(loaded, id)
  if (node !== undefined || id === '') return node
  throw problem('observation_not_found', {
    detail: `got "${id.slice(0, 80)}", expected a node of this trace`,
  })
}

function pathOf(node: TreeNode): string[] {
  const path: string[] = []
  let above = node.parent
  while (above !== null && path.length < path_max) {
    path.push(above.id)
    above = above.parent
  }
  return path.reverse()
}

function shownWith(
  { node, ...paged }: PagedNode,
  { tree }: LoadedTree,
  details: ReadonlyMap<string, NodeDetails>,
): ShownNode {
  return shownNode(node, { ...paged, origin_ns: tree.origin_ns, details })
}
