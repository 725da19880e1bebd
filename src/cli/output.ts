import { stringify } from 'yaml'
import type { Asked } from './command.ts'

/** The answer in the form that was asked for; a table is made by the command. */
export function rendered(asked: Asked, data: unknown, table: () => string): string {
  const form = asked.value('output') ?? 'table'
  if (form === 'json') return `${JSON.stringify(data, null, 2)}\n`
  return form === 'yaml' ? stringify(data, { aliasDuplicateObjects: false }) : table()
}

/** Rows under their headings, in columns; the last column is not padded. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  return all
    .map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('   '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}
