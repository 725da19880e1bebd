import type { Range } from '../../text/index.ts'
import type { Evidence, SeenText, Value } from '../../values/index.ts'
import { findCurrency, findUnit, readValues } from '../../values/index.ts'
import { classOfColumn } from './column-class.ts'
import { type Cell, isJson, readJson, readTables, type Structure } from './read-structure.ts'
import { unescapeJson } from './searchable-text.ts'
import type { Count } from './seen.ts'
import { counts_max, namesIn, type Seen } from './seen-value.ts'

/** Reads the values of a text with their cells, and counts its lists and equal cells. */
export function readSource({ source, text }: SeenText, counts: Map<number, Count[]>): Seen[] {
  const structure = isJson(text) ? readJson(text) : readTables(text)
  const evidenceAt = (at: Range): Evidence => ({
    source,
    quote: text.slice(...at).slice(0, 200),
    at,
  })
  const addCount = (length: number, at: Range, label?: string) => {
    const known = counts.get(length)
    const one = { evidence: evidenceAt(at), ...(label === undefined ? {} : { label }) }
    if (known === undefined) counts.set(length, [one])
    else if (known.length < counts_max) known.push(one)
  }
  for (const { length, at } of structure.listLengths) addCount(length, at)
  countEqualCells(text, structure, addCount)
  const labels = labelsOf(text, structure.cells)
  const names = new Map(labels.entries().map(([record, all]) => [record, namesIn(all)]))
  const findPlace = placesIn(text, structure.cells)
  return readValues(separated(text, structure)).flatMap((value) => {
    const { cell, position, line } = findPlace(value.at)
    const seen: Seen = {
      value,
      evidence: evidenceAt(value.at),
      scopes: [`${source} ${line}`],
      isRate: isRate(text, value),
    }
    if (cell === undefined || cell.at[1] - cell.at[0] > cell_chars_max) return [seen]
    const ancestors = ancestorsOf(structure, cell.record).map((record) => `${source}:${record}`)
    const named = { labels: labels.get(cell.record) ?? [], names: names.get(cell.record) ?? [] }
    const own = { ...seen, ...named, ancestors }
    // "98-91" has two numbers: those of all rows are two columns.
    const column = isWholeCell(text, value, cell) ? cell.column : `${cell.column} ${position}`
    return inCell(own, { ...cell, column }, source)
  })
}

const ancestors_max = 8

function ancestorsOf({ parents }: Structure, record: number): number[] {
  const found: number[] = []
  let parent = parents.get(record)
  while (parent !== undefined && found.length < ancestors_max) {
    found.push(parent)
    parent = parents.get(parent)
  }
  return found
}

const rateBehind =
  /^[^\d\n"{},;:]{0,12}?(?:(?<!\p{L})(?:each|per|an?|every|pro|je|par|por|cada|a head|pp)(?!\p{L})|\/ ?\p{L})/iu
const rateBefore = /(?<!\p{L})(?:je|à|at|zu je)\s?[€$£]?$/iu

/** Tells whether a number is a rate: "each" or "per night" follows, or "à" precedes. */
export function isRate(text: string, { amount, at: [start, end] }: Value): boolean {
  if (amount === undefined) return false
  return (
    rateBehind.test(text.slice(end, end + 20)) ||
    rateBefore.test(text.slice(Math.max(0, start - 8), start))
  )
}

type Place = { cell: Cell | undefined; position: number; line: number }

/**
 * Returns a function that finds the cell, the position in the cell, and the end of the line of each
 * range. The ranges must come in order: a text of one long line is read once.
 */
function placesIn(text: string, cells: readonly Cell[]): (at: Range) => Place {
  let next = 0
  let position = -1
  let line = text.indexOf('\n')
  return ([start, end]) => {
    const last = next
    while (next < cells.length && (cells[next]?.at[1] ?? 0) < end) next += 1
    position = next === last ? position + 1 : 0
    while (line >= 0 && line < start) line = text.indexOf('\n', line + 1)
    const cell = cells[next]
    const isInside = cell !== undefined && cell.at[0] <= start
    return { cell: isInside ? cell : undefined, position, line }
  }
}

/** Maximum characters of a cell that is read as values, not as a text. */
const cell_chars_max = 40

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

const taxWord = /^(?:net|gross|excl|incl|ex|vat|tax|netto|brutto|mwst|ust|ht|ttc|iva)$/i

/** Returns the value in its cell, and once more in the unit that the column's name has. */
function inCell(seen: Seen, cell: Cell, source: string): Seen[] {
  const { value } = seen
  const amount = value.amount
  const record = `${source}:${cell.record}`
  const scopes = [cell.column, record]
  const columnClass = classOfColumn(cell.column)
  const place = { column: `${source}:${cell.column}`, record, scopes, columnClass }
  if (amount?.unit !== '') return [{ ...seen, ...place }]
  // The column's name may contain the unit: `size_bytes`, `total_cents`, `price (€)`.
  const words = cell.column
    .split(/[^\p{L}°€$£%²³]+|(?<=[a-z])(?=[A-Z])/u)
    .filter((word) => word !== '')
  // `eur_excl_vat`: what an amount includes comes after its currency.
  const last = words.findLast((word) => !taxWord.test(word)) ?? ''
  const unit = findUnit(last)
  const isCents = /^cents?$|^pence$/i.test(last)
  const currency = findCurrency(last)
  const isNamed = unit !== undefined || isCents || currency !== undefined
  if (!isNamed || words.includes('per') || /^(?:min|m)$/.test(cell.column))
    return [{ ...seen, ...place }]
  const factor = isCents ? 0.01 : (unit?.factor ?? 1)
  const name = isCents ? 'cent' : (unit?.dimension ?? currency ?? '')
  const readings = amount.written.map((one) => (one + (unit?.offset ?? 0)) * factor)
  const own = {
    ...seen,
    ...place,
    value: { ...value, amount: { ...amount, readings, unit: name } },
  }
  // A single letter may be a name: `plan_b` has no bytes.
  return last.length === 1 ? [{ ...seen, ...place }, own] : [own]
}

/** Replaces separators between cells and escapes of JSON by blanks: all offsets stay. */
function separated(text: string, { cells }: Structure): string {
  if (isJson(text)) {
    return unescapeJson(text).replace(/,(?=\s{0,3}[-\d"[{tfn])(?!\d{3}(?!\d)[^"]{0,40}")/g, '\t')
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

/** Maximum distinct values whose cells are counted, of a source. */
const counted_values_max = 20_000

function countEqualCells(
  text: string,
  { cells }: Structure,
  report: (count: number, at: Range, label: string) => void,
): void {
  const counts = new Map<string, { count: number; at: Range; label: string }>()
  for (const { column, at } of cells) {
    const label = labelOf(text.slice(...at), column)
    const key = `${column} ${label}`
    const entry = counts.get(key)
    if (entry !== undefined) entry.count += 1
    else if (counts.size < counted_values_max) counts.set(key, { count: 1, at, label })
  }
  for (const { count, at, label } of counts.values()) report(count, at, label)
}

/** Returns what equal cells are called: their text, or the name of a column that is true. */
function labelOf(cell: string, column: string): string {
  const label = cell.replaceAll('"', '').trim().toLowerCase()
  return label === 'true' ? (column.split(/[^\p{L}]+/u).at(-1) ?? '').toLowerCase() : label
}
