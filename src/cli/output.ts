import { stringify } from 'yaml'
import { printable } from '../kernel/printable.ts'
import type { Arguments } from './command.ts'

/** Formats data as the --output option says; `table` makes the table. */
export function render(args: Arguments, data: unknown, table: () => string): string {
  const format = args.value('output') ?? 'table'
  if (format === 'json') return `${JSON.stringify(data, null, 2)}\n`
  return format === 'yaml' ? stringify(data, { aliasDuplicateObjects: false }) : table()
}

/**
 * Formats rows under their headings in columns. The last column is not padded. Control characters
 * of cells are escaped.
 */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((row) => row.map(printable))]
  const widths = headings.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  return all
    .map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('   '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}
