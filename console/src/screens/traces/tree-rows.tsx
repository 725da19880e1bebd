import { useEffect, useRef } from 'react'
import { useTheme } from '../../browser/theme.ts'
import { formatCompact, formatDuration, formatUsd } from '../../ui/format.ts'
import { Badge, classes } from '../../ui/parts.tsx'
import { Plain } from '../../ui/text.tsx'
import { Bars } from './bars.tsx'
import { Minimap } from './minimap.tsx'
import { hasChildren, type Period, type Tree } from './outline.ts'
import { type Mode, row_px, useWindow } from './shown-rows.ts'
import css from './tree-rows.module.css'

type RowsProps = {
  tree: Tree
  /** Nodes that are not below a folded one. */
  shown: Int32Array
  folded: ReadonlySet<number>
  mode: Mode
  selected: number | undefined
  period: Period
  onSelect: (node: number) => void
  onToggle: (node: number) => void
}

/**
 * The rows of a tree, of which only those near the window are in the page. In mode `waterfall`, a
 * canvas beside the names has the bars of these rows.
 */
export function TreeRows(props: RowsProps) {
  const { tree, shown, folded, mode, selected, period, onSelect, onToggle } = props
  const scroller = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const view = useWindow(scroller, shown.length)
  useEffect(() => {
    const element = scroller.current
    const row = selected === undefined ? -1 : shown.indexOf(selected)
    if (element === null || row < 0) return
    const [top, bottom] = [row * row_px, (row + 1) * row_px]
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight) {
      element.scrollTop = bottom - element.clientHeight
    }
  }, [selected, shown])
  const rows = Array.from(shown.subarray(view.first, view.last))
  return (
    <div className={css.frame}>
      {mode === 'waterfall' && <Minimap tree={tree} shown={shown} view={view} period={period} />}
      <div ref={scroller} className={css.scroller}>
        <div
          className={css.tree}
          role="tree"
          aria-label="Steps"
          style={{ height: shown.length * row_px }}
        >
          {rows.map((node, at) => (
            <Row
              key={tree.outline.ids[node]}
              {...{ tree, node, mode, onSelect, onToggle }}
              top={(view.first + at) * row_px}
              isFolded={folded.has(node)}
              isSelected={node === selected}
            />
          ))}
        </div>
        {mode === 'waterfall' && (
          <Bars key={theme} tree={tree} nodes={rows} view={view} period={period} />
        )}
      </div>
    </div>
  )
}

type RowProps = {
  tree: Tree
  node: number
  mode: Mode
  top: number
  isFolded: boolean
  isSelected: boolean
  onSelect: (node: number) => void
  onToggle: (node: number) => void
}

function Row({ tree, node, mode, top, isFolded, isSelected, onSelect, onToggle }: RowProps) {
  const { outline, depth } = tree
  const level = depth[node] ?? 0
  const canFold = hasChildren(tree, node)
  const type = outline.types[outline.type[node] ?? -1] ?? 'span'
  return (
    <div
      role="treeitem"
      tabIndex={isSelected ? 0 : -1}
      aria-level={level + 1}
      aria-selected={isSelected}
      {...(canFold && { 'aria-expanded': !isFolded })}
      className={classes(css.row, outline.on_path[node] === 1 && css.onPath)}
      style={{ top, paddingLeft: 4 + Math.min(level, 24) * 14 }}
      onClick={({ target }) => {
        if (canFold && target instanceof Element && target.matches('[data-fold]')) onToggle(node)
        else onSelect(node)
      }}
      onKeyDown={({ key }) => {
        if (key === 'Enter') onSelect(node)
      }}
    >
      <span className={css.fold} data-fold="" aria-hidden="true">
        {canFold ? (isFolded ? '▸' : '▾') : ''}
      </span>
      <span className={css.type}>{type}</span>
      <span className={css.name}>
        <Plain>{outline.names[outline.name[node] ?? -1] ?? ''}</Plain>
      </span>
      <Marks tree={tree} node={node} />
      {mode === 'tree' && <Sums tree={tree} node={node} />}
    </div>
  )
}

/** Marks of a step: its status, its findings, and that its call is counted elsewhere. */
function Marks({ tree, node }: { tree: Tree; node: number }) {
  const { outline } = tree
  const status = outline.statuses[outline.status[node] ?? -1]
  const [first, ...more] = tree.findings.get(node) ?? []
  return (
    <>
      {status !== undefined && status !== 'ok' && <Badge tone="bad">{status}</Badge>}
      {first !== undefined && (
        <Badge tone="warn">{more.length === 0 ? first.type : `${more.length + 1} findings`}</Badge>
      )}
      {(outline.counted_with[node] ?? -1) !== -1 && <Badge>counted once</Badge>}
    </>
  )
}

function Sums({ tree: { outline }, node }: { tree: Tree; node: number }) {
  const [tokens, cost] = [outline.tokens[node], outline.cost_usd[node]]
  return (
    <>
      <span className={css.number}>{tokens == null ? '' : `${formatCompact(tokens)} tokens`}</span>
      <span className={css.number}>{cost == null ? '' : formatUsd(cost)}</span>
      <span className={css.number}>{formatDuration((outline.dur_us[node] ?? 0) / 1000)}</span>
    </>
  )
}
