import { stringify } from 'yaml'
import { printable, printableLines } from '../kernel/printable.ts'
import type { Arguments } from './command.ts'

/** Formats data as the --output option says; `table` makes the table. */
export function render(args: Arguments, data: unknown, table: () => string): string {
  const format = args.value('output') ?? 'table'
  if (format === 'json') return `${printableJson(data)}\n`
  return format === 'yaml' ? stringify(data, { aliasDuplicateObjects: false }) : table()
}

/**
 * Formats data as JSON, on several lines. Characters that could change a terminal are escaped, which
 * changes no value.
 */
function printableJson(data: unknown): string {
  return printableLines(JSON.stringify(data, null, 2) ?? 'null')
}

/** Formats data as JSON on one line, escaped like `printableJson`. */
export function printableJsonLine(data: unknown): string {
  return `${printable(JSON.stringify(data) ?? 'null')}\n`
}
