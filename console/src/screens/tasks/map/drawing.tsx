import { useUrlState } from '../../../app/use-search.ts'
import { formatCount, formatUsd } from '../../../ui/format.ts'
import { classes } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import { box, type MapEdge, type MapNode, type Placed, placeNodes } from './build-map.ts'
import css from './map.module.css'

const thickness_max = 12

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
            return <Line key={`${edge.from} ${edge.to}`} edge={edge} from={from} to={to} />
          })}
        </svg>
        {placed.map((node) => (
          <Node key={node.id} node={node} />
        ))}
      </div>
    </section>
  )
}

function Line({ edge, from, to }: { edge: MapEdge; from: Placed; to: Placed }) {
  const isForward = to.x > from.x
  const [x1, x2] = isForward ? [from.x + box.width, to.x] : [from.x, to.x + box.width]
  const [y1, y2] = [from.y + box.height / 2, to.y + box.height / 2]
  const middle = (x1 + x2) / 2
  const width = edge.repeats > 0 ? Math.min(thickness_max, 3 + edge.repeats) : 1.5
  const cost = edge.cost_usd > 0 ? ` ${formatUsd(String(edge.cost_usd))}` : ''
  return (
    <>
      <path
        d={`M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`}
        strokeWidth={width}
        className={classes(css.line, edge.repeats > 0 && css.loop)}
      />
      <text x={middle} y={(y1 + y2) / 2 - 4} className={css.label}>
        {`×${formatCount(edge.count)}${cost}${edge.failed > 0 ? ` (${edge.failed} failed)` : ''}`}
      </text>
    </>
  )
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
