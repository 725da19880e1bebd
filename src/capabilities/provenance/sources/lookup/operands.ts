import type { Range } from '../../text/index.ts'
import { classOf, isYear } from '../seen/column-class.ts'
import { isMoney, listsOfAnswer } from '../seen/lists.ts'
import { type Entry, findWithin, type ListIndex, type Seen, type SeenIndex } from '../seen/seen.ts'

/** The answer, the index, and the values of the answer that are supported so far. */
export type Context = {
  text: string
  index: SeenIndex
  supported: Seen[]
  /** Seen numbers that may be operands; collected once. */
  near?: readonly Seen[]
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

/** Values that belong together: in an object, a column, a line or the answer. */
export class Group {
  readonly #values: readonly Seen[]
  readonly #own: ReadonlySet<Seen> | undefined
  readonly #cache = new Map<string, readonly Entry[]>()

  /** Of two operands, one at least is of `own`, the values of the answer, if it is given. */
  constructor(values: readonly Seen[], own?: readonly Seen[]) {
    this.#values = values
    this.#own = own === undefined ? undefined : new Set(own)
  }

  /** Returns the operands of a unit, including those whose unit is unknown, sorted by number. */
  of(unit: string, per_unit = 1): readonly Entry[] {
    return this.#cached(`${unit} ${per_unit}`, () => operandsFrom(this.#values, unit, per_unit))
  }

  /** Counts and numbers without unit, and durations as written: what multiplies an amount. */
  get counts(): readonly Entry[] {
    return this.#cached('counts', () => [
      ...operandsFrom(this.#values, 'count', 1),
      ...entriesAsWritten(this.#values, ({ value }) => value.amount?.unit === 'duration'),
    ])
  }

  /** Counts and numbers without unit that are not years: what a share is of. */
  get wholes(): readonly Entry[] {
    return this.#cached('wholes', () =>
      operandsFrom(this.#values, '', 1).filter(({ seen }) => !isYear(seen.value)),
    )
  }

  get percents(): readonly Entry[] {
    return this.#cached('percents', () => entriesAsWritten(this.#values, isPercentage))
  }

  /** Whether only one operand of two needs to be named by the answer. */
  get isLoose(): boolean {
    return this.#own !== undefined
  }

  /** Number of the operands of which one at least is needed. */
  get ownCount(): number {
    return this.#own?.size ?? this.#values.length
  }

  /** Finds an operand in a range that may be combined with another. */
  findPartner(
    entries: readonly Entry[],
    other: Entry,
    [low, high]: readonly [low: number, high: number],
  ): Entry | undefined {
    const isFree = this.#own?.has(other.seen) !== false
    const kind = classOf(other.seen)
    return findWithin(
      entries,
      low,
      high,
      ({ seen, n }) =>
        n !== 0 &&
        seen !== other.seen &&
        (isFree || this.#own?.has(seen) === true) &&
        isSameClass(kind, seen, other),
    )
  }

  #cached(key: string, read: () => Entry[]): readonly Entry[] {
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const entries = read().sort((a, b) => a.n - b.n)
    this.#cache.set(key, entries)
    return entries
  }
}

/** Two numbers without unit are of one class, unless one of them multiplies the other. */
function isSameClass(kind: ReturnType<typeof classOf>, seen: Seen, other: Entry): boolean {
  const isPlain = (one: Seen) => /^(?:|count)$/.test(one.value.amount?.unit ?? '')
  if (!isPlain(seen) || !isPlain(other.seen)) return true
  const own = classOf(seen)
  return kind === undefined || own === undefined || kind === own || other.isFactor === true
}

function isPercentage({ value, column = '' }: Seen): boolean {
  return value.amount?.unit === '%' || /pct|percent|rate/i.test(column)
}

function entriesAsWritten(values: readonly Seen[], isWanted: (seen: Seen) => boolean): Entry[] {
  return values
    .filter(isWanted)
    .flatMap((seen) => (seen.value.amount?.written ?? []).map((n) => ({ n, seen, isFactor: true })))
}

/** The unit of a target whose unit may be in the heading of its column. */
export const anyUnit = '*'

/** Returns the seen values as operands in a unit's base, or as written. */
function operandsFrom(seen: readonly Seen[], unit: string, per_unit: number): Entry[] {
  const isOfMoney = isMoney(unit)
  return seen.flatMap((one) => {
    const { amount } = one.value
    if (amount === undefined) return []
    if (isSameUnit(unit, amount.unit)) {
      if (unit === 'count' && classOf(one) === 'money') return []
      return amount.readings.map((n) => ({ n: n / per_unit, seen: one }))
    }
    const isBare = unit === anyUnit || (amount.unit === '' && isWithoutNoun(one))
    if (!isBare || (isOfMoney && classOf(one) === 'count')) return []
    return amount.written.map((n) => ({ n, seen: one }))
  })
}

/** A number in prose with a noun behind counts something: it is neither an amount nor a measure. */
function isWithoutNoun({ value, column }: Seen): boolean {
  return column !== undefined || value.amount?.noun === undefined
}

function isSameUnit(one: string, other: string): boolean {
  if (one === other || (isUnknown(one) && isUnknown(other))) return true
  return isMoney(one) && isMoney(other) && (one === 'cent' || other === 'cent')
}

function isUnknown(unit: string): boolean {
  return unit === '' || unit === 'count'
}

/** Maximum seen operands of derivations. */
const operands_max = 240
/** Numbers of everything seen up to which any two may be combined. */
const few_max = 12
/** Numbers of everything seen up to which each may be combined with one that the answer names. */
const named_max = 120
/** Numbers of an object, a column or a line up to which any two may be combined. */
const group_max = 40
/** Values of the answer before and behind a value that it may be derived from. */
const neighbours_max = 12

/** Collects the operands: the answer's own values, and the values that belong together in the sources. */
export function collectOperands(context: Context): Operands {
  const { index, supported, text } = context
  context.near ??= findNear(index.amounts, supported).slice(0, operands_max)
  const { near } = context
  const own = supported
    .filter(({ value }) => value.amount !== undefined)
    .sort((a, b) => a.value.at[0] - b.value.at[0])
  const groups = groupsOf(near)
  if (near.length <= few_max) groups.push(new Group([...own.slice(-few_max), ...near]))
  return {
    groupsAt: ([start]) => {
      const before = own.findLastIndex(({ value }) => value.at[0] < start) + 1
      const around = own.slice(Math.max(0, before - neighbours_max), before + neighbours_max)
      const named = near.length <= named_max ? [new Group([...around, ...near], around)] : []
      return [new Group(around), ...groups, ...named]
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
