import { z } from 'zod'
import { cronFault, lastCronTick, nextCronTick, nextCronTicks } from '../../../kernel/cron.ts'
import { durationMs } from '../../../kernel/duration.ts'
import { matchesGlob } from '../../../kernel/glob.ts'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { type Severity, severities } from '../../../model/severity.ts'
import { duration } from '../rules/condition-kinds.ts'
import type { Group } from '../rules/groups.ts'
import { dimensions } from '../rules/rule.ts'

const matchedField = new RegExp(
  `^(rule|severity|dedup_key|labels\\.[a-z][a-z0-9_]{0,62}|group\\.(${dimensions.join('|')}))$`,
)

const matchedValue = z.string().max(256)

const matcher = record('IncidentMatcher', {
  field: z
    .string()
    .max(80)
    .regex(matchedField, {
      error: expected('rule, severity, dedup_key, labels.<name> or group.<dimension>'),
    })
    .meta({ id: 'MatchedField' })
    .describe('`rule`, `severity`, `dedup_key`, `labels.<name>` or `group.<dimension>`.'),
  op: z
    .enum(['eq', 'ne', 'in', 'not_in', 'glob', 'lte', 'gte'])
    .meta({ id: 'MatcherOperator' })
    .default('eq')
    .describe('`lte` and `gte` compare severities. A missing value is empty text.'),
  value: z
    .union([matchedValue, z.array(matchedValue).min(1).max(50)], {
      error: expected('a text, or a list of 1–50 texts'),
    })
    .meta({ id: 'MatchedValue' }),
})
type Matcher = z.output<typeof matcher>

/** A time from an instant to another, exclusive. */
export const suppressionWindow = record('SuppressionWindow', {
  from: z.iso.datetime().describe('Inclusive.'),
  to: z.iso.datetime().describe('Exclusive.'),
})

const recurrence = record('SuppressionRecurrence', {
  cron: z.string().max(100).describe('Five cron fields: the start of each window.'),
  duration: duration('1m', '7d').describe('Length of each window.'),
  time_zone: z.string().min(1).max(64).default('UTC').describe('IANA name, such as Europe/Berlin.'),
})

/** The body of a suppression: which incidents are muted, and when. */
export const suppressionShape = record('SuppressionRequest', {
  matchers: z.array(matcher).min(1).max(20).describe('All must match.'),
  windows: z.array(suppressionWindow).max(50).default([]),
  recurrence: recurrence.optional(),
  expires_at: z.iso
    .datetime()
    .optional()
    .describe('End of the suppression. Required without windows and recurrence.'),
  comment: z.string().min(1).max(1000).describe('Why the incidents are muted.'),
})
export type Suppression = z.output<typeof suppressionShape>

/** A suppression whose fields fit each other. */
export const suppressionBody = suppressionShape.superRefine((suppression, context) => {
  for (const { path, message } of suppressionFaults(suppression)) {
    context.addIssue({ code: 'custom', path, message })
  }
})

type PathFault = { path: (string | number)[]; message: string }

function suppressionFaults(suppression: Suppression): PathFault[] {
  const faults: PathFault[] = []
  const { windows, recurrence: again, expires_at } = suppression
  if (windows.length === 0 && again === undefined && expires_at === undefined) {
    const message = 'expected windows, a recurrence, or an end: otherwise the mute has no end'
    faults.push({ path: ['expires_at'], message })
  }
  windows.forEach(({ from, to }, at) => {
    if (Date.parse(from) < Date.parse(to)) return
    faults.push({
      path: ['windows', at, 'to'],
      message: `got ${to}, expected a time after ${from}`,
    })
  })
  const fault = again && cronFault(again)
  if (fault !== undefined) faults.push({ path: ['recurrence', 'cron'], message: fault })
  suppression.matchers.forEach((one, at) => {
    const message = matcherFault(one)
    if (message !== undefined) faults.push({ path: ['matchers', at], message })
  })
  return faults
}

function matcherFault({ field, op, value }: Matcher): string | undefined {
  const isList = Array.isArray(value)
  if (isList !== (op === 'in' || op === 'not_in')) {
    return `\`in\` and \`not_in\` expect a list, other operators a text; got \`${op}\``
  }
  if (op !== 'lte' && op !== 'gte' && field !== 'severity') return undefined
  if (field !== 'severity') return `\`${op}\` compares severities, got \`${field}\``
  const unknown = [value].flat().find((one) => op !== 'glob' && !isSeverity(one))
  if (unknown === undefined) return undefined
  return `got ${JSON.stringify(unknown)}, expected one of ${severities.join(', ')}`
}

/**
 * Returns whether a suppression is in effect at an instant. A recurrence takes about 1 ms: ask once
 * for each suppression, then match the incidents.
 */
