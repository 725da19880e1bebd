import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import type { ArchiveSchedule, RetentionDays } from '../../../../platform/relational/index.ts'

/** How long a project's data is kept: `days`, with exceptions for environments. */
export type RetentionRules = {
  days: RetentionDays
  environments: readonly { environment: string; days: Partial<RetentionDays> }[]
  archive_before_delete: boolean
}

/** The rules, and the schedule of archives, which does not depend on deletion. */
export type RetentionPolicy = RetentionRules & { archive: ArchiveSchedule | null }

const days = z.int().positive().nullable()
const dayFields = { content: days, observations: days, traces: days, events: days }
const ownDays = z.strictObject(dayFields).partial().meta({ id: 'DryRunEnvironmentDays' })

/** Rules as a dry run applies and returns them. They were validated when they were set. */
export const retentionRulesSchema = record('DryRunRules', {
  days: record('DryRunDays', dayFields),
  environments: z.array(record('DryRunEnvironment', { environment: z.string(), days: ownDays })),
  archive_before_delete: z.boolean(),
})

/** The default policy, which keeps everything for ever. */
export const defaultRetention: RetentionPolicy = {
  days: { content: null, observations: null, traces: null, events: null },
  environments: [],
  archive_before_delete: false,
  archive: null,
}

export const day_ms = 86_400_000

/**
 * Returns the days of an environment: its own, or else the default's, shortened to the
 * environment's own bounds.
 */
export function daysIn(rules: RetentionRules, environment: string): RetentionDays {
  const own = rules.environments.find((one) => one.environment === environment)?.days
  if (own === undefined) return rules.days
  const { traces, ...days } = { ...rules.days, ...own }
  const observations =
    own.observations === undefined ? least(days.observations, traces) : own.observations
  return {
    traces,
    observations,
    events: own.events === undefined ? least(days.events, observations) : own.events,
    // With null, content is deleted with its observation, without a search of its own.
    content:
      days.content === null || own.content !== undefined
        ? days.content
        : least(days.content, observations),
  }
}

function least(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right
  return Math.min(left, right)
}

/**
 * Returns the first day (counted from 1970 in UTC) that is not due. A day is due once all of it is
 * older than `days`; with null no day is due.
 */
export function firstKeptDay(now_ms: number, days: number | null): number {
  return days === null ? Number.NEGATIVE_INFINITY : Math.floor(now_ms / day_ms) - days
}

/** Returns the days of one field: the default's, then those of each environment. */
export function eachDays(rules: RetentionRules, field: keyof RetentionDays): (number | null)[] {
  const own = rules.environments.map(({ environment }) => daysIn(rules, environment)[field])
  return [rules.days[field], ...own]
}

/** Returns the fault in the days of an environment or the default; undefined for valid days. */
export function daysFault(
  days: RetentionDays,
): { field: keyof RetentionDays; message: string } | undefined {
  for (const [field, bound] of bounds) {
    const [left, right] = [days[field], days[bound]]
    if (right === null || (left !== null && left <= right)) continue
    // Content is deleted with its observation at the latest, so null is always valid.
    if (field === 'content' && left === null) continue
    const got = left === null ? 'null (for ever)' : `${left} days`
    return { field, message: `got ${got}, expected at most the ${right} days of ${bound}` }
  }
  return undefined
}

const bounds: readonly [keyof RetentionDays, keyof RetentionDays][] = [
  ['content', 'observations'],
  ['observations', 'traces'],
  ['events', 'observations'],
]
