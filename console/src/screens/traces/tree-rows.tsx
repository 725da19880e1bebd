import { useEffect, useRef } from 'react'
import { useTheme } from '../../browser/theme.ts'
import { formatCompact, formatDuration, formatUsd } from '../../ui/format.ts'
import { Badge, classes } from '../../ui/parts.tsx'
import { Plain } from '../../ui/text.tsx'
import { hasChildren, type Period, periodOf, type Tree } from './outline.ts'
import { type Mode, row_px, useWindow, type Window } from './shown-rows.ts'
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

type MinimapProps = { tree: Tree; shown: Int32Array; view: Window; period: Period }

/** The whole time with all rows, and a frame around the rows and the period of the window. */
function Minimap({ tree, shown, view, period }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (canvas.current !== null) drawAll(canvas.current, tree, shown)
  }, [tree, shown])
  const whole = periodOf(tree, tree.size > 0 ? [0, ...shown] : [])
  const share = (at_us: number) => (at_us - whole.start_us) / (whole.end_us - whole.start_us)
  const percent = (part: number) => `${Math.min(Math.max(part, 0), 1) * 100}%`
  const height_px = Math.max(shown.length * row_px, 1)
  const frame = {
    left: percent(share(period.start_us)),
    width: percent(share(period.end_us) - share(period.start_us)),
    top: percent(view.top / height_px),
    height: percent(view.height / height_px),
  }
  return (
    <div className={css.minimap} aria-hidden="true">
      <canvas ref={canvas} className={css.minimapCanvas} />
      <div className={css.minimapFrame} style={frame} />
    </div>
  )
}

function drawAll(canvas: HTMLCanvasElement, tree: Tree, shown: Int32Array): void {
  const context = canvas.getContext('2d')
  const { width, height } = canvas.getBoundingClientRect()
  if (context === null || width === 0) return
  canvas.width = Math.round(width)
  canvas.height = Math.round(height)
  const { outline } = tree
  const whole = periodOf(tree, shown)
  const perUs = width / (whole.end_us - whole.start_us)
  const perRow = height / shown.length
  context.fillStyle = getComputedStyle(canvas).color
  shown.forEach((node, row) => {
    const x = ((outline.start_us[node] ?? 0) - whole.start_us) * perUs
    const length = Math.max((outline.dur_us[node] ?? 0) * perUs, 1)
    context.fillRect(x, row * perRow, length, Math.max(perRow * 0.8, 0.5))
  })
}

type BarsProps = { tree: Tree; nodes: readonly number[]; view: Window; period: Period }

/** Height of a bar in pixels, and the smallest width at which it is still seen. */
const bar_px = 12

const width_px_min = 2

const label_px = 56

/** The bars of the rows in the window, on one canvas. The rows beside it say the same in text. */
function Bars({ tree, nodes, view, period }: BarsProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, { tree, nodes, view, period })
  }, [tree, nodes, view, period])
  return (
    <div className={css.bars} aria-hidden="true">
      <canvas ref={canvas} className={css.barsCanvas} />
    </div>
  )
}

function draw(canvas: HTMLCanvasElement, { tree, nodes, view, period }: BarsProps): void {
  const context = canvas.getContext('2d')
  const { width, height } = canvas.getBoundingClientRect()
  if (context === null || width === 0) return
  const ratio = window.devicePixelRatio
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  context.scale(ratio, ratio)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(name)
  const { outline } = tree
  const failed = outline.statuses.indexOf('error')
  const perUs = width / (period.end_us - period.start_us)
  context.font = `11px ${style.fontFamily}`
  context.textBaseline = 'middle'
  nodes.forEach((node, at) => {
    const duration_us = outline.dur_us[node] ?? 0
    const x = ((outline.start_us[node] ?? 0) - period.start_us) * perUs
    const length = Math.max(duration_us * perUs, width_px_min)
    const middle = (view.first + at) * row_px - view.top + row_px / 2
    context.fillStyle = colour(barColour(tree, node, failed))
    context.fillRect(x, middle - bar_px / 2, length, bar_px)
    const fits = x + length + label_px < width
    context.fillStyle = colour('--bars-text')
    context.textAlign = fits ? 'left' : 'right'
    context.fillText(formatDuration(duration_us / 1000), fits ? x + length + 4 : x - 4, middle)
  })
}

function barColour({ outline, findings }: Tree, node: number, failed: number): string {
  if (failed >= 0 && outline.status[node] === failed) return '--bars-bad'
  if (findings.has(node)) return '--bars-warn'
  return outline.on_path[node] === 1 ? '--bars-path' : '--bars-rest'
}
