import type { RetentionDays } from '../../../../platform/relational/index.ts'
import type { RecordKind } from '../../../storage/index.ts'
import { daysIn, eachDays, firstKeptDay, type RetentionRules } from '../retention-policy/rules.ts'

/** Action of a step on rows. */
export type RetentionAction = 'mask' | 'delete'

/** Due rows of a day and environment, as counted by a census. */
export type DueBucket = { environment: string; rows: number; bytes: number }

/** A step of a run: rows of one kind and UTC day (counted from 1970), of some environments. */
export type RetentionStep = {
  day: number
  kind: RecordKind
  action: RetentionAction
  buckets: DueBucket[]
}

/** The scope of a census: kind, action, days and environments. */
export type CensusScope = {
  kind: RecordKind
  action: RetentionAction
  /** Days before this one may be due in some environment. */
  before_day: number
  /** For kinds without an environment: environments to distinguish, the longest days first. */
  environments: string[]
}

/** Kinds in the order of their steps: dependents of observations come before them. */
const kindsInOrder = ['correlations', 'links', 'events', 'observations', 'traces'] as const

const daysOf: Record<RecordKind, keyof RetentionDays> = {
  observations: 'observations',
  traces: 'traces',
  events: 'events',
  links: 'events',
  correlations: 'events',
}

/** Kinds without an environment of their own, which have that of their trace. */
export const withoutEnvironment: ReadonlySet<RecordKind> = new Set([
  'events',
  'links',
  'correlations',
])

/** Kinds and actions of one pass over all days. */
export type Phase = { action: RetentionAction; kinds: readonly RecordKind[] }

/**
 * The phases of a run. Events, links and correlations have the environment of their trace's other
 * rows, so they are deleted first, for all days, while those rows still exist.
 */
export const phases: readonly Phase[] = [
  { action: 'mask', kinds: kindsInOrder },
  { action: 'delete', kinds: ['correlations', 'links', 'events'] },
  { action: 'delete', kinds: ['observations', 'traces'] },
]

/** Returns the censuses that phases need under the rules; none for kinds kept for ever. */
export function censusesFor(
  rules: RetentionRules,
  now_ms: number,
  some: readonly Phase[] = phases,
): CensusScope[] {
  return some.flatMap(({ action, kinds }) =>
    kinds.flatMap((kind) => {
      const field = action === 'mask' ? 'content' : daysOf[kind]
      const before_day = Math.max(
        ...eachDays(rules, field).map((days) => firstKeptDay(now_ms, days)),
      )
      if (before_day === Number.NEGATIVE_INFINITY) return []
      const fields = kind === 'correlations' ? baggageFields : [field]
      const environments = withoutEnvironment.has(kind) ? distinctEnvironments(rules, fields) : []
      return [{ kind, action, before_day, environments }]
    }),
  )
}

/**
 * Masking deletes correlations that are baggage. Both actions use the same environment of a trace,
 * so that none of its rows is due for both.
 */
const baggageFields = ['events', 'content'] as const

/**
 * Returns the environments whose days differ from the default's in one of the fields. A trace of
 * several environments has the first of them: the one that keeps its rows longest.
 */
function distinctEnvironments(
  rules: RetentionRules,
  fields: readonly (keyof RetentionDays)[],
): string[] {
  const daysFor = (environment: string, field: keyof RetentionDays) =>
    daysIn(rules, environment)[field] ?? Number.MAX_SAFE_INTEGER
  return rules.environments
    .map(({ environment }) => environment)
    .filter((environment) =>
      fields.some((field) => daysIn(rules, environment)[field] !== rules.days[field]),
    )
    .toSorted((left, right) => {
      const longer = fields.map((field) => daysFor(right, field) - daysFor(left, field))
      return longer.find((days) => days !== 0) ?? (left < right ? -1 : 1)
    })
}

/** The buckets of a census, with its scope. */
export type Census = { scope: CensusScope; buckets: readonly (DueBucket & { day: number })[] }

/**
 * Returns the steps of a run, oldest day first, for all counted rows that are due under the rules
 * now. Content of rows that are deleted needs no masking.
 */
export function planSteps(
  rules: RetentionRules,
  now_ms: number,
  censuses: readonly Census[],
): RetentionStep[] {
  const steps = new Map<string, RetentionStep>()
  for (const { scope, buckets } of censuses) {
    const { kind, action } = scope
    for (const { day, ...bucket } of buckets) {
      if (!isDue(rules, now_ms, { ...scope, day, environment: bucket.environment })) continue
      const key = `${day} ${action} ${kind}`
      const step = steps.get(key) ?? { day, kind, action, buckets: [] }
      step.buckets.push(bucket)
      steps.set(key, step)
    }
  }
  return [...steps.values()].toSorted(
    (left, right) => left.day - right.day || rankOf(left) - rankOf(right),
  )
}

/** Whether the rows of a day are due for the action. */
export function isDue(
  rules: RetentionRules,
  now_ms: number,
  group: { kind: RecordKind; action: RetentionAction; day: number; environment: string },
): boolean {
  const days = daysIn(rules, group.environment)
  const isDeleted = group.day < firstKeptDay(now_ms, days[daysOf[group.kind]])
  if (group.action === 'delete') return isDeleted
  return !isDeleted && group.day < firstKeptDay(now_ms, days.content)
}

function rankOf({ action, kind }: RetentionStep): number {
  return (action === 'mask' ? 0 : kindsInOrder.length) + kindsInOrder.indexOf(kind)
}
