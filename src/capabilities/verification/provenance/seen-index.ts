import { readJson, isJson, readTables, type Cell, type Structure } from './read-structure.ts'
import { readValues } from './read-values.ts'
import { findCurrency, findUnit } from './units.ts'
import { compact, foldQuote, type Evidence, type SeenText, type Span, type Value } from './value.ts'

/** A value that the agent saw. `column` and `record` are set in tables and JSON. */
export type Seen = {
  value: Value
  evidence: Evidence
  column?: string
  record?: string
  /** The words in the other cells of the record: what the column can be grouped by. */
  labels?: readonly string[]
}

/** A number that can be looked up: in the base unit, or as written. */
export type Entry = { n: number; seen: Seen }

/** Everything the agent saw, arranged for look-up. */
export type SeenIndex = {
  values: readonly Seen[]
  /** By unit, sorted: numbers in base units. The key `written` has all numbers as written. */
  numbers: ReadonlyMap<string, readonly Entry[]>
  /** By normal form: ids, versions, URLs, e-mail addresses, paths. */
  codes: ReadonlyMap<string, Seen>
  /** Dates by month and day (`6-14`), and by month alone (`6-`). */
  dates: ReadonlyMap<string, readonly Seen[]>
  times: readonly Seen[]
  texts: readonly { source: string; text: string; compact: string; folded: string }[]
  /** Lengths of lists and counts of equal values in a column. */
  counts: ReadonlyMap<number, Evidence>
  currencies: ReadonlySet<string>
  hasTimeZone: boolean
}

/** Maximum characters indexed of all texts; more is not checked. */
const chars_max = 8_000_000

/** Reads and arranges everything the agent saw. */
export function indexSeen(sources: readonly SeenText[]): SeenIndex {
  const values: Seen[] = []
  const counts = new Map<number, Evidence>()
  const texts: SeenIndex['texts'][number][] = []
  let left = chars_max
  for (const { source, text: whole } of sources) {
    const text = whole.slice(0, left)
    left -= text.length
    values.push(...readSource({ source, text }, counts))
    texts.push({ source, text, compact: compact(text), folded: foldQuote(unescaped(text)) })
  }
  return { values, texts, counts, ...arrange(values, texts), ...marksOf(texts) }
}

function readSource({ source, text }: SeenText, counts: Map<number, Evidence>): Seen[] {
  const structure = isJson(text) ? readJson(text) : readTables(text)
  const evidenceAt = (at: Span): Evidence => ({ source, quote: text.slice(...at).slice(0, 200), at })
  for (const { length, at } of structure.listLengths) {
    if (!counts.has(length)) counts.set(length, evidenceAt(at))
  }
  countEqualCells(text, structure, (count, at) => {
    if (!counts.has(count)) counts.set(count, evidenceAt(at))
  })
  const cells = structure.cells
  const labels = labelsOf(text, cells)
  let next = 0
  return readValues(separated(text, structure)).flatMap((value) => {
    while (next < cells.length && (cells[next]?.at[1] ?? 0) < value.at[1]) next += 1
    const cell = cells[next]
    const isInside = cell !== undefined && cell.at[0] <= value.at[0]
    const seen: Seen = { value, evidence: evidenceAt(value.at) }
    if (!isInside || !isWholeCell(text, value, cell)) return [seen]
    return inCell({ ...seen, labels: labels.get(cell.record) ?? [] }, cell, source)
  })
}

const label_chars_max = 40
const labels_max = 8

