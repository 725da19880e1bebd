import { printableLines } from '../../kernel/printable.ts'
import type { CommandIo, Style } from '../command.ts'
import { cutTo, oneLine, padTo, widthOf, wrapText } from './terminal-text.ts'

/** A column of a table. */
export type Column = {
  heading: string
  /** Alignment of the cells; numbers are aligned to the right. */
  align?: 'right'
  /** Width to which the column may be cut to fit the terminal. Without it, it is never cut. */
  shrinks_to?: number
  /** Least width, so that tables that are printed one after the other have equal columns. */
  width_min?: number
  /**
   * The last column, as a line of its own below the row where it does not fit beside the others.
   */
  below?: true
}

/** A cell of a table; only its text is measured and cut. */
export type Cell = string | { text: string; style: Style }

/** A text below a row: cut to one line, or whole and wrapped. */
export type Below = { text: string; style?: Style; wraps?: boolean }

/** A row of a table. */
export type Row = readonly Cell[] | { cells: readonly Cell[]; below: readonly Below[] }

/** How a table is printed. */
export type TableOptions = {
  /** Terminal to which the table is fitted; without one nothing is cut or styled. */
  io?: Pick<CommandIo, 'columns' | 'styled'>
  /** Whether the first line has the headings. Default: true. */
  has_headings?: boolean
  /** Columns before texts below rows. */
  indent?: number
}

const gap = '   '
const indentDefault = 2

/** Characters of a text below a row that is cut, where no terminal gives a width. */
const maxBelowWidth = 240

/**
 * Formats rows under their headings in columns. At a terminal, columns that may shrink are cut so that
 * lines fit. Control characters and characters that change the direction of text are escaped.
 */
export function tableOf(
  columns: readonly (string | Column)[],
  rows: readonly Row[],
  { io, has_headings = true, indent = indentDefault }: TableOptions = {},
): string {
  const all = columns.map((one): Column => (typeof one === 'string' ? { heading: one } : one))
  const cells = rows.map((row) => all.map((_, i) => toCell(cellsOf(row)[i] ?? '')))
  const available = io?.columns() ?? Number.POSITIVE_INFINITY
  const widths = widthsOf(all, cells, has_headings)
  const isBelow = all.at(-1)?.below === true && !fits(all, widths, available)
  const shown = isBelow ? all.slice(0, -1) : all
  const fitted = fitWidths(shown, widths.slice(0, shown.length), available)
  const line = (row: readonly StyledText[]) =>
    shown
      .map((column, i) => fillCell(row[i] ?? { text: '' }, column, fitted[i] ?? 0, io))
      .join(gap)
      .trimEnd()
  const headings = has_headings ? [line(all.map(({ heading }) => ({ text: heading })))] : []
  const lines = cells.flatMap((row, i) => {
    const last = row.at(-1)
    const below = [...(isBelow && last !== undefined ? [last] : []), ...belowOf(rows[i] ?? [])]
    return [line(row), ...below.flatMap((one) => belowLines(one, io, indent))]
  })
  return [...headings, ...lines].map((one) => `${one}\n`).join('')
}

/**
 * Formats a text below a row, or of a page: indented, and cut or wrapped to the terminal. Control
 * characters are escaped.
 */
export function belowLines(
  { text, style, wraps = false }: Below,
  io: TableOptions['io'],
  indent = indentDefault,
): string[] {
  const columns = io?.columns()
  const width = columns === undefined ? undefined : Math.max(columns - indent, 1)
  const lines = wraps
    ? printableLines(text)
        .split('\n')
        .flatMap((line) => (width === undefined ? [line] : wrapText(line, width)))
    : [cutTo(oneLine(text), width ?? maxBelowWidth)]
  return lines
    .filter((line) => line !== '')
    .map((line) => `${' '.repeat(indent)}${paint(line, style, io)}`)
}

function cellsOf(row: Row): readonly Cell[] {
  return 'cells' in row ? row.cells : row
}

function belowOf(row: Row): readonly Below[] {
  return 'below' in row ? row.below : []
}

type StyledText = { text: string; style?: Style }

function toCell(cell: Cell): StyledText {
  return typeof cell === 'string' ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) }
}

function widthsOf(
  columns: readonly Column[],
  rows: readonly (readonly StyledText[])[],
  has_headings: boolean,
): number[] {
  return columns.map(({ heading, width_min = 0 }, i) => {
    let width = Math.max(width_min, has_headings ? widthOf(heading) : 0)
    for (const row of rows) width = Math.max(width, widthOf(row[i]?.text ?? ''))
    return width
  })
}

/** Returns whether the last column has its least width beside the others, which are not cut. */
function fits(columns: readonly Column[], widths: readonly number[], available: number): boolean {
  const least = widths.map((width, i) => {
    const isLast = i === columns.length - 1
    return isLast ? Math.min(width, columns[i]?.shrinks_to ?? width) : width
  })
  return lineWidth(least) <= available
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1))
}

/** Cuts the widest columns that may shrink, until a line fits or none can be cut further. */
function fitWidths(
  columns: readonly Column[],
  widths: readonly number[],
  available: number,
): number[] {
  const fitted = [...widths]
  const spare = (i: number) => (fitted[i] ?? 0) - (columns[i]?.shrinks_to ?? fitted[i] ?? 0)
  for (let over = lineWidth(fitted) - available; over > 0; over = lineWidth(fitted) - available) {
    const widest = fitted
      .map((width, i) => ({ width, i }))
      .filter(({ i }) => spare(i) > 0)
      .sort((a, b) => b.width - a.width)[0]
    if (widest === undefined) break
    fitted[widest.i] = widest.width - Math.min(over, spare(widest.i))
  }
  return fitted
}

function fillCell(
  { text, style }: StyledText,
  { align }: Column,
  width: number,
  io: TableOptions['io'],
): string {
  const cut = cutTo(text, width)
  // Only the text is styled, so that the end of a line can be trimmed.
  const filled = padTo(cut, width, align === 'right' ? 'right' : 'left')
  return style === undefined || cut === ''
    ? filled
    : filled.replace(cut, () => paint(cut, style, io))
}

function paint(text: string, style: Style | undefined, io: TableOptions['io']): string {
  return style === undefined || io === undefined ? text : io.styled(style, text)
}
