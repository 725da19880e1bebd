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

/** What one node did with another. */
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
    const node = nodes.get(id) ?? { ...{ id, kind, name }, ...nothing }
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
export const box = { width: 190, height: 52, gap: 16, column: 300 } as const

/** A node with its corner. */
export type Placed = MapNode & { x: number; y: number }

/**
 * Places nodes in layers: models, agents by their depth, tools. In a layer, a node stands near those
 * that it is linked to in the layer before.
 */
export function placeNodes(
  nodes: readonly MapNode[],
  edges: readonly MapEdge[],
): { placed: Placed[]; width: number; height: number } {
  const layers = layersOf(nodes, edges)
  const placed = new Map<string, Placed>()
  for (const [column, layer] of layers.entries()) {
    const wanted = (node: MapNode) => meanOf(linkedTo(node.id, edges, placed))
    const ordered = column === 0 ? layer : layer.toSorted((a, b) => wanted(a) - wanted(b))
    for (const [row, node] of ordered.entries()) {
      placed.set(node.id, { ...node, x: column * box.column, y: row * (box.height + box.gap) })
    }
  }
  const rows = Math.max(1, ...layers.map(({ length }) => length))
  return {
    placed: [...placed.values()],
    width: Math.max(0, layers.length - 1) * box.column + box.width,
    height: rows * (box.height + box.gap) - box.gap,
  }
}

function layersOf(nodes: readonly MapNode[], edges: readonly MapEdge[]): MapNode[][] {
  const depths = depthsOf(nodes, edges)
  const agents = Map.groupBy(
    nodes.filter(({ kind }) => kind === 'agent'),
    ({ id }) => depths.get(id) ?? 0,
  )
  const ofKind = (kind: MapNode['kind']) => nodes.filter((node) => node.kind === kind)
  const layers = [
    ofKind('model'),
    ...[...agents].toSorted(([a], [b]) => a - b).map(([, some]) => some),
    ofKind('tool'),
  ]
  return layers.filter(({ length }) => length > 0)
}

/** Returns how many agents stand above each agent, at most as many as there are. */
function depthsOf(nodes: readonly MapNode[], edges: readonly MapEdge[]): Map<string, number> {
  const agents = new Set(nodes.filter(({ kind }) => kind === 'agent').map(({ id }) => id))
  const links = edges.filter(({ from, to }) => agents.has(from) && agents.has(to))
  const begun = new Set(links.map(({ to }) => to))
  const depths = new Map([...agents].filter((id) => !begun.has(id)).map((id) => [id, 0]))
  for (let round = 0; round < agents.size; round += 1) {
    for (const { from, to } of links) {
      const above = depths.get(from)
      if (above !== undefined && !depths.has(to)) depths.set(to, above + 1)
    }
  }
  return depths
}

function linkedTo(
  id: string,
  edges: readonly MapEdge[],
  placed: ReadonlyMap<string, Placed>,
): number[] {
  const others = edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []))
  return others.flatMap((other) => placed.get(other)?.y ?? [])
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((all, one) => all + one, 0) / values.length
}
