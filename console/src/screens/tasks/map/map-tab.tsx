import { useEffect, useMemo } from 'react'
import { useUrlState } from '../../../browser/use-search.ts'
import { formatCount, formatUsd } from '../../../ui/format.ts'
import { classes } from '../../../ui/parts.tsx'
import { Loaded } from '../../../ui/states.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { mergeThreads, useTurnPages } from '../turns/use-turn-pages.ts'
import { box, buildMap, type MapEdge, type MapNode, type Placed, placeNodes } from './build-map.ts'
import css from './map.module.css'

/** Maximum calls that the map reads; it says so when the task has more. */
const calls_max = 2_000

/** Agents, models and tools of a task, and what they did with each other. */
export function MapTab({ task_id }: { task_id: string }) {
  const pages = useTurnPages(task_id)
  const { rows, hasMore, isLoadingMore, loadMore } = pages
  const turns = useMemo(() => rows.flatMap((reply) => reply.turns), [rows])
  const isWhole = !hasMore || turns.length >= calls_max
  useEffect(() => {
    if (!isWhole && !isLoadingMore) loadMore()
  }, [isWhole, isLoadingMore, loadMore])
  const { nodes, edges } = useMemo(() => buildMap(turns, mergeThreads(rows)), [turns, rows])
  return (
    <Loaded query={pages} what="Reading the calls">
      {() => (
        <div className={ui.stack}>
          <h2 className={ui.visuallyHidden}>Map</h2>
          {hasMore && (
            <p role="status">
              Shows the first {formatCount(turns.length)} of {formatCount(rows[0]?.total ?? 0)}{' '}
              calls.
            </p>
          )}
          <Drawing nodes={nodes} edges={edges} />
          <p className={ui.soft}>
            Choose an agent, model or tool to see only its turns. A thick line has iterations of a
            loop.
          </p>
          <h3>As a table</h3>
          <Table
            label="Who called what"
            columns={columns(nodes)}
            rows={edges}
            keyOf={({ from, to }) => `${from} ${to}`}
          />
        </div>
      )}
    </Loaded>
  )
}

const columns = (nodes: readonly MapNode[]): Column<MapEdge>[] => {
  const nameOf = (id: string) => nodes.find((node) => node.id === id)?.name ?? ''
  const kindOf = (id: string) => nodes.find((node) => node.id === id)?.kind ?? ''
  return [
    { id: 'from', head: 'Agent', cell: ({ from }) => <Plain>{nameOf(from)}</Plain> },
    { id: 'kind', head: 'Calls a', cell: ({ to }) => kindOf(to) },
    { id: 'to', head: 'Name', cell: ({ to }) => <Plain>{nameOf(to)}</Plain> },
    { id: 'count', head: 'Times', number: true, cell: ({ count }) => formatCount(count) },
    { id: 'failed', head: 'Failed', number: true, cell: ({ failed }) => formatCount(failed) },
    {
      id: 'repeats',
      head: 'In a loop',
      number: true,
      cell: ({ repeats }) => formatCount(repeats),
    },
    {
      id: 'cost',
      head: 'Cost',
      number: true,
      cell: ({ cost_usd }) => (cost_usd > 0 ? formatUsd(String(cost_usd)) : ''),
    },
  ]
}

const thickness_max = 12
/** Room for labels before the target. */
const labels_px = 130

/** The map as a drawing: buttons for the nodes over lines for what they did. */
function Drawing({ nodes, edges }: { nodes: readonly MapNode[]; edges: readonly MapEdge[] }) {
  const { placed, width, height } = placeNodes(nodes, edges)
  const byId = new Map(placed.map((node) => [node.id, node]))
  return (
    <section className={css.scroller} aria-label="Drawing of the map">
      <div className={css.drawing} style={{ width, height }}>
        <svg className={css.lines} width={width} height={height} aria-hidden="true">
          {edges.map((edge) => {
            const [from, to] = [byId.get(edge.from), byId.get(edge.to)]
            if (from === undefined || to === undefined) return null
            const line = { edge, from, to, arrival: arrivalOf(edge, edges) }
            return <Line key={`${edge.from} ${edge.to}`} {...line} />
          })}
        </svg>
        {placed.map((node) => (
          <Node key={node.id} node={node} />
        ))}
      </div>
    </section>
  )
}

/** Returns the share of the height of the target at which a line arrives, so that none overlap. */
function arrivalOf(edge: MapEdge, edges: readonly MapEdge[]): number {
  const arriving = edges.filter(({ to }) => to === edge.to)
  return (arriving.indexOf(edge) + 1) / (arriving.length + 1)
}

function Line({
  edge,
  from,
  to,
  arrival,
}: {
  edge: MapEdge
  from: Placed
  to: Placed
  arrival: number
}) {
  const isBranch = to.kind === 'agent'
  const width = edge.repeats > 0 ? Math.min(thickness_max, 3 + edge.repeats) : 1.5
  const cost = edge.cost_usd > 0 ? ` ${formatUsd(String(edge.cost_usd))}` : ''
  const failed = edge.failed > 0 ? `, ${formatCount(edge.failed)} failed` : ''
  const y = to.y + box.height * arrival
  return (
    <>
      <path
        d={isBranch ? branch(from, to) : curve(from, to, y)}
        strokeWidth={width}
        className={classes(css.line, edge.repeats > 0 && css.loop)}
      />
      {!isBranch && (
        <text x={to.x - 8} y={y - 3} className={css.label}>
          {`×${formatCount(edge.count)}${cost}${failed}`}
        </text>
      )}
    </>
  )
}

function curve(from: Placed, to: Placed, y: number): string {
  const [x1, y1] = [from.x + box.width, from.y + box.height / 2]
  const middle = x1 + (to.x - x1) / 3
  return `M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y}, ${to.x - labels_px} ${y} H ${to.x}`
}

/** The line from an agent down to one that it began. */
function branch(from: Placed, to: Placed): string {
  const x = Math.min(from.x, to.x) + box.indent / 2
  return `M ${x} ${from.y + box.height} V ${to.y + box.height / 2} H ${to.x}`
}

function Node({ node }: { node: Placed }) {
  const [, change] = useUrlState()
  const { kind, name, count, failed, cost_usd, x, y } = node
  const show = () =>
    change(
      {
        tab: undefined,
        step: undefined,
        turn: undefined,
        finding: undefined,
        agent: undefined,
        model: undefined,
        tool: undefined,
        [kind]: name,
      },
      { push: true },
    )
  return (
    <button
      type="button"
      className={classes(css.node, css[kind])}
      style={{ left: x, top: y, width: box.width, height: box.height }}
      onClick={show}
    >
      <span className={css.name}>
        <Plain>{name}</Plain>
      </span>
      <span className={css.about}>
        {kind} · ×{formatCount(count)}
        {cost_usd > 0 && ` · ${formatUsd(String(cost_usd))}`}
        {failed > 0 && ` · ${failed} failed`}
      </span>
    </button>
  )
}
