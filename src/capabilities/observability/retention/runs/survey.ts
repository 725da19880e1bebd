import type { RetentionStore } from '../../stores/index.ts'
import { censusBuckets_max } from '../../stores/index.ts'
import type { RetentionRules } from '../policy/rules.ts'
import { type Census, censusesFor, planSteps, type RetentionStep } from './plan-steps.ts'
import { windowOf } from './slices.ts'

/** What is due in a project now, before it is known what is held. */
export type Survey = {
  steps: RetentionStep[]
  /** True when a census found as many buckets as it tells: there may be more. */
  is_partial: boolean
}

/** Looks for what is due under the rules, as of an instant. */
export async function survey(
  store: RetentionStore,
  { project_id, rules, now_ms }: { project_id: string; rules: RetentionRules; now_ms: number },
): Promise<Survey> {
  const censuses: Census[] = []
  for (const wish of censusesFor(rules, now_ms)) {
    const { kind, environments } = wish
    const before = windowOf(wish.before_day).from
    const with_content = wish.action === 'mask'
    const buckets = await store.census({ project_id, kind, before, with_content, environments })
    censuses.push({ wish, buckets })
  }
  const is_partial = censuses.some(({ buckets }) => buckets.length >= censusBuckets_max)
  return { steps: planSteps(rules, now_ms, censuses), is_partial }
}

/** The environments that tell apart rows of the step's kind: those that its census went by. */
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
  store: RetentionStore,
  { project_id, rules, now_ms }: { project_id: string; rules: RetentionRules; now_ms: number },
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
