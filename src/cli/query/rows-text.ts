import { printable } from '../../kernel/printable.ts'
import type { CommandIo } from '../command.ts'
import { type Column, tableOf } from '../terminal/table.ts'

/** A column of an answer. */
export type AnswerColumn = { name: string; type: string }

/** Rows by the names of their columns. */
export type AnswerRows = readonly Readonly<Record<string, unknown>>[]

const numbers = new Set(['integer', 'decimal', 'float'])
const widthLeast = 12

/** Formats rows as a table; columns of text are cut to fit a terminal. */
export function rowsTable(
  columns: readonly AnswerColumn[],
  rows: AnswerRows,
  io: Pick<CommandIo, 'columns' | 'styled'>,
): string {
  const heads = columns.map(({ name, type }): Column => {
    const heading = name.toUpperCase()
    return numbers.has(type) ? { heading, align: 'right' } : { heading, shrinks_to: widthLeast }
  })
  const cells = rows.map((row) => columns.map(({ name }) => valueText(row[name])))
  return tableOf(heads, cells, { io })
}

/** Returns a value as text: empty for an unknown one, JSON for a list or map. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Formats rows as CSV (RFC 4180) with a line of names. A text that a spreadsheet would run as a formula
 * begins with an apostrophe. At a terminal, control characters are escaped.
 */
export function rowsCsv(
  columns: readonly AnswerColumn[],
  rows: AnswerRows,
  { columns: width }: Pick<CommandIo, 'columns'>,
): string {
  const isTerminal = width() !== undefined
  const lines = [
    columns.map(({ name }) => csvField(name)),
    ...rows.map((row) => columns.map(({ name }) => csvField(row[name]))),
  ]
  return lines
    .map((fields) => fields.join(','))
    .map((line) => `${isTerminal ? printable(line) : line}\r\n`)
    .join('')
}

function csvField(value: unknown): string {
  const text = valueText(value)
  const isFormula =
    typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
