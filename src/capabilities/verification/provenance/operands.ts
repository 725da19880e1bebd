import { type Operands, operandsFrom } from './derive-number.ts'
import { listsOfAnswer } from './lists.ts'
import type { Entry, Seen, SeenIndex } from './seen.ts'

/** The answer, the index, and the values of the answer that are supported so far. */
export type Context = {
  text: string
  index: SeenIndex
  supported: Seen[]
  hasZone: boolean
  near?: readonly Seen[]
}

/** Maximum seen operands of derivations. */
const operands_max = 240

/** Collects the operands: all values if few were seen, else the records the answer quotes. */
export function collectOperands(context: Context): Operands {
  const { index, supported, text } = context
  context.near ??= findNear(index.amounts, supported).slice(0, operands_max)
  const all = [...supported.slice(0, operands_max), ...context.near]
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

/** All values if few were seen, else those of records that the answer quotes. */
function findNear(amounts: readonly Seen[], supported: readonly Seen[]): readonly Seen[] {
  if (amounts.length <= operands_max) return amounts
  const quoted = new Set(supported.map(({ value }) => value.normal))
  const records = new Set<string>()
  for (const { value, record } of amounts) {
    if (record !== undefined && quoted.has(value.normal)) records.add(record)
  }
  return amounts.filter(({ record }) => record !== undefined && records.has(record))
}
