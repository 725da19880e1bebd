import type { Range } from '../../text/index.ts'
import type { Value } from '../../values/index.ts'
import { namesIn, type Seen } from './seen-value.ts'

/** A name or id of a record in an answer. */
export type Mention = { label: string; at: Range; records: ReadonlySet<string> }

/** Records of one name up to which the name identifies them. */
const records_max = 2
/** Finds which names of records an answer mentions, and which records have a value. */
export class Subjects {
  readonly #byRecord = new Map<string, Seen[]>()
  readonly #labels = new Map<string, Set<string>>()
  readonly #ofRecord = new Map<string, Set<string>>()
  /** Names by their first word, and by their length. */
  readonly #byFirstWord = new Map<string, Map<number, Set<string>>>()
  readonly #byValue = new Map<string, Seen[]>()

  constructor(values: readonly Seen[]) {
    for (const seen of values) this.#add(seen)
    for (const [label, records] of this.#labels) {
      if (records.size > records_max || this.#byRecord.size < 2) continue
      for (const record of records) add(this.#ofRecord, record, label)
      const word = firstWord.exec(label)?.[0] ?? ''
      const known = this.#byFirstWord.get(word) ?? new Map<number, Set<string>>()
      this.#byFirstWord.set(word, known)
      known.set(label.length, (known.get(label.length) ?? new Set()).add(label))
    }
  }

  #add(seen: Seen): void {
    const { value, record, names = [] } = seen
    push(this.#byValue, keyOf(value), seen)
    if (record === undefined) return
    push(this.#byRecord, record, seen)
    const own = value.kind === 'id' ? namesIn([value.text]) : []
    for (const name of [...names, ...own]) add(this.#labels, name, record)
  }

  /** Returns the names in a part of a text, in order; of overlapping ones the longest. */
  mentionsIn(text: string, [start, end]: Range): Mention[] {
    const lower = text.slice(start, end).toLowerCase()
    const found: Mention[] = []
    for (const { index, 0: word } of lower.matchAll(words)) {
      const at = start + index
      if (found.some((one) => at < one.at[1])) continue
      const label = [...(this.#byFirstWord.get(word) ?? [])]
        .toSorted(([one], [other]) => other - one)
        .flatMap(([length, names]) => {
          const said = lower.slice(index, index + length)
          return names.has(said) && isEnd(lower[index + length]) ? [said] : []
        })[0]
      const records = label === undefined ? undefined : this.#labels.get(label)
      if (label === undefined || records === undefined) continue
      found.push({ label, at: [at, at + label.length], records })
    }
    return found
  }

  /** Returns where exactly this value was seen. */
  placesOf(value: Value): readonly Seen[] {
    return this.#byValue.get(keyOf(value)) ?? []
  }

  /** Reports whether a value is in a record of the subject, in one above or below, or in one with its name. */
  isOf({ record = '', ancestors = [] }: Seen, { records }: Mention): boolean {
    if (records.has(record) || ancestors.some((one) => records.has(one))) return true
    const labels = this.#ofRecord.get(record)
    for (const own of records) {
      const isBelow = this.#byRecord.get(own)?.[0]?.ancestors?.includes(record)
      if (isBelow === true) return true
      for (const label of this.#ofRecord.get(own) ?? []) if (labels?.has(label)) return true
    }
    return false
  }

  /** Returns what the records of a subject have in the column of a value. */
  inColumn({ column }: Seen, { records }: Mention): Seen | undefined {
    for (const record of records) {
      const own = this.#byRecord.get(record)?.find((seen) => seen.column === column)
      if (own !== undefined) return own
    }
    return undefined
  }
}

const firstWord = /[\p{L}\p{N}]+/u
const words = /(?<![\p{L}\p{N}])[\p{L}\p{N}]+/gu

function isEnd(next: string | undefined): boolean {
  return next === undefined || !/[\p{L}\p{N}]/u.test(next)
}

function keyOf({ kind, normal, amount }: Value): string {
  return amount === undefined ? `${kind} ${normal}` : `n ${amount.written[0]}`
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}

function add(map: Map<string, Set<string>>, key: string, item: string): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, new Set([item]))
  else items.add(item)
}
