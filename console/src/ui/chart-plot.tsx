import 'uplot/dist/uPlot.min.css'
import { useEffect, useMemo, useRef, useState } from 'react'
import Uplot from 'uplot'
import { useTheme } from '../browser/theme.ts'
import {
  type ChartProps,
  drawBands,
  drawLimits,
  instantLabels,
  lonePoints,
  scaleOf,
  seriesColours,
  seriesDashes,
  stackSeries,
} from './chart-data.ts'
import { timeTicks } from './time-ticks.ts'

type PlotProps = ChartProps & {
  format: (value: number) => string
  height: number
  zone: string
  /** Called with the index under the pointer; undefined when it leaves. */
  onPoint: (at: number | undefined) => void
}

type Colour = (property: string) => string

const font = '12px system-ui, sans-serif'

/** The values whose change redraws the chart. Functions are read when they are used. */
type Shape = Pick<
  PlotProps,
  'x' | 'series' | 'look' | 'stacked' | 'limits' | 'bands' | 'height' | 'zone'
> & { isTime: boolean; canSelect: boolean }

type Calls = Pick<PlotProps, 'format' | 'formatX' | 'onSelect' | 'onPoint'>

/** The canvas of a chart. In its own file, so that the drawing library is read when it is needed. */
export function Plot(props: PlotProps) {
  // Colours are those of the theme at the time of drawing.
  return <Canvas key={String(useIsDark())} {...props} />
}

function Canvas({ format, formatX, onSelect, onPoint, ...rest }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  const calls = useRef<Calls>({ format, onPoint })
  calls.current = { format, onPoint, ...(formatX && { formatX }), ...(onSelect && { onSelect }) }
  const { x, series, look, stacked, limits, bands, height, zone } = rest
  const [isTime, canSelect] = [formatX === undefined, onSelect !== undefined]
  const shape = useMemo<Shape>(
    () => ({
      x,
      series,
      height,
      zone,
      isTime,
      canSelect,
      ...(look && { look }),
      ...(stacked && { stacked }),
      ...(limits && { limits }),
      ...(bands && { bands }),
    }),
    [x, series, look, stacked, limits, bands, height, zone, isTime, canSelect],
  )
  useEffect(() => {
    if (place.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (place.current === null || width === 0) return undefined
    const options = { ...optionsOf(shape, calls, colourOf(place.current)), width }
    const plot = new Uplot(options, dataOf(shape), place.current)
    return () => plot.destroy()
  }, [shape, width])
  return <div ref={place} style={{ height }} />
}

/** Returns whether the page is dark, and renders again when that changes. */
function useIsDark(): boolean {
  const theme = useTheme()
  const [isSystemDark, setSystemDark] = useState(() => darkScheme().matches)
  useEffect(() => {
    const scheme = darkScheme()
    const onChange = () => setSystemDark(scheme.matches)
    scheme.addEventListener('change', onChange)
    return () => scheme.removeEventListener('change', onChange)
  }, [])
  return theme === 'system' ? isSystemDark : theme === 'dark'
}

function darkScheme(): MediaQueryList {
  return window.matchMedia('(prefers-color-scheme: dark)')
}

/** Returns a function that resolves a custom property to a colour that a canvas can use. */
function colourOf(place: HTMLElement): Colour {
  return (property) => {
    const probe = document.createElement('span')
    probe.style.color = `var(${property})`
    place.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}

function dataOf(shape: Shape): Uplot.AlignedData {
  const { x, series, stacked } = shape
  const drawn = stacked === true ? stackSeries(series).toReversed() : series
  const scale = scaleOf(shape)
  return [
    x.map((each) => each / scale),
    ...drawn.map(({ values }) => [...values]),
  ] as Uplot.AlignedData
}

function optionsOf(
  shape: Shape,
  calls: { current: Calls },
  colour: Colour,
): Omit<Uplot.Options, 'width'> {
  const { height, zone, isTime, canSelect, series, stacked, limits = [] } = shape
  const formatX = (x: number) => calls.current.formatX?.(x) ?? String(x)
  const axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1, size: 4 },
    font,
  }
  const order = series.map((_, index) => index)
  return {
    height,
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: canSelect, y: false },
      points: { size: 6 },
    },
    scales: {
      x: { time: isTime, range: rangeX(shape) },
      y: { range: rangeWith(limits.map(({ value }) => value)) },
    },
    axes: [
      {
        ...axis,
        space: 70,
        size: 40,
        ...(isTime ? { splits: splitsIn(zone) } : { incrs: wholeSteps }),
        values: (_: Uplot, at: number[]) =>
          isTime
            ? instantLabels(
                at.map((each) => each * 1000),
                zone,
              )
            : at.map(formatX),
      },
      {
        ...axis,
        size: (_: Uplot, texts: string[] | null) =>
          18 + 7 * Math.max(3, ...(texts ?? []).map((text) => text.length)),
        ...(isWhole(shape) && { incrs: wholeSteps }),
        values: (_: Uplot, at: number[]) => at.map((each) => calls.current.format(each)),
      },
    ],
    series: [
      {},
      ...(stacked === true ? order.toReversed() : order).map((index) =>
        seriesOf(shape, index, colour),
      ),
    ],
    hooks: hooksOf(shape, calls, colour),
  }
}

