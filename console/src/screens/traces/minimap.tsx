import { useEffect, useRef } from 'react'
import css from './minimap.module.css'
import { type Period, periodOf, type Tree } from './outline.ts'
import { row_px, type Window } from './shown-rows.ts'

type MinimapProps = { tree: Tree; shown: Int32Array; view: Window; period: Period }

/** The whole time with all rows, and a frame around the rows and the period of the window. */
export function Minimap({ tree, shown, view, period }: MinimapProps) {
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
      <canvas ref={canvas} className={css.canvas} />
      <div className={css.frame} style={frame} />
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
