import type { ExplainedUsage, TokenBuckets, UsageDetails } from './reported-usage.ts'

/** The usage of one step of an answer. */
export type UsageStep = Pick<ExplainedUsage, 'buckets' | 'details'> & {
  /** The model of the step; '' for the model of the call. */
  model: string
}

/**
 * Adds the steps of an answer, such as a compaction, the advice of another model or a model that
 * declined: a provider's totals leave some of them out. Steps of one model are merged; without a
 * step of another model, the steps are left out. Thinking and searches that only the totals state
 * belong to the call's own model.
 */
export function mergeSteps(
  steps: readonly UsageStep[],
  whole: ExplainedUsage,
): { usage: ExplainedUsage; steps: UsageStep[] } {
  const byModel = new Map<string, UsageStep>()
  for (const step of steps) {
    const known = byModel.get(step.model)
    byModel.set(step.model, known === undefined ? step : addStep(known, step))
  }
  const named = withTotals([...byModel.values()], whole)
  const sum = named.reduce(addStep)
  const isOneModel = named.length === 1 && named[0]?.model === ''
  const { buckets, details } = sum
  return { usage: { ...whole, buckets, details }, steps: isOneModel ? [] : named }
}

function addStep(a: UsageStep, b: UsageStep): UsageStep {
  const buckets: TokenBuckets = {
    input_uncached_tokens: a.buckets.input_uncached_tokens + b.buckets.input_uncached_tokens,
    cache_read_tokens: a.buckets.cache_read_tokens + b.buckets.cache_read_tokens,
    cache_write_tokens: a.buckets.cache_write_tokens + b.buckets.cache_write_tokens,
    output_visible_tokens: a.buckets.output_visible_tokens + b.buckets.output_visible_tokens,
    reasoning_tokens: a.buckets.reasoning_tokens + b.buckets.reasoning_tokens,
  }
  return { model: a.model, buckets, details: addDetails(a.details, b.details) }
}

function addDetails(a: UsageDetails, b: UsageDetails): UsageDetails {
  const sum = { ...a }
  for (const [name, count] of Object.entries(b)) {
    const detail = name as keyof UsageDetails
    sum[detail] = (sum[detail] ?? 0) + count
  }
  return sum
}

/** Moves the totals' thinking and searches, if the steps state none, to the call's own model. */
function withTotals(steps: UsageStep[], whole: ExplainedUsage): UsageStep[] {
  const own = steps.findIndex(({ model }) => model === '')
  const at = own === -1 ? steps.length - 1 : own
  const stated = steps.some(({ buckets }) => buckets.reasoning_tokens > 0)
  return steps.map((step, index) => {
    if (index !== at) return step
    const written = step.buckets.output_visible_tokens
    const thought = stated ? 0 : Math.min(whole.buckets.reasoning_tokens, written)
    const web_searches = step.details.web_searches ?? whole.details.web_searches
    return {
      ...step,
      buckets: {
        ...step.buckets,
        output_visible_tokens: written - thought,
        reasoning_tokens: step.buckets.reasoning_tokens + thought,
      },
      details: { ...step.details, ...(web_searches !== undefined && { web_searches }) },
    }
  })
}
