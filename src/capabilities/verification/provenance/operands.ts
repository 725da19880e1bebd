import type { Range } from '../text/mapped-text.ts'
import { isMoney, type ListIndex, listsOfAnswer } from './lists.ts'
import type { Entry, Seen, SeenIndex } from './seen.ts'

/** The answer, the index, and the values of the answer that are supported so far. */
export type Context = {
  text: string
  index: SeenIndex
  supported: Seen[]
  hasZone: boolean
}

/** Operands of derivations. */
export type Operands = {
  /** Groups of values that may be combined with each other, for a value at this place. */
  groupsAt: (at: Range) => readonly Group[]
  /** The rates and amounts that a conversion between currencies combines. */
  all: Group
  /** Whole columns, and the lists of the answer. */
  lists: readonly ListIndex[]
}

/** Values that stand together: in an object, a column, a line or the answer. */
export class Group {
  readonly #values: readonly Seen[]
  readonly #cache = new Map<string, readonly Entry[]>()

  constructor(values: readonly Seen[]) {
    this.#values = values
  }

  /** Returns the operands of a unit, including those whose unit is unknown, sorted by number. */
  of(unit: string, per_unit = 1): readonly Entry[] {
    return this.#cached(`${unit} ${per_unit}`, () => operandsFrom(this.#values, unit, per_unit))
  }

  /** Counts and numbers without unit. */
  get counts(): readonly Entry[] {
    return this.#cached('counts', () => [
      ...this.of('count'),
      ...entriesAsWritten(this.#values, ({ value }) => value.amount?.unit === 'duration'),
    ])
  }

  get percents(): readonly Entry[] {
    return this.#cached('percents', () => entriesAsWritten(this.#values, isPercentage))
  }

  #cached(key: string, read: () => Entry[]): readonly Entry[] {
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const entries = read().sort((a, b) => a.n - b.n)
    this.#cache.set(key, entries)
    return entries
  }
}

function isPercentage({ value, column = '' }: Seen): boolean {
  return value.amount?.unit === '%' || /pct|percent|rate/i.test(column)
}

function entriesAsWritten(values: readonly Seen[], isWanted: (seen: Seen) => boolean): Entry[] {
  return values
    .filter(isWanted)
    .flatMap((seen) => (seen.value.amount?.written ?? []).map((n) => ({ n, seen })))
}

/** Returns the seen values as operands in a unit's base, or as written. */
function operandsFrom(seen: readonly Seen[], unit: string, per_unit: number): Entry[] {
  return seen.flatMap((one) => {
    const amount = one.value.amount
    if (amount === undefined) return []
    const isOwn =
      amount.unit === unit ||
      (isMoney(unit) && isMoney(amount.unit) && (unit === 'cent' || amount.unit === 'cent'))
    const isBare = unit === '' || amount.unit === ''
    const scaled = amount.readings.map((n) => n / per_unit)
    const numbers = isOwn ? scaled : isBare ? amount.written : []
    return numbers.map((n) => ({ n, seen: one }))
  })
}

/** Maximum seen operands of derivations. */
const operands_max = 240
/** Numbers of everything seen up to which all may be combined. */
const few_max = Number(process.env['FEW'] ?? 25)
/** Numbers of a group up to which any two may be combined. */
const group_max = Number(process.env['GROUP'] ?? 40)
/** Values of the answer before and behind a value that it may be derived from. */
const neighbours_max = Number(process.env['NEIGH'] ?? 12)

/** Collects the operands: the answer's own values, and what stands together in the sources. */
export function collectOperands({ index, supported, text }: Context): Operands {
  const near = findNear(index.amounts, supported).slice(0, operands_max)
  const groups = groupsOf(near)
  if (near.length <= few_max) groups.push(new Group([...supported.slice(-few_max), ...near]))
  const own = supported
    .filter(({ value }) => value.amount !== undefined)
    .sort((a, b) => a.value.at[0] - b.value.at[0])
  return {
    groupsAt: ([start]) => {
      const before = own.findLastIndex(({ value }) => value.at[0] < start)
      const around = own.slice(
        Math.max(0, before + 1 - neighbours_max),
        before + 1 + neighbours_max,
      )
      return [new Group(around), ...groups]
    },
    all: new Group([...own.slice(0, operands_max), ...near]),
    lists: [index.lists, listsOfAnswer(text, own)],
  }
}

function groupsOf(values: readonly Seen[]): Group[] {
  const groups = new Map<string, Seen[]>()
  for (const seen of values) {
    for (const scope of seen.scopes) {
      const group = groups.get(scope)
      if (group === undefined) groups.set(scope, [seen])
      else group.push(seen)
    }
  }
  return [...groups.values()]
    .filter(({ length }) => length > 1 && length <= group_max)
    .map((group) => new Group(group))
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
