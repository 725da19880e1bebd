import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import type { ArchiveSchedule, RetentionDays } from '../../../../platform/relational/index.ts'

/** How long a project's data is kept: `days`, but for what an environment says otherwise. */
export type RetentionRules = {
  days: RetentionDays
  environments: readonly { environment: string; days: Partial<RetentionDays> }[]
  archive_before_delete: boolean
}

/** The rules, and when days are archived whether they go or not. */
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

/** What holds until a project says otherwise: everything stays, for ever. */
export const defaultRetention: RetentionPolicy = {
  days: { content: null, observations: null, traces: null, events: null },
  environments: [],
  archive_before_delete: false,
  archive: null,
}

export const day_ms = 86_400_000

/**
 * The days that hold in an environment: its own, else the default's, of which none is longer than
 * what bounds it there.
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
    // With null content goes with its observation, for which nobody has to look for content.
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
 * The first day (counted from 1970 in UTC) that is not due: a day is due once all of it is older
 * than so many days. With null nothing is, whenever it was.
 */
export function firstKeptDay(now_ms: number, days: number | null): number {
  return days === null ? Number.NEGATIVE_INFINITY : Math.floor(now_ms / day_ms) - days
}

/** The days of one field in every environment, `undefined` standing for all that have no rule. */
export function eachDays(rules: RetentionRules, field: keyof RetentionDays): (number | null)[] {
  const own = rules.environments.map(({ environment }) => daysIn(rules, environment)[field])
  return [rules.days[field], ...own]
}

/** What is wrong with the days of one environment or the default; undefined when nothing is. */
export function daysFault(
  days: RetentionDays,
): { field: keyof RetentionDays; message: string } | undefined {
  for (const [field, bound] of bounds) {
    const [left, right] = [days[field], days[bound]]
    if (right === null || (left !== null && left <= right)) continue
    // Content goes with its observations at the latest, so null says no more than that.
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
