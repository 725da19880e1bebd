import { findDay, deriveBetween, deriveDay, findTime } from './derive-day.ts'
import { type Derivation, deriveNumber, type Operands, operandsFrom, type Target } from './derive-number.ts'
import { findExemption, type Exemption } from './exemptions.ts'
import { findNumber, toleranceOf } from './find-number.ts'
import { deriveWritten } from './written-sum.ts'
import { readQuotes } from './read-codes.ts'
import { readValues } from './read-values.ts'
import { type Entry, findWithin, type Seen, type SeenIndex } from './seen-index.ts'
import { compact, type Evidence, type Value } from './value.ts'

/** Where a value of an answer comes from. */
export type CheckedValue = {
  value: string
  kind: Value['kind']
  at: Value['at']
  verdict: 'seen' | 'derived' | 'exempt' | 'unsupported'
  evidence: readonly Evidence[]
  derivation?: Derivation
  /** Why the value needs no evidence. */
  exemption?: Exemption
}

/** Maximum characters checked of an answer. */
const answer_chars_max = 100_000
/** Maximum distinct operands of derivations, and values of an answer that are derived. */
const operands_max = 240
const derived_max = 300

/**
 * Checks where each value of an answer comes from: seen, derived by one operation from seen values
 * or from values of the answer that are supported themselves, exempt, or unsupported.
 */
export function checkAnswer(answer: string, index: SeenIndex): CheckedValue[] {
  const text = answer.slice(0, answer_chars_max)
  const context: Context = { text, index, supported: [], hasZone: timeZone.test(text) }
  const values = [...readValues(text), ...readQuotes(text)].sort((a, b) => a.at[0] - b.at[0])
  const first = values.map((value) => lookUp(value, context))
  const operands = collectOperands(context)
  let derived = 0
  // Values that are derived support others, also before them: the total precedes its parts.
  for (const isLast of [false, true]) {
    for (const [at, checked] of first.entries()) {
      const value = values[at]
      if (checked !== undefined || value === undefined || derived >= derived_max) continue
      const derivation = derive(value, context, isLast ? collectOperands(context) : operands)
      if (derivation === undefined) continue
      derived += 1
      context.supported.push(seenInAnswer(value))
      first[at] = { ...shape(value), verdict: 'derived', evidence: derivation.operands, derivation }
    }
  }
  return values.map((value, at) => first[at] ?? unsupported(value))
}

const timeZone = /\b(?:UTC|GMT|CES?T|[ECMP][SD]T|JST|ET|PT|local time|Swiss time)\b/

type Context = { text: string; index: SeenIndex; supported: Seen[]; hasZone: boolean }

function shape({ text, kind, at }: Value): Pick<CheckedValue, 'value' | 'kind' | 'at'> {
  return { value: text, kind, at }
}

function unsupported(value: Value): CheckedValue {
  return { ...shape(value), verdict: 'unsupported', evidence: [] }
}

function seenInAnswer(value: Value): Seen {
  return { value, evidence: { source: 'answer', quote: value.text, at: value.at } }
}

function lookUp(value: Value, context: Context): CheckedValue | undefined {
  const seen = find(value, context)
  if (seen !== undefined) {
    context.supported.push(seenInAnswer(value))
    return { ...shape(value), verdict: 'seen', evidence: [seen] }
  }
  const exemption = findExemption(value, context.text)
  if (exemption === undefined) return undefined
  if (value.amount !== undefined && exemption !== 'list_number') context.supported.push(seenInAnswer(value))
  return { ...shape(value), verdict: 'exempt', evidence: [], exemption }
}

function find(value: Value, { index, hasZone }: Context): Evidence | undefined {
  if (value.amount !== undefined) return findNumber(value, index)
  if (value.kind === 'date') return findDay(index, value)?.evidence
  if (value.kind === 'time') return findTime(value, index, hasZone)?.evidence
  return findCode(value, index)
}

