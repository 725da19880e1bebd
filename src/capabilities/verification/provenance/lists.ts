import type { Entry, List, Seen } from './seen.ts'

/** Maximum lists of everything seen. */
const lists_max = 20_000

/** Returns the columns of tables and JSON, whole and by the words of their rows, and the records. */
export function listsOf(values: readonly Seen[]): List[] {
  const lists = new Map<string, Entry[]>()
  const add = (key: string, entry: Entry) => {
    const entries = lists.get(key)
    if (entries !== undefined) entries.push(entry)
    else if (lists.size < lists_max) lists.set(key, [entry])
  }
  for (const seen of values) {
    const { amount } = seen.value
    const n = amount?.readings[0]
    if (amount === undefined || n === undefined || seen.column === undefined) continue
    add(`${seen.column} ${amount.unit}`, { n, seen })
    add(`record ${seen.record} ${amount.unit}`, { n, seen })
    for (const label of seen.labels ?? []) {
      add(`${seen.column} ${amount.unit} ${label}`, { n, seen })
    }
  }
  return [...lists.values()].flatMap(listFrom)
}

function listFrom(entries: readonly Entry[]): List[] {
  const [first] = entries
  if (first === undefined || entries.length < 2) return []
  const sum = entries.reduce((total, { n }) => total + n, 0)
  return [{ unit: first.seen.value.amount?.unit ?? '', sum, entries }]
}

const run_max = 12

/** Returns what an answer lists: runs of values, the columns of its lines, any three of a few. */
export function listsOfAnswer(text: string, supported: readonly Seen[]): List[] {
  const entries = supported
    .toSorted((a, b) => a.value.at[0] - b.value.at[0])
    .flatMap((seen) => {
      const n = seen.value.amount?.readings[0]
      return n === undefined ? [] : [{ n, seen }]
    })
  const byUnit = Map.groupBy(entries, unitOf)
  const all = [...columnsOf(text, entries)]
  for (const [unit, values] of byUnit) {
    all.push(...runsOf(values))
    if (unit !== '' && unit !== 'count') all.push(...triplesOf(values))
  }
  return all.flatMap(listFrom)
}

function unitOf({ seen }: Entry): string {
  return seen.value.amount?.unit ?? ''
}

function columnsOf(text: string, entries: readonly Entry[]): Entry[][] {
  const columns = new Map<string, Entry[]>()
  const lines = Map.groupBy(entries, ({ seen }) => text.lastIndexOf('\n', seen.value.at[0]))
  for (const [start, line] of lines) {
    // Lines of a list or table are apart from the sentences around them.
    const isItem = /^\s*(?:[-*•|]|\d+[.)])/.test(text.slice(start + 1, start + 20))
    for (const [unit, values] of Map.groupBy(line, unitOf)) {
      addToColumns(columns, `${isItem} ${unit}`, values)
    }
  }
  return [...columns.values()].filter(({ length }) => length > 2)
}

function addToColumns(columns: Map<string, Entry[]>, unit: string, values: Entry[]): void {
  for (const [at, entry] of values.entries()) {
    // Counted from the start of the line, and from its end.
    for (const key of [`${unit} ${at}`, `${unit} ${at - values.length}`]) {
      const column = columns.get(key)
      if (column === undefined) columns.set(key, [entry])
      else column.push(entry)
    }
  }
}

function runsOf(entries: readonly Entry[]): Entry[][] {
  const runs: Entry[][] = []
  for (let from = 0; from < entries.length; from += 1) {
    for (let end = from + 3; end <= Math.min(entries.length, from + run_max); end += 1) {
      runs.push(entries.slice(from, end))
    }
  }
  return runs
}

const triple_values_max = 14

function triplesOf(values: readonly Entry[]): Entry[][] {
  const entries = values.slice(0, triple_values_max)
  return entries.flatMap((one, a) =>
    entries
      .slice(a + 1)
      .flatMap((two, b) => entries.slice(a + b + 2).map((three) => [one, two, three])),
  )
}
