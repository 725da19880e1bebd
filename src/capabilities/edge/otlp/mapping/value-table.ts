import type { ValueTable } from './contracts/contract-shape.ts'

/** Returns the meaning of a text; '' when the table does not have it. */
export type TableLookup = (text: string) => string

/** Maximum texts whose meaning is remembered; then all are forgotten. */
const remembered_max = 1_000

/** Compiles a value table. Lookups are remembered, because the same few words recur. */
export function compileTable(table: ValueTable): TableLookup {
  const exact = new Map<string, string>()
  const patterns: { pattern: RegExp; value: string }[] = []
  for (const [key, value] of Object.entries(table.values)) {
    if (key.includes('*')) patterns.push({ pattern: globPattern(key), value })
    else exact.set(key.toLowerCase(), value)
  }
  const known = (text: string) =>
    exact.get(text) ?? patterns.find(({ pattern }) => pattern.test(text))?.value
  const remembered = new Map<string, string>()
  return (text) => {
    const before = remembered.get(text)
    if (before !== undefined) return before
    const found = known(text.toLowerCase()) ?? elseOf(table, text, known)
    if (remembered.size >= remembered_max) remembered.clear()
    remembered.set(text, found)
    return found
  }
}

function elseOf(
  table: ValueTable,
  text: string,
  known: (text: string) => string | undefined,
): string {
  if (table.else === undefined) return ''
  const lower = text.toLowerCase()
  if (table.else === 'as_is') return text
  const dot = lower.indexOf('.')
  const first = dot <= 0 ? lower : lower.slice(0, dot)
  return known(first) ?? first
}

/** Compiles a pattern in which `*` matches any text, without risk of catastrophic backtracking. */
export function globPattern(glob: string): RegExp {
  const parts = glob.toLowerCase().split('*')
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`, 's')
}
