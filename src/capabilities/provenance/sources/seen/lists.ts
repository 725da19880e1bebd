import { splitSentences } from '../../text/index.ts'
import type { Amount } from '../../values/index.ts'
import { type Entry, findWithin, type List, type ListIndex, type Seen, type Total } from './seen.ts'

/** Maximum lists of everything seen. */
const lists_max = 20_000
/** Numbers of one object that may be added up; a larger object is not a list of amounts. */
const object_numbers_max = 12

/** Returns the columns of tables and JSON, whole and by the words of their rows, and the objects. */
export function listsOf(values: readonly Seen[]): ListIndex {
  const lists = new Map<string, Entry[]>()
  const objects = new Map<string, Entry[]>()
  const add = (to: Map<string, Entry[]>, key: string, entry: Entry) => {
    const entries = to.get(key)
    if (entries !== undefined) entries.push(entry)
    else if (lists.size + objects.size < lists_max) to.set(key, [entry])
  }
  for (const seen of values) {
    const { amount } = seen.value
    const n = amount?.readings[0]
    if (amount === undefined || n === undefined || seen.column === undefined) continue
    add(lists, `${seen.column} ${amount.unit}`, { n, seen })
    add(objects, `${seen.record} ${amount.unit}`, { n, seen })
    for (const label of seen.labels ?? []) {
      add(lists, `${seen.column} ${amount.unit} ${label}`, { n, seen })
    }
  }
  const small = [...objects.values()].filter(({ length }) => length <= object_numbers_max)
  return indexLists([...lists.values(), ...small])
}

function indexLists(lists: readonly (readonly Entry[])[]): ListIndex {
  const index = new Map<string, { sums: Total[]; means: Total[] }>()
  for (const list of lists.flatMap(listFrom)) {
    const { sums, means } = index.get(list.unit) ?? { sums: [], means: [] }
    sums.push({ n: list.sum, list })
    means.push({ n: list.sum / list.entries.length, list })
    index.set(list.unit, { sums, means })
  }
  for (const totals of index.values()) {
    for (const one of [totals.sums, totals.means]) one.sort((a, b) => a.n - b.n)
  }
  return index
}

function listFrom(entries: readonly Entry[]): List[] {
  const [first] = entries
  if (first === undefined || entries.length < 2) return []
  const sum = entries.reduce((total, { n }) => total + n, 0)
  return [{ unit: first.seen.value.amount?.unit ?? '', sum, entries }]
}

export type Wanted = {
  unit: string
  n: number
  tolerance: number
  /** Base units in one written unit. */
  per_unit: number
}

/** Finds a list of a unit that fits whose sum or mean is a number. */
export function findTotal(
  index: ListIndex,
  total: 'sums' | 'means',
  { unit, n, tolerance, per_unit }: Wanted,
): List | undefined {
  for (const [other, lists] of index) {
    if (!isCompatible(unit, other)) continue
    // Numbers without unit are in the unit that the answer writes.
    const factor = other === '' ? 1 : per_unit
    const found = findWithin(lists[total], (n - tolerance) * factor, (n + tolerance) * factor)
    if (found !== undefined) return found.list
  }
  return undefined
}

function isCompatible(unit: string, other: string): boolean {
  return unit === other || unit === '' || other === '' || (isMoney(unit) && other === 'cent')
}

/** Returns whether a unit is a currency or its cents. */
export function isMoney(unit: string): boolean {
  return /^[A-Z]{2,3}$|^cent$/.test(unit)
}

const run_max = 12

/** Returns what an answer lists: runs of values in a sentence, and the columns of its lines. */
export function listsOfAnswer(text: string, supported: readonly Seen[]): ListIndex {
  const entries = supported
    .toSorted((a, b) => a.value.at[0] - b.value.at[0])
    .flatMap((seen) => {
      const n = seen.value.amount?.readings[0]
      return n === undefined ? [] : [{ n, seen }]
    })
  return indexLists([...columnsOf(text, entries), ...runsOfSentences(text, entries)])
}

function unitOf({ seen }: Entry): Amount['unit'] {
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

/** Returns the runs of three values or more of one unit, within a sentence or two. */
function runsOfSentences(text: string, entries: readonly Entry[]): Entry[][] {
  const starts = splitSentences(text, { start: 0, end: text.length }).map(({ start }) => start)
  let sentence = 0
  const numbered = entries.map((entry) => {
    while ((starts[sentence + 1] ?? Number.POSITIVE_INFINITY) <= entry.seen.value.at[0]) {
      sentence += 1
    }
    return { entry, sentence }
  })
  return [...Map.groupBy(numbered, ({ entry }) => unitOf(entry)).values()].flatMap(runsOf)
}

function runsOf(entries: readonly { entry: Entry; sentence: number }[]): Entry[][] {
  const runs: Entry[][] = []
  for (const [from, { sentence }] of entries.entries()) {
    const run = entries
      .slice(from, from + run_max)
      .filter((one) => one.sentence <= sentence + 1)
      .map(({ entry }) => entry)
    for (let length = 3; length <= run.length; length += 1) runs.push(run.slice(0, length))
  }
  return runs
}
