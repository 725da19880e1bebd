import type { Range } from '../../text/index.ts'
import { splitLines } from '../../text/index.ts'

/** A cell of a table or a scalar of JSON: its column's name and its record's number. */
export type Cell = { column: string; record: number; at: Range }

/** The structure of a text: cells in records and columns, and the parts that are prose. */
export type Structure = {
  cells: Cell[]
  listLengths: { length: number; at: Range }[]
  /** The record around each record. */
  parents: Map<number, number>
}

/** Maximum nesting of JSON that is read. */
const depth_max = 64

type Frame = { isArray: boolean; start: number; record: number; key: string; items: number }

type Json = Structure & { stack: Frame[]; records: number; pending?: Token | undefined }
type Token = { text: string; at: Range }

/** A string that is cut is read to the end of the text: it must match, or each quote is tried. */
const token = /"(?:[^"\\]|\\(?:.|$))*(?:"|$)|[[\]{}:,]|[^\s"[\]{}:,]+/gs

/**
 * Reads JSON, also lines of JSON and JSON with text around, without parsing it as a whole: offsets
 * matter here, validity does not.
 */
export function readJson(text: string): Structure {
  const json: Json = { cells: [], listLengths: [], parents: new Map(), stack: [], records: 0 }
  for (const match of text.matchAll(token)) {
    const sign = match[0]
    const at: Range = [match.index, match.index + sign.length]
    if (sign === '{' || sign === '[') open(json, sign, at)
    else if (sign === '}' || sign === ']') close(json, at)
    else if (sign === ',') flush(json)
    else if (sign === ':') nameKey(json)
    else json.pending = { text: sign, at }
    if (json.stack.length > depth_max) break
  }
  flush(json)
  return json
}

function open(json: Json, sign: string, [start]: Range): void {
  const parent = json.stack.at(-1)
  if (parent?.isArray === true) parent.items += 1
  const isArray = sign === '['
  if (!isArray) json.records += 1
  if (!isArray && parent !== undefined && parent.record > 0)
    json.parents.set(json.records, parent.record)
  const record = isArray ? (parent?.record ?? 0) : json.records
  json.stack.push({ isArray, start, record, key: '', items: 0 })
}

function close(json: Json, [, end]: Range): void {
  flush(json)
  const frame = json.stack.pop()
  if (frame?.isArray !== true) return
  json.listLengths.push({ length: frame.items, at: [frame.start, end] })
}

function nameKey(json: Json): void {
  const frame = json.stack.at(-1)
  if (frame !== undefined && json.pending !== undefined) {
    frame.key = json.pending.text.replace(/"/g, '')
  }
  json.pending = undefined
}

function flush(json: Json): void {
  const frame = json.stack.at(-1)
  if (json.pending === undefined || frame === undefined) return
  json.cells.push({ column: path(json.stack), record: frame.record, at: json.pending.at })
  if (frame.isArray) frame.items += 1
  json.pending = undefined
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
  const structure: Structure = { cells: [], listLengths: [], parents: new Map() }
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
    const at: Range = [block.rows[0]?.[0]?.[0] ?? 0, lines[block.end - 1]?.[1] ?? 0]
    structure.listLengths.push({ length: block.rows.length, at })
    structure.listLengths.push({ length: block.rows.length - 1, at })
    from = block.end
  }
  return structure
}

type Block = { rows: Range[][]; end: number }

function tableAt(text: string, lines: readonly Range[], from: number): Block | undefined {
  for (const separator of separators) {
    const block = rowsAt(text, { lines, from }, separator)
    if (block.rows.length >= 2) return block
  }
  return undefined
}

/** Maximum rows of a table; the next table begins after them. */
const rows_max = 2000

function rowsAt(
  text: string,
  { lines, from }: { lines: readonly Range[]; from: number },
  separator: RegExp,
): Block {
  const rows: Range[][] = []
  let width = 0
  let end = from
  for (; end < lines.length && end < from + rows_max; end += 1) {
    const [start, stop] = lines[end] ?? [0, 0]
    const line = text.slice(start, stop)
    const cells = cellsOf(line, start, separator)
    // A comma between digits may be a decimal sign: the first line must name the columns.
    const isHead = width > 0 || separator.source !== ',' || !/\d/.test(line)
    if (cells.length < 2 || !isHead || (width > 0 && cells.length !== width)) break
    width = cells.length
    if (!/^[\s|:-]+$/.test(line)) rows.push(cells)
  }
  return { rows, end }
}

function cellsOf(line: string, start: number, separator: RegExp): Range[] {
  const cells: Range[] = []
  let from = start
  for (const match of line.matchAll(separator)) {
    cells.push([from, start + match.index])
    from = start + match.index + match[0].length
  }
  cells.push([from, start + line.length])
  const isFramed = separator.source === '\\|' && /^\s*\|/.test(line)
  return isFramed ? cells.slice(1, -1) : cells
}
