import type Uplot from 'uplot'
import type { ChartBand, ChartLimit } from './chart-data.ts'

/** Returns the milliseconds of a unit of x: instants of the library are seconds. */
export function scaleOf({ isTime }: { isTime: boolean }): number {
  return isTime ? 1000 : 1
}

/** Fills the bands of a chart. */
export function drawBands(
  plot: Uplot,
  { isTime, bands = [] }: { isTime: boolean; bands?: readonly ChartBand[] },
  fill: string,
): void {
  const scale = scaleOf({ isTime })
  const { left, top, width, height } = plot.bbox
  plot.ctx.save()
  plot.ctx.fillStyle = fill
  for (const { from, to } of bands) {
    const start = Math.max(left, plot.valToPos(from / scale, 'x', true))
    const end = Math.min(left + width, plot.valToPos(to / scale, 'x', true))
    // A short band must still be seen.
    if (end >= left && start <= left + width) {
      plot.ctx.fillRect(start, top, Math.max(end - start, 3), height)
    }
  }
  plot.ctx.restore()
}

/** Draws each limit as a dashed line with its name. */
export function drawLimits(
  plot: Uplot,
  { limits = [] }: { limits?: readonly ChartLimit[] },
  stroke: string,
): void {
  const { left, width } = plot.bbox
  const ratio = window.devicePixelRatio
  plot.ctx.save()
  plot.ctx.strokeStyle = stroke
  plot.ctx.fillStyle = stroke
  plot.ctx.lineWidth = ratio
  plot.ctx.setLineDash([5 * ratio, 4 * ratio])
  plot.ctx.font = `${12 * ratio}px system-ui, sans-serif`
  plot.ctx.textAlign = 'right'
  plot.ctx.textBaseline = 'bottom'
  for (const { value, name } of limits) {
    const y = plot.valToPos(value, 'y', true)
    plot.ctx.beginPath()
    plot.ctx.moveTo(left, y)
    plot.ctx.lineTo(left + width, y)
    plot.ctx.stroke()
    plot.ctx.fillText(name, left + width - 4 * ratio, y - 2 * ratio)
  }
  plot.ctx.restore()
}
