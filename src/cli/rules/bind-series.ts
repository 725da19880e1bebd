import {
  dimensions,
  type Group,
  groupKey,
  type Rule,
  rateSignals,
  signals,
} from '../../capabilities/incidents/rules/index.ts'
import { matchesGlob } from '../../kernel/glob.ts'
import { type Fault, faultAt } from '../lint/fault.ts'
import type { Path } from '../lint/read-documents.ts'
import { type GroupSeries, groupOf, type Series, type SeriesPart } from './measurements.ts'
import type { SeriesName } from './series.ts'

/** A series of a test file with its place there. */
export type WrittenSeries = {
  path: Path
  name: SeriesName
  /** The only rule that reads it. */
  rule: string | undefined
  series: Series
}

/** The series of a test, as its rules read them. */
export type BoundSeries = {
  lag: Series | undefined
  groups: ReadonlyMap<string, readonly GroupSeries[]>
  faults: readonly Fault[]
}

/** Finds the rules and groups that read each series. A series that no rule reads is a fault. */
export function bindSeries(rules: readonly Rule[], written: readonly WrittenSeries[]): BoundSeries {
  const groups = new Map<string, Map<string, MutableGroup>>(
    rules.map(({ name }) => [name, new Map()]),
  )
  let lag: Series | undefined
  const faults = written.flatMap((one): Fault[] => {
    const unknown = nameFault(one)
    if (unknown !== undefined) return [faultAt(one.path, unknown)]
    if (one.name.name === 'ingest_lag') {
      if (lag !== undefined) return [faultAt(one.path, 'got `ingest_lag` twice, expected it once')]
      lag = one.series
      return []
    }
    const readers = rules.filter((rule) => reads(rule, one))
    if (readers.length === 0) return [faultAt(one.path, `no rule reads it: ${readable(rules)}`)]
    return readers.flatMap((rule) => bindTo(rule, one, groups.get(rule.name) ?? new Map()))
  })
  const bound = new Map([...groups].map(([name, of]) => [name, [...of.values()]]))
  return { lag, groups: bound, faults: [...faults, ...missingTotals(bound, written)] }
}

type MutableGroup = { group: Group; parts: Map<SeriesPart, Series> }

const parts = ['bad', 'total'] as const

/** Splits `error_rate:bad` into its signal and its part. `rows` is the series of `absent`. */
function partOf({ name }: SeriesName): { signal: string; part: SeriesPart } {
  if (name === 'rows') return { signal: 'absent', part: 'rows' }
  const part = parts.find((one) => name.endsWith(`:${one}`))
  if (part === undefined) return { signal: name, part: 'value' }
  return { signal: name.slice(0, -part.length - 1), part }
}

function nameFault({ name }: WrittenSeries): string | undefined {
  const { signal, part } = partOf(name)
  const rates: readonly string[] = rateSignals
  const isKnown = part === 'value' ? signal !== 'absent' : part === 'rows' || rates.includes(signal)
  if (!isKnown || !signals.some((one) => one === signal)) {
    const known = [...signals.filter((one) => one !== 'absent'), 'rows'].join(', ')
    return `got \`${name.name}\`, expected one of ${known}, or \`:bad\` or \`:total\` after a rate`
  }
  const label = Object.keys(name.labels).find((one) => !dimensions.some((known) => known === one))
  if (label === undefined) return undefined
  return `got the label \`${label}\`, expected one of ${dimensions.join(', ')}`
}

/** Returns the signal of a rule; undefined for event rules. */
function signalOf({ condition, burn_rate, baseline }: Rule): string | undefined {
  return (condition ?? burn_rate ?? baseline)?.signal
}

function reads(rule: Rule, { name, rule: only }: WrittenSeries): boolean {
  const { signal, part } = partOf(name)
  if (signalOf(rule) !== signal || (only !== undefined && only !== rule.name)) return false
  if (rule.burn_rate !== undefined) return part !== 'value'
  return rule.baseline === undefined || part === 'value'
}

function readable(rules: readonly Rule[]): string {
  const names = rules.flatMap((rule) => {
    const signal = signalOf(rule)
    if (signal === undefined || signal === 'ingest_lag') return []
    if (signal === 'absent') return [`${rule.name} reads \`rows\``]
    if (rule.burn_rate === undefined) return [`${rule.name} reads \`${signal}\``]
    return [`${rule.name} reads \`${signal}:bad\` and \`${signal}:total\``]
  })
  return names.length === 0 ? 'no rule has a signal' : names.join(', ')
}

function bindTo(rule: Rule, one: WrittenSeries, groups: Map<string, MutableGroup>): Fault[] {
  const labels = one.name.labels as Group
  const missing = rule.group_by.find((dimension) => labels[dimension] === undefined)
  if (missing !== undefined) {
    const message = `the rule ${rule.name} groups by \`${missing}\`, but the series has no such label`
    return [faultAt(one.path, message)]
  }
  if (!isSelected(rule, labels)) return []
  const group = groupOf(rule, labels)
  const key = groupKey(group)
  const known = groups.get(key) ?? { group, parts: new Map() }
  groups.set(key, known)
  const { part } = partOf(one.name)
  const isMixed = known.parts.size > 0 && known.parts.has('value') !== (part === 'value')
  if (isMixed || known.parts.has(part)) {
    const message = `the rule ${rule.name} reads another series for the same group`
    return [faultAt(one.path, message)]
  }
  known.parts.set(part, one.series)
  return []
}

/** A dimension of the selector that the series has no label for counts as selected. */
function isSelected({ selector }: Rule, labels: Group): boolean {
  return dimensions.every((dimension) => {
    const [globs, value] = [selector[dimension], labels[dimension]]
    if (globs === undefined || value === undefined) return true
    return globs.some((glob) => matchesGlob(value, glob))
  })
}

/** Bad items alone have no share. */
function missingTotals(groups: BoundSeries['groups'], written: readonly WrittenSeries[]): Fault[] {
  const alone = new Set(
    [...groups.values()].flat().flatMap((group) => {
      const bad = group.parts.get('bad')
      const total = group.parts.get('total')
      if ((bad === undefined) === (total === undefined)) return []
      return [bad ?? total]
    }),
  )
  return written
    .filter(({ series }) => alone.has(series))
    .map(({ path }) => faultAt(path, 'expected both `:bad` and `:total` with the same labels'))
}