/** Finds an id, URL, quotation and the like: as a value, else anywhere in the texts. */
function findCode(value: Value, index: SeenIndex): Evidence | undefined {
  const same = index.codes.get(value.normal)
  const masked = value.text.replace(/(?:[.:-]?[xX*•]+){2,}$/, '')
  if (masked !== value.text) return findCode({ ...value, text: masked, normal: compact(masked) }, index)
  if (same !== undefined) return same.evidence
  const isFolded = value.kind === 'quote'
  if (/^localhost\b/i.test(value.text)) {
    const port = value.text.replace(/^localhost/i, '127.0.0.1')
    return findCode({ ...value, text: port, normal: compact(port) }, index)
  }
  const needle = isFolded ? value.normal.replace(/[.,;:!?]+$/, '') : compactOf(value)
  if (value.kind === 'version') return findVersion(value, index)
  if (needle.length < 3) return undefined
  const found = index.texts.find((text) => (isFolded ? text.folded : text.compact).includes(needle))
  if (found === undefined) return undefined
  return { source: found.source, quote: value.text, at: [0, found.text.length] }
}

/** Finds a version, or a longer one of which it is the start; an address in a seen network. */
function findVersion({ normal, text }: Value, { texts }: SeenIndex): Evidence | undefined {
  for (const seen of texts) {
    for (let at = seen.text.indexOf(normal); at >= 0; at = seen.text.indexOf(normal, at + 1)) {
      const before = seen.text[at - 1] ?? ''
      const after = seen.text[at + normal.length] ?? ''
      if (!/[\d.]/.test(before) && !/\d/.test(after)) {
        return { source: seen.source, quote: normal, at: [at, at + normal.length] }
      }
    }
    const network = networks(seen.text).find(({ low, high }) => isAddressBetween(text, low, high))
    if (network !== undefined) return { source: seen.source, quote: network.text, at: network.at }
  }
  return undefined
}

const cidr = /(?<![\d.])((?:\d{1,3}\.){3}\d{1,3})\/(\d{1,2})(?!\d)/g
const networks_max = 50

function networks(text: string) {
  return [...text.matchAll(cidr).take(networks_max)].map((match) => {
    const size = 2 ** (32 - Math.min(32, Number(match[2])))
    const low = Math.floor(addressNumber(match[1] ?? '') / size) * size
    const at = [match.index, match.index + match[0].length] as const
    return { text: match[0], at, low, high: low + size - 1 }
  })
}

function isAddressBetween(text: string, low: number, high: number): boolean {
  return /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text) && addressNumber(text) >= low && addressNumber(text) <= high
}