/** Returns ticks at round local times of a zone. Those of the library know the browser's zone only. */
function splitsIn(zone: string): Uplot.Axis.Splits {
  return (...[, , from_s, to_s, step_s]) =>
    timeTicks(from_s * 1000, to_s * 1000, step_s * 1000, zone).map((at_ms) => at_ms / 1000)
}

/** Steps of an axis of counts, and of days or percents across. */
const wholeSteps = Array.from({ length: 12 }, (_, at) =>
  [1, 2, 5].map((step) => step * 10 ** at),
).flat()

/** Returns whether all values are whole, so that the axis needs no fractions. */
function isWhole({ series, limits = [] }: Shape): boolean {
  const drawn = [...series.map(({ values }) => values), limits.map(({ value }) => value)]
  return drawn.every((values) => values.every((value) => Number.isInteger(value ?? 0)))
}

/** Returns the range of x: that of the values, with room for the first and last bar. */
function rangeX(shape: Shape): Uplot.Range.Function {
  const { x, look } = shape
  const [first = 0, last = 0] = [x[0], x.at(-1)].map((each) => (each ?? 0) / scaleOf(shape))
  const step = x.length > 1 ? (last - first) / (x.length - 1) : 60
  const room = look === 'bars' || x.length === 1 ? step / 2 : 0
  return () => [first - room, last + room]
}

/** Returns a range from zero that shows all values and limits. */
function rangeWith(limits: readonly number[]): Uplot.Range.Function {
  return (_, least, most) => {
    const [low, high] = [Math.min(0, least ?? 0, ...limits), Math.max(most ?? 0, ...limits)]
    return [low, high === low ? low + 1 : high + (high - low) * 0.12]
  }
}

function seriesOf(shape: Shape, index: number, colour: Colour): Uplot.Series {
  const { look = 'lines', stacked, series, x } = shape
  const stroke = colour(seriesColours[index % seriesColours.length] ?? '--accent')
  const shared = { label: series[index]?.name ?? '', stroke, spanGaps: false }
  if (look === 'bars') {
    const bars = Uplot.paths.bars?.({ size: [0.8, 60], align: 0 })
    return {
      ...shared,
      width: 0,
      fill: stroke,
      points: { show: false },
      ...(bars && { paths: bars }),
    }
  }
  const isFew = x.length < 3
  return {
    ...shared,
    width: stacked === true ? 1 : 1.75,
    dash: look === 'lines' ? (seriesDashes[index % seriesDashes.length] ?? []) : [],
    // No line shows a value between gaps.
    points: {
      show: isFew,
      size: 5,
      fill: stroke,
      filter: (plot, at, isShown) => (isShown ? null : lonePoints(plot.data[at] ?? [])),
    },
    ...(look === 'areas' && { fill: withAlpha(stroke, stacked === true ? 1 : 0.2) }),
  }
}

/** Returns a colour `rgb(r, g, b)` of a computed style with a transparency. */
function withAlpha(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`)
}

function hooksOf(shape: Shape, calls: { current: Calls }, colour: Colour): Uplot.Hooks.Arrays {
  return {
    setCursor: [(plot) => calls.current.onPoint(plot.cursor.idx ?? undefined)],
    setSelect: [
      (plot) => {
        if (plot.select.width < 4) return
        const scale = scaleOf(shape)
        const { left, width } = plot.select
        const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')]
        calls.current.onSelect?.(Math.floor(from * scale), Math.ceil(to * scale))
      },
    ],
    drawClear: [(plot) => drawBands(plot, shape, colour('--bad-bg'))],
    draw: [(plot) => drawLimits(plot, shape, colour('--bad'))],
  }
}