function labelsOf(text: string, cells: readonly Cell[]): Map<number, string[]> {
  const labels = new Map<number, string[]>()
  for (const { record, at } of cells) {
    const word = text.slice(...at).trim()
    if (word.length > label_chars_max || !/^"?\p{L}/u.test(word)) continue
    const known = labels.get(record)
    if (known === undefined) labels.set(record, [word])
    else if (known.length < labels_max) known.push(word)
  }
  return labels
}

/** Returns whether a cell has little else than the value: no heading with a year. */
function isWholeCell(text: string, { text: written }: Value, { at }: Cell): boolean {
  return written.length * 2 >= text.slice(...at).trim().length
}

/** Returns the value in its cell, and once more in the unit that the column's name has. */
function inCell(seen: Seen, cell: Cell, source: string): Seen[] {
  const { value } = seen
  const amount = value.amount
  const place = { column: `${source}:${cell.column}`, record: `${source}:${cell.record}` }
  if (amount?.unit !== '') return [{ ...seen, ...place }]
  // The unit may stand in the column's name: `size_bytes`, `total_cents`, `price (€)`.
  const words = cell.column.split(/[^\p{L}°€$£%²³]+|(?<=[a-z])(?=[A-Z])/u).filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  const unit = findUnit(last)
  const isCents = /^cents?$|^pence$/i.test(last)
  const currency = findCurrency(last)
  const isNamed = unit !== undefined || isCents || currency !== undefined
  if (!isNamed || words.includes('per') || /^(?:min|m)$/.test(cell.column)) return [{ ...seen, ...place }]
  const factor = isCents ? 0.01 : (unit?.factor ?? 1)
  const name = isCents ? 'cent' : (unit?.dimension ?? currency ?? '')
  const readings = amount.written.map((one) => (one + (unit?.offset ?? 0)) * factor)
  return [
    { ...seen, ...place },
    { ...seen, ...place, value: { ...value, amount: { ...amount, readings, unit: name } } },
  ]
}

/** Replaces separators between cells and escapes of JSON by blanks: all offsets stay. */
function separated(text: string, { cells }: Structure): string {
  if (isJson(text)) {
    return unescaped(text).replace(/,(?=\s{0,3}[-\d"[{tfn])(?!\d{3}(?!\d)[^"]{0,40}")/g, '\t')
  }
  if (cells.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const { at } of cells) {
    if (at[0] > from) parts.push(text.slice(from, at[0]).replace(/[,;|]/g, '\t'))
    parts.push(text.slice(...at))
    from = at[1]
  }
  parts.push(text.slice(from))
  return parts.join('')
}

function unescaped(text: string): string {
  return text.replace(/\\[nrt]/g, '\n ').replace(/\\"/g, ' "')
}

/** Maximum distinct values whose cells are counted, of a source. */
const counted_values_max = 20_000

function countEqualCells(
  text: string,
  { cells }: Structure,
  report: (count: number, at: Span) => void,
): void {
  const counts = new Map<string, { count: number; at: Span }>()
  for (const { column, at } of cells) {
    const key = `${column} ${text.slice(...at).trim()}`
    const entry = counts.get(key)
    if (entry !== undefined) entry.count += 1
    else if (counts.size < counted_values_max) counts.set(key, { count: 1, at })
  }
  for (const { count, at } of counts.values()) report(count, at)
}

type Arranged = Pick<SeenIndex, 'numbers' | 'codes' | 'dates' | 'times'>

function arrange(values: readonly Seen[], texts: SeenIndex['texts']): Arranged {
  const numbers = new Map<string, Entry[]>()
  const codes = new Map<string, Seen>()
  const dates = new Map<string, Seen[]>()
  const times: Seen[] = []
  const add = <K, V>(map: Map<K, V[]>, key: K, item: V) => {
    const items = map.get(key)
    if (items === undefined) map.set(key, [item])
    else items.push(item)
  }
  for (const seen of values) {
    const { value } = seen
    for (const n of value.amount?.readings ?? []) add(numbers, value.amount?.unit ?? '', { n, seen })
    for (const n of value.amount?.written ?? []) add(numbers, 'written', { n, seen })
    for (const day of value.days ?? []) {
      add(dates, `${day.month}-${day.day ?? ''}`, seen)
      if (day.day !== undefined) add(dates, `${day.month}-`, seen)
      if (day.year !== undefined) add(numbers, 'year', { n: day.year, seen })
    }
    if (value.second !== undefined) times.push(seen)
    else if (value.amount === undefined && value.kind !== 'quote' && value.kind !== 'date')
      codes.set(value.normal, seen)
    if (value.amount === undefined || / /.test(value.text)) {
      for (const n of numbersInside(value)) add(numbers, 'inside', { n, seen })
    }
  }
  for (const { source, text } of texts) {
    for (const seen of numbersInWords(source, text)) add(numbers, 'inside', seen)
  }
  for (const entries of numbers.values()) entries.sort((a, b) => a.n - b.n)
  return { numbers, codes, dates, times }
}

const inWord = /(?<=[\p{L}_*])\d{1,9}(?:\.\d{1,6})?/gu

/** Returns the numbers that follow letters: 1.3 in `TLSv1.3`. */
function* numbersInWords(source: string, text: string): Generator<Entry> {
  for (const match of text.matchAll(inWord)) {
    const at = [match.index, match.index + match[0].length] as const
    const value: Value = { kind: 'number', text: match[0], at, normal: match[0] }
    yield { n: Number(match[0]), seen: { value, evidence: { source, quote: match[0], at } } }
  }
}

/** Returns the numbers inside an id, date or time: line 88 of `pages.ts:88`. */
function numbersInside({ text, kind }: Value): number[] {
  if (kind === 'quote') return []
  return (text.match(/\d{1,15}(?:\.\d{1,6})?/g) ?? []).map(Number)
}

const currencyWord =
  /[€$£¥₹]|(?<![\p{L}])(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|INR|JPY|CAD|AUD|euros?|dollars?|pounds?|francs?|franken|crowns?|kroner|kronor|kr)(?![\p{L}])/giu
const timeZone = /\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})|\b(?:UTC|GMT|CES?T|[ECMP][SD]T|JST|ET|PT)\b/

function marksOf(texts: SeenIndex['texts']): Pick<SeenIndex, 'currencies' | 'hasTimeZone'> {
  const currencies = new Set<string>()
  for (const { text } of texts) {
    for (const [word] of text.matchAll(currencyWord)) {
      const name = findCurrency(word)
      if (name !== undefined) currencies.add(name)
    }
  }
  return { currencies, hasTimeZone: texts.some(({ text }) => timeZone.test(text)) }
}

/** Returns the first entry in the range from `low` to `high`, both included. */
export function findWithin(
  entries: readonly Entry[] | undefined,
  low: number,
  high: number,
): Entry | undefined {
  if (entries === undefined) return undefined
  let from = 0
  let to = entries.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((entries[middle]?.n ?? 0) < low) from = middle + 1
    else to = middle
  }
  const entry = entries[from]
  return entry !== undefined && entry.n <= high ? entry : undefined
}
