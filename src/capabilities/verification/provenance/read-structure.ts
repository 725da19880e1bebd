import type { Span } from './value.ts'

/** A cell of a table or a scalar of JSON: its column's name and its record's number. */
export type Cell = { column: string; record: number; at: Span }

/** The structure of a text: cells in records and columns, and the parts that are prose. */
export type Structure = { cells: Cell[]; listLengths: { length: number; at: Span }[] }

/** Maximum nesting of JSON that is read. */
const depth_max = 64

type Frame = { isArray: boolean; start: number; record: number; key: string; items: number }

const token = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/gs

/**
 * Reads JSON, also lines of JSON and JSON with text around, without parsing it as a whole: offsets
 * matter here, validity does not.
 */
export function readJson(text: string): Structure {
  const cells: Cell[] = []
  const listLengths: Structure['listLengths'] = []
  const stack: Frame[] = []
  let records = 0
  let pending: { text: string; at: Span } | undefined
  const flush = () => {
    const frame = stack.at(-1)
    if (pending !== undefined && frame !== undefined) {
      cells.push({ column: path(stack), record: frame.record, at: pending.at })
    }
    if (pending !== undefined && frame?.isArray === true) frame.items += 1
    pending = undefined
  }
  for (const match of text.matchAll(token)) {
    const sign = match[0]
    const at: Span = [match.index, match.index + sign.length]
    if (sign === '{' || sign === '[') {
      const parent = stack.at(-1)
      if (parent?.isArray === true) parent.items += 1
      if (stack.length >= depth_max) return { cells, listLengths }
      const isArray = sign === '['
      const record = isArray ? (parent?.record ?? 0) : ++records
      stack.push({ isArray, start: match.index, record, key: '', items: 0 })
    } else if (sign === '}' || sign === ']') {
      flush()
      const frame = stack.pop()
      if (frame?.isArray === true) {
        listLengths.push({ length: frame.items, at: [frame.start, at[1]] })
      }
    } else if (sign === ':') {
      const frame = stack.at(-1)
      if (frame !== undefined && pending !== undefined) frame.key = pending.text.replace(/"/g, '')
      pending = undefined
    } else if (sign === ',') flush()
    else pending = { text: sign, at }
  }
  flush()
  return { cells, listLengths }
}

function path(stack: readonly Frame[]): string {
  return stack
    .map(({ key }) => key)
    .filter((key) => key !== '')
    .slice(-3)
    .join('.')
}

const separators = [/\t/g, /\|/g, /;/g, /,/g, / {2,}/g]

/** Returns whether a text looks like JSON. */
export function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text)
}

/** Reads the tables of a text: two lines or more with the same number of cells, two or more. */
export function readTables(text: string): Structure {
  const structure: Structure = { cells: [], listLengths: [] }
  const lines = splitLines(text)
  let from = 0
  let record = 0
  while (from < lines.length) {
    const block = tableAt(text, lines, from)
    if (block === undefined) {
      from += 1
      continue
    }
    const names = block.rows[0]?.map(([start, end]) => text.slice(start, end).trim()) ?? []
    for (const row of block.rows) {
      record += 1
      for (const [column, at] of row.entries()) {
        structure.cells.push({ column: `${from}:${names[column] ?? column}`, record, at })
      }
    }
    const at: Span = [block.rows[0]?.[0]?.[0] ?? 0, lines[block.end - 1]?.[1] ?? 0]
    structure.listLengths.push({ length: block.rows.length, at })
    structure.listLengths.push({ length: block.rows.length - 1, at })
    from = block.end
  }
  return structure
}

/** Returns the offsets of each line. */
export function splitLines(text: string): Span[] {
  const lines: Span[] = []
  let start = 0
  while (start <= text.length) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    lines.push([start, end])
    start = end + 1
  }
  return lines
}

type Block = { rows: Span[][]; end: number }

function tableAt(text: string, lines: readonly Span[], from: number): Block | undefined {
  for (const separator of separators) {
    const rows: Span[][] = []
    let end = from
    let width = 0
    for (; end < lines.length; end += 1) {
      const [start, stop] = lines[end] ?? [0, 0]
      const cells = cellsOf(text, { start, stop, separator })
      if (cells.length < 2 || (width > 0 && cells.length !== width)) break
      // Decimal commas are none between cells: the first line names the columns.
      if (width === 0 && separator.source === ',' && /\d/.test(text.slice(start, stop))) break
      width = cells.length
      if (!/^[\s|:-]+$/.test(text.slice(start, stop))) rows.push(cells)
    }
    if (rows.length >= 2) return { rows, end }
  }
  return undefined
}

function cellsOf(
  text: string,
  { start, stop, separator }: { start: number; stop: number; separator: RegExp },
): Span[] {
  const cells: Span[] = []
  let from = start
  const line = text.slice(start, stop)
  for (const match of line.matchAll(separator)) {
    cells.push([from, start + match.index])
    from = start + match.index + match[0].length
  }
  cells.push([from, stop])
  const isFramed = separator.source === '\\|' && /^\s*\|/.test(line)
  return isFramed ? cells.slice(1, -1) : cells
}