function addressNumber(text: string): number {
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Without the zeros of a national prefix: +49 170 and 0170 are one number. */
function compactOf({ normal, kind }: Value): string {
  const only = normal.replace(/[^\p{L}\p{N}]/gu, '')
  return kind === 'id' && /^\d{6,}$/.test(only) ? only.replace(/^0+/, '') : only
}

function derive(value: Value, context: Context, operands: Operands): Derivation | undefined {
  const { index, supported } = context
  const points = [...index.values, ...supported].filter(({ value: one }) => one.kind === 'date' || one.kind === 'time')
  if (value.kind === 'date') {
    const durations = [...index.values, ...supported].filter((seen) => isDuration(seen) || isDayCount(seen))
    return deriveDay(value, points.filter(({ value: one }) => one.kind === 'date'), durations)
  }
  if (value.kind === 'time') {
    const second = value.second ?? 0
    return deriveBetween(second, 1, points) ?? deriveBetween(second / 60, 0.5, points) ?? deriveTime(second, points, [...index.values, ...supported].filter(isDuration))
  }
  if (value.amount === undefined) return undefined
  const isRatio = ratioAfter.test(context.text.slice(value.at[1], value.at[1] + 14))
  const calculation = deriveWritten(value, context.text, supported)
  if (calculation !== undefined) return calculation
  if (isYear(value)) return undefined
  for (const [at, n] of value.amount.written.entries()) {
    const reading = value.amount.readings[at] ?? n
    const per_unit = n === 0 || value.amount.unit === 'cent' ? 1 : Math.abs(reading / n)
    const tolerance = toleranceOf(value, at) / per_unit
    const cue = readCue(context.text, value)
    const whole = value.amount.unit === 'cent' ? reading : n
    const target = { amount: value.amount, n: whole, tolerance, isRatio, per_unit, cue }
    const found =
      deriveNumber(target, operands) ??
      deriveUnscaled(target, operands) ??
      deriveAge(value, context, index) ??
      deriveByPeriod(target, operands, periodFactors(context.text, value)) ?? deriveLength(value, reading, points, index.hasTimeZone)
    if (found !== undefined) return found
  }
  return undefined
}

function isYear({ amount, text }: Value): boolean {
  return amount?.unit === '' && /^(?:19|20)\d{2}$/.test(text)
}

const meanBefore = /\b(?:average|mean|median|durchschnitt\w*|mittel\w*|moyenne|media|promedio)\b[^.\n\d]{0,20}$/i

/** Reads which operation the words before a value name. */
function readCue(text: string, { at: [start] }: Value): 'mean' | undefined {
  return meanBefore.test(text.slice(Math.max(0, start - 40), start)) ? 'mean' : undefined
}

const ratioAfter = /^(?:[- ]?(?:times|mal|fois|veces|fold|fach)(?!\p{L})|[x×])/u

/** The heading of a table may say "million". */
function deriveUnscaled(target: Target, operands: Operands): Derivation | undefined {
  const { scale } = target.amount
  if (scale < 1e3) return undefined
  return deriveNumber({ ...target, n: target.n / scale, tolerance: target.tolerance / scale }, operands)
}

const periods: readonly (readonly [pattern: RegExp, factors: readonly number[]])[] = [
  [/\bdecade|jahrzehnt|décennie|década/i, [10]],
  [/\byear|annual|\bjahr|jähr|\ban\b|\bannée|\baño/i, [12, 52, 365]],
  [/\bmonth|monat|\bmois\b|\bmes\b/i, [12, 30]],
  [/\bweek|woche|semaine|semana/i, [7, 52]],
  [/\bday\b|daily|\btag\b|täglich|\bjour\b|\bdía\b/i, [7, 24, 30, 365]],
]

/** Returns by how much a value per day, month or year may be multiplied: the calendar is known. */
function periodFactors(text: string, { at: [, end] }: Value): number[] {
  const after = text.slice(end, end + 24)
  return periods.flatMap(([pattern, factors]) => (pattern.test(after) ? factors : []))
}

function deriveByPeriod(target: Target, operands: Operands, factors: readonly number[]) {
  const entries = operands.of(target.amount.unit, target.per_unit)
  for (const factor of factors.flatMap((one) => [one, 1 / one])) {
    const low = (target.n - target.tolerance) / factor
    const one = findWithin(entries, low, (target.n + target.tolerance) / factor)
    if (one === undefined || one.n === 0) continue
    const { evidence } = one.seen
    const sign = factor > 1 ? `× ${factor}` : `/ ${Math.round(1 / factor)}`
    return { operation: 'period', formula: `${evidence.quote} ${sign}`, operands: [evidence] }
  }
  return undefined
}

const ageBefore = /(?:\(|\bturn(?:s|ed)? |\baged? |\bage of |\bis |\bwird |\bist )$/i
const age_max = 120

/** Finds two seen years between which an age lies. */
function deriveAge({ amount, at: [start] }: Value, { text }: Context, { numbers }: SeenIndex) {
  const [age = 0] = amount?.written ?? []
  if (amount?.unit !== '' || age > age_max || !ageBefore.test(text.slice(Math.max(0, start - 10), start))) return undefined
  const years = [...(numbers.get('year') ?? []), ...yearsIn(numbers.get('') ?? [])]
  for (const one of years) {
    const other = years.find(({ n }) => n - one.n === age || n - one.n === age + 1)
    if (other !== undefined) {
      const operands = [other.seen.evidence, one.seen.evidence]
      return { operation: 'age', formula: `${other.n} − ${one.n}`, operands }
    }
  }
  return undefined
}

function yearsIn(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ n }) => Number.isInteger(n) && n >= 1900 && n <= 2100)
}

function deriveLength(value: Value, n: number, points: readonly Seen[], hasZone: boolean): Derivation | undefined {
  if (value.amount?.unit !== 'duration') return undefined
  return deriveBetween(n, Math.max(toleranceOf(value), 1), points, hasZone)
}

function deriveTime(second: number, points: readonly Seen[], durations: readonly Seen[]) {
  for (const one of points) {
    if (one.value.second === undefined) continue
    const gap = Math.abs(one.value.second - second)
    const other = durations.find(({ value }) => value.amount?.readings[0] === gap)
    if (other !== undefined) {
      const operands = [one.evidence, other.evidence]
      return { operation: 'time', formula: operands.map(({ quote }) => quote).join(' ± '), operands }
    }
  }
  return undefined
}

