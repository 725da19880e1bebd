import type { RetentionDays } from '../../../../platform/relational/index.ts'
import type { RecordKind } from '../../../storage/index.ts'
import { daysIn, eachDays, firstKeptDay, type RetentionRules } from '../policy/rules.ts'

/** What a step does with rows. */
export type RetentionAction = 'mask' | 'delete'

/** Rows of a day that are due, as the census found them. */
export type DueBucket = { environment: string; rows: number; bytes: number }

/** What is done at once: rows of one kind and UTC day (counted from 1970), of some environments. */
export type RetentionStep = {
  day: number
  kind: RecordKind
  action: RetentionAction
  buckets: DueBucket[]
}

/** What a census counts: for which kind and action, and how far it has to look. */
export type CensusWish = {
  kind: RecordKind
  action: RetentionAction
  /** Days before this one may be due somewhere. */
  before_day: number
  /** Kinds without an environment: those to tell apart, the longest days first. */
  environments: string[]
}

/** The kinds of a step's order: what hangs on observations goes before them. */
const kindsInOrder = ['correlations', 'links', 'events', 'observations', 'traces'] as const

const daysOf: Record<RecordKind, keyof RetentionDays> = {
  observations: 'observations',
  traces: 'traces',
  events: 'events',
  links: 'events',
  correlations: 'events',
}

/** Kinds whose environment is their trace's. */
export const withoutEnvironment: ReadonlySet<RecordKind> = new Set([
  'events',
  'links',
  'correlations',
])

/** Kinds and actions of one pass over all days. */
export type Phase = { action: RetentionAction; kinds: readonly RecordKind[] }

/**
 * The order of a run. Events, links and correlations have the environment of their trace's other
 * rows, so they go first, of all days: what a run deletes is then what was due when it began.
 */
export const phases: readonly Phase[] = [
  { action: 'mask', kinds: kindsInOrder },
  { action: 'delete', kinds: ['correlations', 'links', 'events'] },
  { action: 'delete', kinds: ['observations', 'traces'] },
]

/** The censuses that a phase needs under these rules; none where everything stays for ever. */
export function censusesFor(
  rules: RetentionRules,
  now_ms: number,
  some: readonly Phase[] = phases,
): CensusWish[] {
  return some.flatMap(({ action, kinds }) =>
    kinds.flatMap((kind) => {
      const field = action === 'mask' ? 'content' : daysOf[kind]
      const before_day = Math.max(
        ...eachDays(rules, field).map((days) => firstKeptDay(now_ms, days)),
      )
      if (before_day === Number.NEGATIVE_INFINITY) return []
      const fields = kind === 'correlations' ? baggageFields : [field]
      const environments = withoutEnvironment.has(kind) ? toTellApart(rules, fields) : []
      return [{ kind, action, before_day, environments }]
    }),
  )
}

/**
 * Masking deletes correlations that are baggage. Both actions go by the same environment of a trace,
 * so that none of its rows is due for both.
 */
const baggageFields = ['events', 'content'] as const

/**
 * Returns the environments whose days differ from the default's in one of the fields. A trace of
 * several environments has the first of them: the one that keeps its rows longest.
 */
function toTellApart(rules: RetentionRules, fields: readonly (keyof RetentionDays)[]): string[] {
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

/** A census with what it was asked for. */
export type Census = { wish: CensusWish; buckets: readonly (DueBucket & { day: number })[] }

/**
 * The steps of a run, oldest day first: of what the censuses found all that is due under the rules
 * as of now. Content that goes with its rows today needs no masking before.
 */
export function planSteps(
  rules: RetentionRules,
  now_ms: number,
  censuses: readonly Census[],
): RetentionStep[] {
  const steps = new Map<string, RetentionStep>()
  for (const { wish, buckets } of censuses) {
    for (const { day, ...bucket } of buckets) {
      if (!isDue(rules, now_ms, { ...wish, day, environment: bucket.environment })) continue
      const key = `${day} ${wish.action} ${wish.kind}`
      const step = steps.get(key) ?? { day, kind: wish.kind, action: wish.action, buckets: [] }
      step.buckets.push(bucket)
      steps.set(key, step)
    }
  }
  return [...steps.values()].toSorted(
    (left, right) => left.day - right.day || placeOf(left) - placeOf(right),
  )
}

/** True when the rows of a day are due for the action. */
export function isDue(
  rules: RetentionRules,
  now_ms: number,
  about: { kind: RecordKind; action: RetentionAction; day: number; environment: string },
): boolean {
  const days = daysIn(rules, about.environment)
  const goes = about.day < firstKeptDay(now_ms, days[daysOf[about.kind]])
  if (about.action === 'delete') return goes
  return !goes && about.day < firstKeptDay(now_ms, days.content)
}

function placeOf({ action, kind }: RetentionStep): number {
  return (action === 'mask' ? 0 : kindsInOrder.length) + kindsInOrder.indexOf(kind)
}
