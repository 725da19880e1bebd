import type { Sample } from '../../../src/capabilities/incidents/evaluation/contract.ts'
import { type Group, groupKey } from '../../../src/capabilities/incidents/rules/groups.ts'
import type { Dimension, Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { matchesGlob } from '../../../src/kernel/glob.ts'
import { scenarioEnvironment } from '../../../src/model/reserved-environment.ts'
import { effectiveTiersOf } from './slot-outcome.ts'

/** A stored row as a signal sees it: when it counts, its dimensions, and its numbers. */
export type NaiveRow = {
  source: 'call' | 'other' | 'task' | 'finding' | 'verification' | 'ledger'
  at_ms: number
  /** When the row counts, for rules that count late rows at different times. */
  counted_ms?: (rule: Rule) => number
  /** Start of a call, which decides what is filled. */
  start_ms?: number
  dimensions: Record<Dimension, string[]>
  latency?: number
  ttft?: number | null
  cost?: number
  tokens?: number
  task_id?: string
  /** Names of the bad signals of the row: error_rate, failure_rate, loop_rate, or a kind. */
  marks?: string[]
  health?: number | null
  trust?: number | null
  /** Claims with a verdict, and those of them that were not supported. */
  decided?: number
  wrong?: number
  items?: number
  rejected?: number
  lost?: number
}

type Value = { value: number | null; samples: number; bad: number }

const nothing: Value = { value: null, samples: 0, bad: 0 }
const hour_ms = 3_600_000

/** Computes the samples of a rule one row after the other, by the key of the group. */
export function naiveSamples(
  given: readonly NaiveRow[],
  { rule, end_ms, lag_ms }: { rule: Rule; end_ms: number; lag_ms: number },
): Map<string, Sample> {
  const rows = given.map((row) => ({ ...row, at_ms: row.counted_ms?.(rule) ?? row.at_ms }))
  const groups = new Map<string, NaiveRow[]>()
  for (const row of rows) {
    for (const group of groupsOf(row, rule)) {
      const key = groupKey(group)
      groups.set(key, [...(groups.get(key) ?? []), row])
    }
  }
  const starts = (of: (row: NaiveRow) => boolean) =>
    rows.filter(of).map(({ at_ms, start_ms }) => start_ms ?? at_ms)
  const isTask = rule.burn_rate?.signal !== 'error_rate'
  const oldest_ms = Math.min(
    ...starts(({ source }) =>
      isTask ? source === 'task' : source === 'call' || source === 'other',
    ),
  )
  const samples = new Map<string, Sample>()
  for (const [key, own] of groups) {
    const sample = sampleOf(own, { rule, end_ms, lag_ms, oldest_ms })
    if (sample !== undefined) samples.set(key, sample)
  }
  return samples
}

function groupsOf({ dimensions }: NaiveRow, { selector, group_by }: Rule): Group[] {
  const named = Object.entries(dimensions).map(([dimension, values]) => {
    const globs = selector[dimension as Dimension]
    const kept = values.filter((one) => globs?.some((glob) => matchesGlob(one, glob)) ?? true)
    return [dimension as Dimension, kept] as const
  })
  if (named.some(([, values]) => values.length === 0)) return []
  const isSeeded = dimensions.environment.includes(scenarioEnvironment)
  if (isSeeded && !selector.environment?.includes(scenarioEnvironment)) return []
  let groups: Group[] = [{}]
  for (const [dimension, values] of named) {
    if (!group_by.includes(dimension)) continue
    const cut = new Set(
      values.map((one) => [...one.replaceAll('\u0000', '\ufffd')].slice(0, 128).join('')),
    )
    groups = groups.flatMap((group) => [...cut].map((one) => ({ ...group, [dimension]: one })))
  }
  return groups
}

type About = { rule: Rule; end_ms: number; lag_ms: number; oldest_ms: number }

function sampleOf(rows: readonly NaiveRow[], about: About): Sample | undefined {
  const { rule, end_ms, lag_ms } = about
  const over = (signal: string, to_ms: number, length_ms: number, per?: string) => {
    const inside = rows.filter(({ at_ms }) => at_ms >= to_ms - length_ms && at_ms < to_ms)
    return valueOver(inside, signal, per, length_ms)
  }
  if (rule.condition !== undefined && rule.condition.signal !== 'ingest_lag') {
    const { signal, window } = rule.condition
    const per = 'per' in rule.condition ? rule.condition.per : undefined
    const { value, samples } = over(signal, end_ms, durationMs(window), per)
    return samples === 0 ? undefined : { kind: 'condition', value, samples, lag_ms }
  }
  if (rule.baseline !== undefined) {
    const { signal, per } = rule.baseline
    const days = Array.from({ length: 29 }, (_, day) =>
      over(signal, end_ms - day * 24 * hour_ms, hour_ms, per),
    )
    const [now = nothing, ...earlier] = days
    if (days.every(({ samples }) => samples === 0)) return undefined
    const history = earlier.flatMap(({ value }) => (value === null ? [] : [value]))
    return { kind: 'baseline', value: now.value, samples: now.samples, history, lag_ms }
  }
  if (rule.burn_rate === undefined) return undefined
  const { signal } = rule.burn_rate
  const share = (window: string) => {
    const { bad, samples } = over(signal, end_ms, durationMs(window))
    return { bad, total: samples }
  }
  const tiers = effectiveTiersOf(rule).map(({ long, short }) => ({
    long: share(long),
    short: share(short),
    is_filled: about.oldest_ms <= end_ms - durationMs(long),
  }))
  const isEmpty = tiers.every(({ long, short }) => long.total + short.total === 0)
  return isEmpty ? undefined : { kind: 'burn_rate', tiers, lag_ms }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

function valueOver(
  rows: readonly NaiveRow[],
  signal: string,
  per: string | undefined,
  length_ms: number,
): Value {
  const of = (source: NaiveRow['source']) => rows.filter((row) => row.source === source)
  switch (signal) {
    case 'absent': {
      const all = [...of('call'), ...of('other')].length
      return all === 0 ? nothing : { value: all, samples: all, bad: 0 }
    }
    case 'error_rate':
      return shareOf(of('call'), signal)
    case 'failure_rate':
    case 'loop_rate':
      return shareOf(of('task'), signal)
    case 'latency_p95':
      return percentile(of('call').map(({ latency }) => latency ?? 0))
    case 'ttft_p95':
      return percentile(of('call').flatMap(({ ttft }) => ttft ?? []))
    case 'cost':
    case 'tokens':
      return usageOf(of('call'), signal, per, length_ms)
    case 'context_health': {
      const scores = of('task').flatMap(({ health }) => health ?? [])
      if (scores.length === 0) return nothing
      return { value: sum(scores) / scores.length, samples: scores.length, bad: 0 }
    }
    case 'trust_score': {
      const scores = of('verification').flatMap(({ trust }) => trust ?? [])
      if (scores.length === 0) return nothing
      return { value: sum(scores) / scores.length, samples: scores.length, bad: 0 }
    }
    case 'unsupported_claim_rate': {
      const samples = sum(of('verification').map(({ decided }) => decided ?? 0))
      const bad = sum(of('verification').map(({ wrong }) => wrong ?? 0))
      return samples === 0 ? nothing : { value: bad / samples, samples, bad }
    }
    case 'loop_count':
    case 'failure_count':
    case 'context_failure_count': {
      const kind = signal.replace('_failure_count', '').replace('_count', '')
      const found = of('finding').filter(({ marks }) => marks?.includes(kind)).length
      return found === 0 ? nothing : { value: found, samples: found, bad: 0 }
    }
    case 'ingest_rejected':
    case 'ingest_lost': {
      const entries = of('ledger')
      const samples = sum(entries.map(({ items }) => items ?? 0))
      if (samples === 0) return nothing
      const field = signal === 'ingest_lost' ? 'lost' : 'rejected'
      return { value: sum(entries.map((one) => one[field] ?? 0)), samples, bad: 0 }
    }
    default:
      return nothing
  }
}

function shareOf(rows: readonly NaiveRow[], mark: string): Value {
  const bad = rows.filter(({ marks }) => marks?.includes(mark)).length
  if (rows.length === 0) return nothing
  return { value: bad / rows.length, samples: rows.length, bad }
}

function percentile(values: readonly number[]): Value {
  const sorted = values.toSorted((one, other) => one - other)
  const at = Math.ceil((95 * sorted.length) / 100) - 1
  return sorted.length === 0 ? nothing : { value: sorted[at] ?? 0, samples: sorted.length, bad: 0 }
}

function usageOf(
  rows: readonly NaiveRow[],
  field: 'cost' | 'tokens',
  per: string | undefined,
  length_ms: number,
): Value {
  const counted = per === 'task' ? rows.filter(({ task_id }) => task_id !== '') : rows
  const samples = per === 'task' ? new Set(counted.map(({ task_id }) => task_id)).size : rows.length
  const total = sum(counted.map((row) => row[field] ?? 0))
  const by = per === 'task' ? samples : per === 'hour' ? length_ms / hour_ms : 1
  return samples === 0 ? nothing : { value: total / by, samples, bad: 0 }
}
