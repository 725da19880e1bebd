import {
  type CensusBucket,
  type CensusQuery,
  censusBuckets_max,
  type RetentionStore,
} from '../../../storage/index.ts'
import type { RetentionRules } from '../policy/rules.ts'
import {
  type Census,
  censusesFor,
  type Phase,
  planSteps,
  type RetentionStep,
} from './plan-steps.ts'
import { windowOf } from './slices.ts'

/** The rows that are due in a project now, before held ones are taken out. */
export type Survey = {
  steps: RetentionStep[]
  /** True when more may be due than a census tells. */
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

/** Looks for what is due under the rules, as of an instant. */
export async function survey(
  store: Pick<RetentionStore, 'census'>,
  { project_id, rules, now_ms, phases, pages_max = 1 }: SurveyQuery,
): Promise<Survey> {
  const censuses: Census[] = []
  let is_partial = false
  for (const wish of censusesFor(rules, now_ms, phases)) {
    const { kind, environments } = wish
    const before = windowOf(wish.before_day).from
    const with_content = wish.action === 'mask'
    const asked = { project_id, kind, before, with_content, environments }
    const found = await allPages(store, asked, pages_max)
    censuses.push({ wish, buckets: found.buckets })
    is_partial ||= found.is_partial
  }
  return { steps: planSteps(rules, now_ms, censuses), is_partial }
}

/** Reads further pages; each begins behind the last complete day of the page before. */
async function allPages(
  store: Pick<RetentionStore, 'census'>,
  asked: CensusQuery,
  pages_max: number,
): Promise<{ buckets: CensusBucket[]; is_partial: boolean }> {
  const buckets: CensusBucket[] = []
  let from_day: number | undefined
  let is_partial = false
  for (let page = 1; ; page += 1) {
    const from = from_day === undefined ? {} : { from: windowOf(from_day).from }
    const found = await store.census({ ...asked, ...from })
    const last = found.at(-1)
    if (found.length < censusBuckets_max || last === undefined) {
      return { buckets: [...buckets, ...found], is_partial }
    }
    const whole = found.filter(({ day }) => day < last.day)
    if (page === pages_max) return { buckets: [...buckets, ...found], is_partial: true }
    // A day with more environments than a page has is cut.
    if (whole.length === 0) is_partial = true
    buckets.push(...(whole.length === 0 ? found : whole))
    from_day = whole.length === 0 ? last.day + 1 : last.day
  }
}

/** The environments by which the census counts rows of the step's kind. */
export function environmentsFor(
  rules: RetentionRules,
  now_ms: number,
  { kind, action }: Pick<RetentionStep, 'kind' | 'action'>,
): string[] {
  const wishes = censusesFor(rules, now_ms)
  return wishes.find((one) => one.kind === kind && one.action === action)?.environments ?? []
}

/** The last instant that the stores hold, in nanoseconds since 1970. */
const lastInstant = 2n ** 63n - 1n

/** Rows from the future, which no rule deletes: by day, kind and environment. */
export async function futureRows(
  store: Pick<RetentionStore, 'census'>,
  { project_id, rules, now_ms }: Pick<SurveyQuery, 'project_id' | 'rules' | 'now_ms'>,
) {
  const found = []
  for (const { kind, action } of censusesFor(rules, now_ms)) {
    if (action !== 'delete') continue
    const from = BigInt(now_ms) * 1_000_000n
    const asked = { project_id, kind, from, before: lastInstant, with_content: false }
    for (const bucket of await store.census({ ...asked, environments: [] })) {
      found.push({ kind, ...bucket })
    }
  }
  return found
}