/** A whole number of a record may count days. */
function isDayCount({ value: { amount }, column }: Seen): boolean {
  const [n = 0] = amount?.written ?? []
  return column !== undefined && amount?.unit === '' && Number.isInteger(n) && n > 1 && n <= 366
}

function isDuration({ value }: Seen): boolean {
  return value.amount?.unit === 'duration'
}

/** Collects the operands: all values if few were seen, else the records the answer quotes. */
function collectOperands({ index, supported, text }: Context): Operands {
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
  return { of, counts, percents, lists: listsOf(near, supported, text) }
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

/** Maximum numbers of a list whose sum is formed. */
const list_max = 5000

/** The whole columns of the seen tables, and the runs of values that the answer lists. */
function listsOf(amounts: readonly Seen[], supported: readonly Seen[], text: string): Entry[][] {
  const lists = new Map<string, Entry[]>()
  const add = (key: string | undefined, entry: Entry) => {
    if (key === undefined) return
    const entries = lists.get(key)
    if (entries === undefined) lists.set(key, [entry])
    else if (entries.length < list_max) entries.push(entry)
  }
  for (const seen of amounts) {
    const n = seen.value.amount?.readings[0]
    if (n === undefined || seen.column === undefined) continue
    const unit = seen.value.amount?.unit ?? ''
    add(`${seen.column} ${unit}`, { n, seen })
    add(`record ${seen.record} ${unit}`, { n, seen })
    for (const label of seen.labels ?? []) add(`${seen.column} ${unit} ${label}`, { n, seen })
  }
  return [...lists.values(), ...runsOf(supported), ...answerColumns(text, supported)]
}

/** Returns the values at the same position in the lines of an answer: its tables and lists. */
function answerColumns(text: string, supported: readonly Seen[]): Entry[][] {
  const columns = new Map<string, Entry[]>()
  const ordered = supported.toSorted((a, b) => a.value.at[0] - b.value.at[0])
  const lines = Map.groupBy(ordered, ({ value }) => text.lastIndexOf('\n', value.at[0]))
  for (const line of lines.values()) {
    for (const [unit, values] of Map.groupBy(line, ({ value }) => value.amount?.unit ?? 'none')) {
      if (unit === 'none') continue
      for (const [at, seen] of values.entries()) {
        const n = seen.value.amount?.readings[0] ?? 0
        for (const key of [`${unit} ${at}`, `${unit} ${at - values.length}`]) {
          const column = columns.get(key)
          if (column === undefined) columns.set(key, [{ n, seen }])
          else column.push({ n, seen })
        }
      }
    }
  }
  return [...columns.values()].filter(({ length }) => length > 2)
}

const triple_values_max = 14

/** Returns each three amounts or quantities of an answer that has few of them. */
function triplesOf(byUnit: ReadonlyMap<string, readonly Seen[]>): Entry[][] {
  const triples: Entry[][] = []
  for (const [unit, values] of byUnit) {
    if (unit === '' || unit === 'none' || unit === 'count') continue
    const entries = values.slice(0, triple_values_max).map((seen) => ({ n: seen.value.amount?.readings[0] ?? 0, seen }))
    for (const [a, one] of entries.entries())
      for (const [b, two] of entries.slice(a + 1).entries())
        for (const three of entries.slice(a + b + 2)) triples.push([one, two, three])
  }
  return triples
}

const run_max = 12

function runsOf(supported: readonly Seen[]): Entry[][] {
  const byUnit = Map.groupBy(supported, ({ value }) => value.amount?.unit ?? 'none')
  const runs: Entry[][] = triplesOf(byUnit)
  for (const [unit, values] of byUnit) {
    if (unit === 'none') continue
    const entries = values
      .toSorted((a, b) => a.value.at[0] - b.value.at[0])
      .map((seen) => ({ n: seen.value.amount?.readings[0] ?? 0, seen }))
    for (let from = 0; from < entries.length; from += 1) {
      for (let end = from + 3; end <= Math.min(entries.length, from + run_max); end += 1) {
        runs.push(entries.slice(from, end))
      }
    }
  }
  return runs
}
