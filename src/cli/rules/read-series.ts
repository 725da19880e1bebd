import { durationMs } from '../../kernel/duration.ts'
import { faultAt } from '../lint/fault.ts'
import type { WrittenSeries } from './bind-series.ts'
import type { FaultSink } from './fault-sink.ts'
import type { Series } from './measurements.ts'
import { NotationError, parseSeriesName, parseValues, type SeriesName } from './series.ts'
import type { TestCase } from './test-file.ts'

/** Days of a baseline. */
const days_max = 28

/** Reads the series of a test, and the rows that arrive late in them. */
export function readSeries(test: TestCase, start_ms: number, faults: FaultSink): WrittenSeries[] {
  const written = test.input_series.flatMap((one, index) => {
    const series = readOne(one, faults.at('input_series', index))
    return series === undefined ? [] : [series]
  })
  for (const [index, one] of test.late.entries()) {
    const sink = faults.at('late', index)
    const name = parse(sink.at('series'), () => parseSeriesName(one.series))
    const points = parse(sink.at('values'), () => parseValues(one.values))
    if (name === undefined || points === undefined) continue
    const late = written.find((known) => isSame(known.name, name))?.series.late
    if (late === undefined) sink.at('series').add('expected a series of input_series')
    const arrival = { at_ms: durationMs(one.at), from_ms: durationMs(one.from), points }
    late?.push({ ...arrival, at_ms: start_ms + arrival.at_ms, from_ms: start_ms + arrival.from_ms })
  }
  checkItems(written, faults)
  for (const { series } of written) series.late.sort((one, other) => one.at_ms - other.at_ms)
  return written
}

/** Items are counted: windows add them up. */
function checkItems(written: readonly WrittenSeries[], faults: FaultSink): void {
  for (const { name, series, path } of written) {
    if (name.name !== 'rows' && !/:(bad|total)$/.test(name.name)) continue
    const points = [series.points, ...series.late.map((one) => one.points)].flat()
    const wrong = points.find((point) => point !== null && !(Number.isInteger(point) && point >= 0))
    if (wrong === undefined) continue
    faults.faults.push(faultAt(path, `got ${wrong} items, expected whole numbers from 0`))
  }
}

/** A series to which late rows are added. */
type OpenSeries = WrittenSeries & {
  series: Omit<Series, 'late'> & { late: Series['late'][number][] }
}

function readOne(one: TestCase['input_series'][number], faults: FaultSink): OpenSeries | undefined {
  const name = parse(faults.at('series'), () => parseSeriesName(one.series))
  const points = parse(faults.at('values'), () => parseValues(one.values))
  const samples = readOptional(faults.at('samples'), one.samples)
  const history = readOptional(faults.at('history'), one.history) ?? []
  if (history.length > days_max) {
    faults.at('history').add(`got ${history.length} values, expected at most ${days_max}`)
  }
  if (name === undefined || points === undefined) return undefined
  const days = history.filter((value) => value !== null)
  const series = { points, samples, history: days, late: [] }
  return { path: faults.at('series').path, name, rule: one.rule, series }
}

function readOptional(faults: FaultSink, text: string | undefined) {
  return text === undefined ? undefined : parse(faults, () => parseValues(text))
}

/** Runs a parser; its error becomes a fault. */
function parse<Value>(faults: FaultSink, read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NotationError)) throw error
    faults.add(error.message)
    return undefined
  }
}

function isSame(one: SeriesName, other: SeriesName): boolean {
  const text = ({ name, labels }: SeriesName) =>
    JSON.stringify([name, Object.entries(labels).toSorted()])
  return text(one) === text(other)
}
