import type {
  IncidentSuppression,
  IncidentSuppressionRequest,
  MatcherOperator,
} from '../../api/schema.gen.d.ts'

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
    ...{ field: `group.${name}`, op: 'eq' as const, value },
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
  return {
    matchers: matchers.length > 0 ? matchers : [{ field: 'rule', op: 'eq', value: '' }],
    when: 'until',
    windows: [],
    ...{ cron: '0 2 * * 0', duration: '2h', time_zone: zone },
    expires_at: toLocal(new Date(now_ms + 3_600_000).toISOString(), zone),
    comment: '',
  }
}

/** Returns the draft of a stored suppression. */
export function draftOf(stored: IncidentSuppression, zone: string): Draft {
  const { windows, recurrence, expires_at } = stored
  return {
    matchers: stored.matchers.map(({ field, op, value }) => ({
      ...{ field, op: op ?? 'eq', value: [value].flat().join(', ') },
    })),
    when: recurrence !== undefined ? 'again' : windows.length > 0 ? 'windows' : 'until',
    windows: windows.map(({ from, to }) => ({ from: toLocal(from, zone), to: toLocal(to, zone) })),
    cron: recurrence?.cron ?? '0 2 * * 0',
    duration: recurrence?.duration ?? '2h',
    time_zone: recurrence?.time_zone ?? zone,
    expires_at: expires_at === undefined ? '' : toLocal(expires_at, zone),
    comment: stored.comment,
  }
}

/** Returns the body for the API. Windows are kept beside a recurrence, which may have both. */
export function requestOf(draft: Draft, zone: string): IncidentSuppressionRequest {
  const { when, windows, cron, duration, time_zone, expires_at } = draft
  return {
    matchers: draft.matchers.map(({ field, op, value }) => ({
      ...{ field: field.trim(), op },
      value: op === 'in' || op === 'not_in' ? splitList(value) : value,
    })),
    windows:
      when === 'until'
        ? []
        : windows.map(({ from, to }) => ({ from: toInstant(from, zone), to: toInstant(to, zone) })),
    ...(when === 'again' && { recurrence: { cron, duration, time_zone } }),
    ...(expires_at !== '' && { expires_at: toInstant(expires_at, zone) }),
    comment: draft.comment,
  }
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** Formats an instant as `2026-11-29T14:00` in a zone, for an input of a local time. */
export function toLocal(instant: string, zone: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    ...{ hourCycle: 'h23', timeZone: zone },
  }).formatToParts(at)
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, value]))
  return `${of['year']}-${of['month']}-${of['day']}T${of['hour']}:${of['minute']}`
}

/**
 * Returns the instant of a local time in a zone. A time that does not exist (the hour that summer time
 * skips) is moved on by an hour; of one that exists twice, the first counts. An unreadable text is
 * returned as it is, so that the API names its fault.
 */
export function toInstant(local: string, zone: string): string {
  const asUtcMs = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtcMs)) return local
  const offsetAtMs = (at_ms: number) =>
    Date.parse(`${toLocal(new Date(at_ms).toISOString(), zone)}Z`) - at_ms
  const day_ms = 86_400_000
  const offsets = [offsetAtMs(asUtcMs - day_ms), offsetAtMs(asUtcMs + day_ms)]
  const candidates = offsets.map((offset_ms) => asUtcMs - offset_ms)
  const exact = candidates.filter(
    (at_ms) => toLocal(new Date(at_ms).toISOString(), zone) === local.slice(0, 16),
  )
  const chosen_ms = exact.length > 0 ? Math.min(...exact) : Math.max(...candidates)
  return new Date(chosen_ms).toISOString()
}
