import { expect, test } from 'vitest'
import { usageShapes } from '../../../../../test/support/langfuse-spans.ts'
import {
  mappedRequest,
  onlyOne,
  otlpRequest,
  otlpSpan,
  testMapper,
} from '../../../../../test/support/otlp-spans.ts'
import { createPricing } from '../../../records/pricing/index.ts'

const mapper = testMapper({ pricing: createPricing() })

function rowOf(attributes: Parameters<typeof otlpSpan>[0]) {
  const { records } = mapper.traces(otlpRequest([otlpSpan(attributes)]), mappedRequest)
  return onlyOne(records.observations)
}

/** Of 86 tokens, 1,920 from the cache, and 300 of output with the reasoning. */
const cost_usd = `${(86 * 0.25 + 1_920 * 0.025 + 300 * 2) / 1e6}`

test.each(usageShapes)('usage of Langfuse as %s costs the same', (_shape, usage) => {
  const row = rowOf({
    'langfuse.observation.type': 'generation',
    'langfuse.observation.model.name': 'gpt-5-mini-2025-08-07',
    'langfuse.observation.usage_details': JSON.stringify(usage),
  })
  expect(row.cost_usd).toBe(cost_usd)
})

test('the usage of Langfuse comes before other usage of the span', () => {
  const row = rowOf({
    'langfuse.observation.usage_details': '{"input":10,"input_cached_tokens":30,"output":5}',
    'gen_ai.usage.input_tokens': 40,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.usage.cache_read.input_tokens': 30,
  })
  expect(row).toMatchObject({
    input_uncached_tokens: 10,
    cache_read_tokens: 30,
    usage_semantics: 'exclusive',
  })
})

test('details that are lists or not numbers are ignored', () => {
  const row = rowOf({
    'langfuse.observation.usage_details': JSON.stringify({
      prompt_tokens: 10,
      prompt_tokens_details: [{ cached_tokens: 4 }],
      completion_tokens: 'many',
      completion_tokens_details: { reasoning_tokens: -1 },
    }),
  })
  expect(row).toMatchObject({ input_uncached_tokens: 10, cache_read_tokens: 0 })
  expect(row.output_visible_tokens).toBeNull()
})
