import { useEffect, useRef } from 'react'
import { formatDuration } from '../../ui/format.ts'
import css from './bars.module.css'
import type { Period, Tree } from './outline.ts'
import { row_px, type Window } from './shown-rows.ts'

type BarsProps = { tree: Tree; nodes: readonly number[]; view: Window; period: Period }

/** Height of a bar in pixels, and the smallest width at which it is still seen. */
const bar_px = 12
const width_px_min = 2
const label_px = 56

/** The bars of the rows in the window, on one canvas. The rows beside it say the same in text. */
export function Bars({ tree, nodes, view, period }: BarsProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, { tree, nodes, view, period })
  }, [tree, nodes, view, period])
  return (
    <div className={css.column} aria-hidden="true">
      <canvas ref={canvas} className={css.canvas} />
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
