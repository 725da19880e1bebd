import type {
  IncidentSuppression,
  IncidentSuppressionRequest,
  MatcherOperator,
} from '../../api/schema.gen.d.ts'
import { isRepeated, toInstant, toLocal, zoneName } from '../../browser/zone-time.ts'

/** A matcher as it is edited: a list of `in` is text with commas. */
export type MatcherDraft = { field: string; op: MatcherOperator; value: string }

/** A window as it is edited, in local times of the form `2026-11-29T14:00` in the shown zone. */
export type WindowDraft = { from: string; to: string }

export type Draft = {
  matchers: MatcherDraft[]
  /** When it mutes: until an end, in windows, or again and again. */
  when: 'until' | 'windows' | 'again'
  windows: WindowDraft[]
  cron: string
  duration: string
  time_zone: string
  expires_at: string
  comment: string
  /** Instants of the times when editing began. A time that is not changed keeps its instant. */
  instants: readonly string[]
}

export const operators = [
  ['eq', 'is'],
  ['ne', 'is not'],
  ['in', 'is one of'],
  ['not_in', 'is none of'],
  ['glob', 'matches'],
  ['lte', 'is at most'],
  ['gte', 'is at least'],
] as const

const dimensions = ['model', 'provider', 'environment', 'task_name', 'release', 'tag'] as const

/** Fields that are offered; labels are typed. */
export const fieldNames = [
  ...(['rule', 'severity', 'dedup_key'] as const),
  ...dimensions.map((dimension) => `group.${dimension}`),
]

/** Adds the position to the rows of a form: they have no other identity. */
export function numbered<T extends object>(rows: readonly T[]): (T & { at: number })[] {
  return rows.map((row, at) => ({ ...row, at }))
}

/** Returns the matchers of incidents like one: its rule and its group. */
export function matchersLike({
  rule,
  group,
}: {
  rule: string
  group: Readonly<Record<string, string>>
}): MatcherDraft[] {
  const ofGroup = Object.entries(group).map(([name, value]) => ({
    field: `group.${name}`,
    op: 'eq' as const,
    value,
  }))
  return [{ field: 'rule', op: 'eq', value: rule }, ...ofGroup]
}

/** Writes matchers for a URL. */
export function writeMatchers(matchers: readonly MatcherDraft[]): string {
  return JSON.stringify(matchers.map(({ field, op, value }) => [field, op, value]))
}

/** Reads the matchers of a URL; an unreadable text gives none. */
export function readMatchers(text: string | undefined): MatcherDraft[] {
  if (text === undefined) return []
  try {
    const rows = JSON.parse(text) as unknown
    if (!Array.isArray(rows)) return []
    return rows.slice(0, 20).flatMap((row) => {
      if (!Array.isArray(row)) return []
      const [field, op, value] = row.map(String)
      const operator = operators.find(([each]) => each === op)?.[0]
      if (field === undefined || operator === undefined) return []
      return [{ field, op: operator, value: value ?? '' }]
    })
  } catch {
    return []
  }
}

/** Returns an empty draft that ends in an hour. */
export function newDraft(now_ms: number, zone: string, matchers: MatcherDraft[]): Draft {
  const end = new Date(now_ms + 3_600_000).toISOString()
  return {
    matchers: matchers.length > 0 ? matchers : [{ field: 'rule', op: 'eq', value: '' }],
    when: 'until',
    windows: [],
    cron: '0 2 * * 0',
    duration: '2h',
    time_zone: zone,
    expires_at: toLocal(end, zone),
    comment: '',
    instants: [end],
  }
}

/** Returns the draft of a stored suppression. */
export function draftOf(stored: IncidentSuppression, zone: string): Draft {
  const { windows, recurrence, expires_at } = stored
  return {
    matchers: stored.matchers.map(({ field, op, value }) => ({
      field,
      op: op ?? 'eq',
      value: [value].flat().join(', '),
    })),
    when: recurrence !== undefined ? 'again' : windows.length > 0 ? 'windows' : 'until',
    windows: windows.map(({ from, to }) => ({ from: toLocal(from, zone), to: toLocal(to, zone) })),
    cron: recurrence?.cron ?? '0 2 * * 0',
    duration: recurrence?.duration ?? '2h',
    time_zone: recurrence?.time_zone ?? zone,
    expires_at: expires_at === undefined ? '' : toLocal(expires_at, zone),
    comment: stored.comment,
    instants: [...windows.flatMap(({ from, to }) => [from, to]), expires_at ?? []].flat(),
  }
}

/** Returns the instant of an edited local time. */
function instantOf(local: string, zone: string, { instants }: Pick<Draft, 'instants'>): string {
  return instants.find((each) => toLocal(each, zone) === local) ?? toInstant(local, zone)
}

/** Says which instant an edited local time names, if clocks show it twice; else undefined. */
export function explainTwice(
  local: string,
  zone: string,
  draft: Pick<Draft, 'instants'>,
): string | undefined {
  const at_ms = Date.parse(instantOf(local, zone, draft))
  if (Number.isNaN(at_ms) || !isRepeated(at_ms, zone)) return undefined
  return `This time occurs twice; the one in ${zoneName(at_ms, zone)} counts.`
}

/** Returns the body for the API. Windows are kept beside a recurrence, which may have both. */
export function requestOf(draft: Draft, zone: string): IncidentSuppressionRequest {
  const { when, windows, cron, duration, time_zone, expires_at } = draft
  const instant = (local: string) => instantOf(local, zone, draft)
  return {
    matchers: draft.matchers.map(({ field, op, value }) => ({
      field: field.trim(),
      op,
      value: op === 'in' || op === 'not_in' ? splitList(value) : value,
    })),
    windows:
      when === 'until'
        ? []
        : windows.map(({ from, to }) => ({ from: instant(from), to: instant(to) })),
    ...(when === 'again' && { recurrence: { cron, duration, time_zone } }),
    ...(expires_at !== '' && { expires_at: instant(expires_at) }),
    comment: draft.comment,
  }
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
