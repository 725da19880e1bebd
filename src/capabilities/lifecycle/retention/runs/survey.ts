import {
  type CensusBucket,
  type CensusQuery,
  maxCensusBuckets,
  type RetentionStore,
} from '../../../storage/index.ts'
import type { RetentionRules } from '../retention-policy/rules.ts'
import {
  type Census,
  censusesFor,
  type Phase,
  planSteps,
  type RetentionStep,
} from './plan-steps.ts'
import { windowOf } from './slices.ts'

/** The rows that are due in a project now, including held ones. */
export type Survey = {
  steps: RetentionStep[]
  /** True when more rows may be due than the census counted. */
  is_partial: boolean
}

/** The scope of a survey; `pages_max` limits the censuses of one kind (default 1). */
export type SurveyQuery = {
  project_id: string
  rules: RetentionRules
  now_ms: number
  phases?: readonly Phase[]
  pages_max?: number
}

/** Finds the rows that are due under the rules at an instant. */
export async function survey(
  store: Pick<RetentionStore, 'census'>,
  { project_id, rules, now_ms, phases, pages_max = 1 }: SurveyQuery,
): Promise<Survey> {
  const censuses: Census[] = []
  let is_partial = false
  for (const scope of censusesFor(rules, now_ms, phases)) {
    const { kind, environments } = scope
    const before = windowOf(scope.before_day).from
    const with_content = scope.action === 'mask'
    const query = { project_id, kind, before, with_content, environments }
    const counted = await readPages(store, query, pages_max)
    censuses.push({ scope, buckets: counted.buckets })
    is_partial ||= counted.is_partial
  }
  return { steps: planSteps(rules, now_ms, censuses), is_partial }
}

/** Reads the pages of a census; each begins after the last complete day of the page before. */
async function readPages(
  store: Pick<RetentionStore, 'census'>,
  query: CensusQuery,
  pages_max: number,
): Promise<{ buckets: CensusBucket[]; is_partial: boolean }> {
  const buckets: CensusBucket[] = []
  let from_day: number | undefined
  let is_partial = false
  for (let page = 1; ; page += 1) {
    const from = from_day === undefined ? {} : { from: windowOf(from_day).from }
    const found = await store.census({ ...query, ...from })
    const last = found.at(-1)
    if (found.length < maxCensusBuckets || last === undefined) {
      return { buckets: [...buckets, ...found], is_partial }
    }
    const whole = found.filter(({ day }) => day < last.day)
    if (page === pages_max) return { buckets: [...buckets, ...found], is_partial: true }
    // A day with more environments than fit in a page is cut.
    if (whole.length === 0) is_partial = true
    buckets.push(...(whole.length === 0 ? found : whole))
    from_day = whole.length === 0 ? last.day + 1 : last.day
  }
}

/** Returns the environments by which the census counts rows of the step's kind. */
export function environmentsFor(
  rules: RetentionRules,
  now_ms: number,
  { kind, action }: Pick<RetentionStep, 'kind' | 'action'>,
): string[] {
  const scopes = censusesFor(rules, now_ms)
  return scopes.find((one) => one.kind === kind && one.action === action)?.environments ?? []
}

/** The last instant that the stores can represent, in nanoseconds since 1970. */
const lastInstant = 2n ** 63n - 1n

/** Counts rows from the future, which no rule deletes, by day, kind and environment. */
export async function countFutureRows(
  store: Pick<RetentionStore, 'census'>,
  { project_id, rules, now_ms }: Pick<SurveyQuery, 'project_id' | 'rules' | 'now_ms'>,
) {
  const counts = []
  for (const { kind, action } of censusesFor(rules, now_ms)) {
    if (action !== 'delete') continue
    const from = BigInt(now_ms) * 1_000_000n
    const query = { project_id, kind, from, before: lastInstant, with_content: false }
    for (const bucket of await store.census({ ...query, environments: [] })) {
      counts.push({ kind, ...bucket })
    }
  }
  return counts
}
