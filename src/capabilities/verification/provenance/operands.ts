import { type Operands, operandsFrom } from './derive-number.ts'
import { listsOfAnswer } from './lists.ts'
import type { Entry, Seen, SeenIndex } from './seen.ts'

/** What an answer is checked with; `supported` grows as its values find support. */
export type Context = { text: string; index: SeenIndex; supported: Seen[]; hasZone: boolean }

/** Maximum seen operands of derivations. */
const operands_max = 240

/** Collects the operands: all values if few were seen, else the records the answer quotes. */
export function collectOperands({ index, supported, text }: Context): Operands {
  const amounts = index.values.filter(({ value }) => value.amount !== undefined)
  const near = amounts.length <= operands_max ? amounts : relatedTo(amounts, supported)
  const all = [...supported, ...near.slice(0, operands_max)]
  const cache = new Map<string, Entry[]>()
  const of = (unit: string, per_unit = 1) => {
    const key = `${unit} ${per_unit}`
    const known = cache.get(key)
    if (known !== undefined) return known
    const entries = operandsFrom(all, unit, per_unit).sort((a, b) => a.n - b.n)
    cache.set(key, entries)
    return entries
  }
  const counts = [...of('count'), ...countsAsWritten(all)].sort((a, b) => a.n - b.n)
  const percents = all.flatMap((seen) =>
    seen.value.amount?.unit === '%' || /pct|percent|rate/i.test(seen.column ?? '')
      ? (seen.value.amount?.written ?? []).map((n) => ({ n, seen }))
      : [],
  )
  percents.sort((a, b) => a.n - b.n)
  return { of, counts, percents, lists: [...index.lists, ...listsOfAnswer(text, supported)] }
}

function countsAsWritten(all: readonly Seen[]): Entry[] {
  return all.flatMap((seen) => {
    const amount = seen.value.amount
    return amount?.unit === 'duration' ? amount.written.map((n) => ({ n, seen })) : []
  })
}

function relatedTo(amounts: readonly Seen[], supported: readonly Seen[]): Seen[] {
  const quoted = new Set(supported.map(({ value }) => value.normal))
  const records = new Set<string>()
  for (const { value, record } of amounts) {
    if (record !== undefined && quoted.has(value.normal)) records.add(record)
  }
  return amounts.filter(({ record }) => record !== undefined && records.has(record))
}
