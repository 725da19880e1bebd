import type { Json } from './query-api.ts'

type Get = (query: string) => Promise<{ status: number; body: Json }>

/** Reads all nodes of an explorer by its cursors, in no order: few levels and children each time. */
export async function walkTree(get: Get): Promise<Json[]> {
  const found: Json[] = []
  const cursors = ['']
  for (let cursor = cursors.pop(); cursor !== undefined; cursor = cursors.pop()) {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await get(`depth=2&children=2&limit=5${more}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    found.push(...body.nodes)
    const next = [body, ...body.nodes.map(({ children }: Json) => children)]
    cursors.push(...next.flatMap(({ next_cursor }: Json) => next_cursor ?? []))
  }
  return found
}

/** Returns the nodes of an outline as the tree shows them, without fields that only the tree has. */
export function nodesOfOutline(outline: Json): Json[] {
  return outline.ids.map((node_id: string, at: number) => ({
    node_id,
    trace_id: outline.traces[outline.trace?.[at] ?? 0],
    parent_id: outline.ids[outline.parent[at]] ?? null,
    name: outline.names[outline.name[at]],
    type: outline.types[outline.type[at]],
    status: outline.statuses[outline.status[at]] ?? null,
    offset_ms: outline.start_us[at] / 1000,
    duration_ms: outline.dur_us[at] / 1000,
    marks: outline.marks.filter((_: string, bit: number) => (outline.mark[at] >> bit) % 2 === 1),
    tokens: outline.tokens[at] ?? 0,
    cost_usd: outline.cost_usd[at] ?? '0',
    descendants: countBelow(outline.parent, at),
  }))
}

function countBelow(parent: readonly number[], at: number): number {
  let end = at + 1
  while (end < parent.length && (parent[end] ?? -1) >= at) end += 1
  return end - at - 1
}

/** Returns the same fields of a node of the tree. */
export function fieldsOfNode(node: Json): Json {
  const { node_id, trace_id, parent_id, name, type, status, offset_ms, duration_ms } = node
  const { tokens, cost_usd } = node.rollup
  return {
    ...{ node_id, trace_id, parent_id, name, type, status, offset_ms, duration_ms },
    marks: node.marks.toSorted(byText),
    ...{ tokens: tokens.total, cost_usd, descendants: node.descendants },
  }
}

/** Sorts nodes, of which any two can have the same trace, start and id, for a comparison. */
export function sortNodes(nodes: readonly Json[]): Json[] {
  return nodes
    .map((node) => ({ ...node, marks: node.marks.toSorted(byText) }))
    .toSorted((a, b) => byText(JSON.stringify(a), JSON.stringify(b)))
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
