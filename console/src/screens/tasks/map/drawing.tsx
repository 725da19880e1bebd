import { useUrlState } from '../../../app/use-search.ts'
import { formatCount, formatUsd } from '../../../ui/format.ts'
import { classes } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import { box, type MapEdge, type MapNode, type Placed, placeNodes } from './build-map.ts'
import css from './map.module.css'

const thickness_max = 12
/** Room for labels before the target. */
const labels_px = 130

/** The map as a drawing: buttons for the nodes over lines for what they did. */
export function Drawing({
  nodes,
  edges,
}: {
  nodes: readonly MapNode[]
  edges: readonly MapEdge[]
}) {
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
        ...{ tab: undefined, step: undefined, turn: undefined, finding: undefined },
        ...{ agent: undefined, model: undefined, tool: undefined, [kind]: name },
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