export function isActive(suppression: Suppression, now_ms: number): boolean {
  const { windows, recurrence: again, expires_at } = suppression
  if (expires_at !== undefined && now_ms >= Date.parse(expires_at)) return false
  if (windows.length === 0 && again === undefined) return true
  if (windows.some(({ from, to }) => now_ms >= Date.parse(from) && now_ms < Date.parse(to))) {
    return true
  }
  const begun_ms = again && lastCronTick(again, now_ms)
  return begun_ms !== undefined && now_ms < begun_ms + durationMs(again?.duration ?? '0s')
}

/** When a suppression is in effect, seen from an instant. */
export type SuppressionTimes = {
  /** `expired`: never in effect again. */
  state: 'active' | 'upcoming' | 'expired'
  /** The next start after the instant; null without one. */
  next_start_ms: number | null
}

/** Returns whether a suppression is in effect at an instant, and when it begins next. */
export function timesOf(suppression: Suppression, now_ms: number): SuppressionTimes {
  const { windows, recurrence: again, expires_at } = suppression
  const end_ms = expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  const starts = windows.map(({ from }) => Date.parse(from))
  const tick_ms = again && now_ms < end_ms ? nextCronTick(again, now_ms) : undefined
  if (tick_ms !== undefined) starts.push(tick_ms)
  const later = starts.filter((start_ms) => start_ms > now_ms && start_ms < end_ms)
  const next_start_ms = later.length === 0 ? null : Math.min(...later)
  if (isActive(suppression, now_ms)) return { state: 'active', next_start_ms }
  return { state: next_start_ms === null ? 'expired' : 'upcoming', next_start_ms }
}

/** A time in which a suppression is in effect; `to_ms` is exclusive. */
export type Occurrence = { from_ms: number; to_ms: number }

/** Most occurrences that are listed: a schedule of each minute has more. */
export const occurrences_max = 100

/**
 * Returns when a suppression is in effect between two instants, in order. Overlapping times are one,
 * and times are cut at the two instants.
 */
export function occurrencesOf(
  { windows, recurrence: again, expires_at }: Suppression,
  from_ms: number,
  to_ms: number,
): Occurrence[] {
  const end_ms = Math.min(to_ms, expires_at === undefined ? to_ms : Date.parse(expires_at))
  if (windows.length === 0 && again === undefined)
    return cutTo([{ from_ms, to_ms }], from_ms, end_ms)
  const given = windows.map(({ from, to }) => ({
    from_ms: Date.parse(from),
    to_ms: Date.parse(to),
  }))
  if (again === undefined) return cutTo(given, from_ms, end_ms)
  const ticks = [
    lastCronTick(again, from_ms) ?? [],
    nextCronTicks(again, from_ms, occurrences_max),
  ].flat()
  const length_ms = durationMs(again.duration)
  const repeated = ticks.map((tick_ms) => ({ from_ms: tick_ms, to_ms: tick_ms + length_ms }))
  return cutTo([...given, ...repeated], from_ms, end_ms)
}

/** Returns times in order, joined where they overlap, and cut at two instants. */
function cutTo(times: readonly Occurrence[], from_ms: number, to_ms: number): Occurrence[] {
  const joined: Occurrence[] = []
  for (const time of times.toSorted((one, other) => one.from_ms - other.from_ms)) {
    const cut = { from_ms: Math.max(time.from_ms, from_ms), to_ms: Math.min(time.to_ms, to_ms) }
    if (cut.from_ms >= cut.to_ms) continue
    const last = joined.at(-1)
    if (last !== undefined && cut.from_ms <= last.to_ms) {
      last.to_ms = Math.max(last.to_ms, cut.to_ms)
    } else joined.push(cut)
  }
  return joined.slice(0, occurrences_max)
}

/** The fields of an incident that matchers read. */
export type Matched = {
  rule: string
  severity: Severity
  dedup_key: string
  labels: Readonly<Record<string, string>>
  group: Group
}

/** Returns whether all matchers of a suppression match. */
export function isMatch({ matchers }: Suppression, incident: Matched): boolean {
  return matchers.every((one) => matches(one, incident))
}

function matches({ field, op, value }: Matcher, incident: Matched): boolean {
  const actual = fieldOf(incident, field)
  const values = [value].flat()
  const ranks: readonly string[] = severities
  const rank = (text: string) => ranks.indexOf(text)
  switch (op) {
    case 'eq':
    case 'in':
      return values.includes(actual)
    case 'ne':
    case 'not_in':
      return !values.includes(actual)
    case 'glob':
      return values.some((glob) => matchesGlob(actual, glob))
    case 'lte':
      return rank(actual) <= rank(values[0] ?? '')
    case 'gte':
      return rank(actual) >= rank(values[0] ?? '')
  }
}

function fieldOf(incident: Matched, field: string): string {
  const [of = '', name = ''] = field.split('.')
  if (of === 'rule' || of === 'severity' || of === 'dedup_key') return incident[of]
  const values: Readonly<Record<string, string>> =
    of === 'labels' ? incident.labels : incident.group
  return Object.hasOwn(values, name) ? (values[name] ?? '') : ''
}

function isSeverity(text: string): boolean {
  return severities.some((one) => one === text)
}
