import type { Turn, TurnThread } from '../../../api/schema.gen.d.ts'
import { agentOf } from '../turns/filter-turns.ts'

/** An agent, model or tool of a task. */
export type MapNode = {
  id: string
  kind: 'agent' | 'model' | 'tool'
  name: string
  /** Calls of a model or by an agent, or uses of a tool. */
  count: number
  failed: number
  cost_usd: number
}

/** Calls from one node to another. */
export type MapEdge = {
  from: string
  to: string
  count: number
  failed: number
  cost_usd: number
  /** How many of `count` repeat an earlier iteration of a loop. */
  repeats: number
}

/** Counts who called which model and tool, and who began which sub-agent. */
export function buildMap(
  turns: readonly Turn[],
  threads: readonly TurnThread[],
): { nodes: MapNode[]; edges: MapEdge[] } {
  const graph = createGraph()
  for (const turn of turns) addTurn(graph, turn, agentOf(threads, turn.thread))
  for (const { thread, parent, kind } of threads) {
    if (parent === null || kind !== 'sub_agent') continue
    const [from, to] = [agentOf(threads, parent), agentOf(threads, thread)]
    if (from !== to) graph.linkAgents(from, to)
  }
  return { nodes: [...graph.nodes.values()], edges: [...graph.edges.values()] }
}

type Graph = ReturnType<typeof createGraph>

function createGraph() {
  const nodes = new Map<string, MapNode>()
  const edges = new Map<string, MapEdge>()
  const add = (kind: MapNode['kind'], name: string, more: Amount) => {
    const id = `${kind} ${name}`
    const node = nodes.get(id) ?? { id, kind, name, ...nothing }
    nodes.set(id, { ...node, ...sum(node, more) })
    return id
  }
  const link = (from: string, to: string, more: Amount & { repeats: number }) => {
    const key = JSON.stringify([from, to])
    const edge = edges.get(key) ?? { from, to, ...nothing, repeats: 0 }
    edges.set(key, { ...edge, ...sum(edge, more), repeats: edge.repeats + more.repeats })
  }
  const linkAgents = (from: string, to: string) => {
    const [first, second] = [`agent ${from}`, `agent ${to}`]
    if (!nodes.has(first) || !nodes.has(second)) return
    link(first, second, { ...nothing, count: 1, repeats: 0 })
  }
  return { nodes, edges, add, link, linkAgents }
}

function addTurn({ add, link }: Graph, turn: Turn, agentName: string): void {
  const { model, tool_uses, iteration } = turn
  const repeats = iteration !== null && iteration.number > 1 ? 1 : 0
  const call = { count: 1, failed: isFailed(turn) ? 1 : 0, cost_usd: Number(turn.cost_usd ?? 0) }
  const agent = add('agent', agentName, call)
  link(agent, add('model', model || unknown, call), { ...call, repeats })
  for (const { name, error } of tool_uses) {
    const use = { count: 1, failed: error === null ? 0 : 1, cost_usd: 0 }
    link(agent, add('tool', name || unknown, use), { ...use, repeats })
  }
}

const unknown = 'unknown'

type Amount = { count: number; failed: number; cost_usd: number }

const nothing: Amount = { count: 0, failed: 0, cost_usd: 0 }

function sum(a: Amount, b: Amount): Amount {
  return {
    count: a.count + b.count,
    failed: a.failed + b.failed,
    cost_usd: a.cost_usd + b.cost_usd,
  }
}

const isFailed = ({ status, error }: Turn) => status === 'error' || error !== null

/** Sizes of the drawing in pixels. */
export const box = { width: 200, height: 52, gap: 16, indent: 28, right: 560 } as const

/** A node with its corner. */
export type Placed = MapNode & { x: number; y: number }

/**
 * Places agents on the left, as a tree of who began whom, and models and tools on the right, each
 * near the agents that use it.
 */
export function placeNodes(
  nodes: readonly MapNode[],
  edges: readonly MapEdge[],
): { placed: Placed[]; width: number; height: number } {
  const top = (row: number) => row * (box.height + box.gap)
  const agents = listAgents(nodes, edges).map(({ node, depth }, row) => {
    return { ...node, x: Math.min(depth * box.indent, deepest_px), y: top(row) }
  })
  const others = nodes
    .filter(({ kind }) => kind !== 'agent')
    .map((node) => ({ node, wanted: meanHeight(node, edges, agents) }))
    .toSorted((a, b) => kinds[a.node.kind] - kinds[b.node.kind] || a.wanted - b.wanted)
    .map(({ node }, row) => ({ ...node, x: box.right, y: top(row) }))
  const rows = Math.max(1, agents.length, others.length)
  return { placed: [...agents, ...others], width: box.right + box.width, height: top(rows) }
}

const kinds = { agent: 0, model: 1, tool: 2 } as const
const deepest_px = 160

/** Lists agents in the order of a tree, each behind the one that began it first. */
function listAgents(
  nodes: readonly MapNode[],
  edges: readonly MapEdge[],
): { node: MapNode; depth: number }[] {
  const agents = nodes.filter(({ kind }) => kind === 'agent')
  const below = (id: string) =>
    edges
      .filter(({ from }) => from === id)
      .flatMap(({ to }) => agents.find((one) => one.id === to) ?? [])
  const begun = new Set(agents.flatMap(({ id }) => below(id).map((each) => each.id)))
  const listed = new Map<string, { node: MapNode; depth: number }>()
  const add = (node: MapNode, depth: number): void => {
    if (listed.has(node.id)) return
    listed.set(node.id, { node, depth })
    for (const each of below(node.id)) add(each, depth + 1)
  }
  // Agents without a parent come first; agents that began each other start at the first one.
  for (const node of agents.toSorted((a, b) => Number(begun.has(a.id)) - Number(begun.has(b.id)))) {
    add(node, 0)
  }
  return [...listed.values()]
}

function meanHeight({ id }: MapNode, edges: readonly MapEdge[], agents: readonly Placed[]): number {
  const users = edges.filter(({ to }) => to === id).map(({ from }) => from)
  const heights = agents.filter((agent) => users.includes(agent.id)).map(({ y }) => y)
  return heights.reduce((all, one) => all + one, 0) / Math.max(1, heights.length)
}
