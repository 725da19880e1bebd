import type Uplot from 'uplot'
import { dateFormat } from '../browser/date-format.ts'
import { isRepeated, zoneName } from '../browser/zone-time.ts'

/** One series of a chart. A value of null is a gap. */
export type ChartSeries = { name: string; values: readonly (number | null)[] }

/** A line across a chart, such as the threshold of a rule. */
export type ChartLimit = { value: number; name: string }

/** A marked part of the x axis, such as the time in which a rule fired. */
export type ChartBand = { from: number; to: number; name: string }

export type ChartLook = 'lines' | 'bars' | 'areas'

/** Properties of a chart. */
export type ChartProps = {
  /** The title with the unit: "Findings per hour". */
  label: string
  /** Ascending instants in milliseconds since 1970; plain numbers if `formatX` is given. */
  x: readonly number[]
  /** Eight series have different colours and dashes. */
  series: readonly ChartSeries[]
  look?: ChartLook
  stacked?: boolean
  /** Formats values for the axis, the legend and the table. */
  format?: (value: number) => string
  formatX?: (x: number) => string
  limits?: readonly ChartLimit[]
  bands?: readonly ChartBand[]
  /** Called with the part of the x axis that a person marked with the pointer. */
  onSelect?: (from: number, to: number) => void
  height?: number
}

/** Custom properties with the colours of series. */
export const seriesColours = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => `--series-${at}`)

/** Dashes of lines, so that the colour is not the only sign. */
export const seriesDashes = [[], [6, 3], [2, 3], [10, 3, 2, 3], [3, 1], [8, 2], [1, 2], [12, 4]]

/** A row of a chart's table. */
export type ChartRow = { x: number; values: readonly (number | null)[] }

/**
 * Stacks series on each other: to each series the sum of the earlier ones is added.
 * A gap counts as zero, but where all series have a gap, the stack has one.
 */
export function stackSeries(series: readonly ChartSeries[]): ChartSeries[] {
  const length = Math.max(0, ...series.map(({ values }) => values.length))
  const isGap = Array.from({ length }, (_, at) =>
    series.every(({ values }) => (values[at] ?? null) === null),
  )
  const sums = new Array<number>(length).fill(0)
  return series.map(({ name, values }) => ({
    name,
    values: sums.map((sum, at) => {
      sums[at] = sum + (values[at] ?? 0)
      return isGap[at] ? null : (sums[at] ?? null)
    }),
  }))
}

/** Returns the places of values between two gaps, which no line shows. */
export function lonePoints(values: ArrayLike<number | null | undefined>): number[] {
  const isGap = (at: number) => (values[at] ?? null) === null
  const places = Array.from({ length: values.length }, (_, at) => at)
  return places.filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1))
}

/** Returns the rows of a chart's table, the last ones of a long chart, and how many are left out. */
export function tableRows(
  x: readonly number[],
  series: readonly ChartSeries[],
  rows_max: number,
): { rows: ChartRow[]; leftOut: number } {
  const leftOut = Math.max(0, x.length - rows_max)
  const rows = x.slice(leftOut).map((each, at) => ({
    x: each,
    values: series.map(({ values }) => values[leftOut + at] ?? null),
  }))
  return { rows, leftOut }
}

/**
 * Returns a sentence for each series: its range and its last value. It is what screen readers say
 * for the picture.
 */
export function summarize(
  series: readonly ChartSeries[],
  format: (value: number) => string,
): string {
  const sentences = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null)
    const last = known.at(-1)
    if (last === undefined) return `${name}: no values.`
    let [least, most] = [last, last]
    for (const value of known) {
      least = Math.min(least, value)
      most = Math.max(most, value)
    }
    return `${name}: ${format(least)} to ${format(most)}, last ${format(last)}.`
  })
  return sentences.join(' ')
}

const day_ms = 86_400_000

/**
 * Returns how an axis shows instants: the time of day, with the date at the first and at midnight, and
 * with the zone where clocks show a time twice.
 */
export function instantLabels(instants: readonly number[], zone: string): string[] {
  const [first = 0, last = 0] = [instants[0], instants.at(-1)]
  const step_ms = instants.length > 1 ? (last - first) / (instants.length - 1) : 0
  const date = dateFormat({ month: 'short', day: 'numeric' }, zone)
  const time = dateFormat(
    {
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      ...(step_ms > 0 && step_ms < 60_000 ? { second: '2-digit' } : {}),
    },
    zone,
  )
  let before = ''
  return instants.map((at) => {
    const day = date.format(at)
    const isNewDay = day !== before
    before = day
    if (step_ms >= day_ms * 0.9) return day
    const below = [isNewDay && day, isRepeated(at, zone) && zoneName(at, zone)].filter(Boolean)
    return [time.format(at), below.join(' ')].filter(Boolean).join('\n')
  })
}

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
