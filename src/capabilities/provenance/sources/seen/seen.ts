import type { Evidence } from '../../values/index.ts'
import type { SearchableText } from './searchable-text.ts'
import type { Seen } from './seen-value.ts'
import type { Subjects } from './subjects.ts'

export type { Seen }

/** A number that can be looked up: in the base unit, or as written. */
export type Entry = {
  n: number
  seen: Seen
  /** Whether it multiplies: a percentage, or the number of a duration. */
  isFactor?: boolean
}

/** Numbers that belong together: a column, a group of its rows, a record, a run of an answer. */
export type List = { unit: string; sum: number; entries: readonly Entry[] }

/** Lists by the unit of their numbers, sorted by their sums and by their means. */
export type ListIndex = ReadonlyMap<string, { sums: readonly Total[]; means: readonly Total[] }>

export type Total = { n: number; list: List }

/** A list of some length, or cells with one text, in lower case. */
export type Count = { evidence: Evidence; label?: string }

/** A line of a crontab: its minute, and its hour or every how many hours it runs. */
export type Schedule = { minute: number; hour: number; step?: number; seen: Seen }

/** Traits of the seen values, which values that were not found are compared with. */
export type Traits = {
  /** Forms of the ids: `kx-9999`. */
  readonly shapes: ReadonlySet<string>
  /** Letters and digits of the ids, and of long numbers. */
  readonly codes: ReadonlySet<string>
}

/** Everything the agent saw, arranged for look-up. */
export type SeenIndex = {
  values: readonly Seen[]
  /** By unit, sorted: numbers in base units. The key `written` has all numbers as written. */
  numbers: ReadonlyMap<string, readonly Entry[]>
  /** By normal form: ids, versions, URLs, e-mail addresses, paths. */
  codes: ReadonlyMap<string, Seen>
  /** Dates by month and day (`6-14`), and by month alone (`6-`). */
  dates: ReadonlyMap<string, readonly Seen[]>
  times: readonly Seen[]
  /** Dates and times, and durations: the operands of calendar derivations. */
  points: readonly Seen[]
  durations: readonly Seen[]
  lists: ListIndex
  /** The values that are numbers. */
  amounts: readonly Seen[]
  schedules: readonly Schedule[]
  texts: readonly SearchableText[]
  /** Arguments of the agent's own calls. */
  ownTexts: readonly SearchableText[]
  /** Whether everything that the agent saw is here. */
  isComplete: boolean
  /** Lengths of lists and counts of equal values in a column. */
  counts: ReadonlyMap<number, readonly Count[]>
  currencies: ReadonlySet<string>
  hasTimeZone: boolean
  traits: Traits
  /** The names of records, read when needed. */
  readonly subjects: Subjects
  /** Whether a heading may say "million". */
  hasScale: boolean
}

/** Entries in a range that are looked at until one is wanted. */
const looked_at_max = 20

/** Returns the first wanted entry in the range from `low` to `high`, both included. */
export function findWithin<T extends { n: number }>(
  entries: readonly T[] | undefined,
  low: number,
  high: number,
  isWanted: (entry: T) => boolean = () => true,
): T | undefined {
  if (entries === undefined) return undefined
  let from = 0
  let to = entries.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((entries[middle]?.n ?? 0) < low) from = middle + 1
    else to = middle
  }
  for (let at = from; at < from + looked_at_max; at += 1) {
    const entry = entries[at]
    if (entry === undefined || entry.n > high) return undefined
    if (isWanted(entry)) return entry
  }
  return undefined
}

/** Returns the first result that is not undefined. */
export function firstOf<T, R>(items: Iterable<T>, find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
