import { describe, expect, test } from 'vitest'
import {
  mapAttributes,
  mappedRequest,
  onlyOne,
  otlpRequest,
  otlpSpan,
  testMapper,
} from '../../../../../test/support/otlp-spans.ts'
import type { ObservationDraft } from '../../../../model/ingest-records.ts'
import { createPricing } from '../../../records/pricing/index.ts'

function bucketsOf(draft: ObservationDraft) {
  const { input_uncached_tokens, cache_read_tokens, cache_write_tokens } = draft
  return [input_uncached_tokens, cache_read_tokens, cache_write_tokens, draft.usage_semantics]
}

describe('the scope and the keys decide', () => {
  test('the conventions include the cache', () => {
    const draft = mapAttributes({
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 10,
    })
    expect(bucketsOf(draft)).toEqual([30, 60, 10, 'inclusive'])
    expect(draft).toMatchObject({ output_visible_tokens: null, usage_source: 'provider' })
  })

  test('Claude Code does not', () => {
    const draft = mapAttributes(
      { input_tokens: 5, output_tokens: 7, cache_read_tokens: 60, cache_creation_tokens: 10 },
      { scope: 'com.anthropic.claude_code.tracing', span: { name: 'claude_code.llm_request' } },
    )
    expect(bucketsOf(draft)).toEqual([5, 60, 10, 'exclusive'])
    expect(draft).toMatchObject({ type: 'generation', output_visible_tokens: 7 })
    expect(mapAttributes({ input_tokens: 5 }).usage_source).toBe('none')
  })

  test("Anthropic's own keys do not", () => {
    const draft = mapAttributes({ 'gen_ai.usage.input_tokens': 100, cache_read_input_tokens: 60 })
    expect(bucketsOf(draft)).toEqual([100, 60, 0, 'exclusive'])
  })

  test('counts that cannot be inclusive are exclusive, which the row reports', () => {
    const draft = mapAttributes({
      'gen_ai.usage.input_tokens': 4,
      'gen_ai.usage.cache_read.input_tokens': 60,
    })
    expect(bucketsOf(draft)).toEqual([4, 60, 0, 'exclusive'])
    expect(draft.mapped_from).toContain('|implied:usage_semantics')
  })

  test.each([[-1], [1.5], ['many'], [Number.NaN], [2 ** 41], [10n ** 18n], [['1']]])(
    'a count of %s is not usable',
    (count) => {
      const draft = mapAttributes({
        'gen_ai.usage.input_tokens': count,
        'gen_ai.usage.prompt_tokens': '12',
      })
      expect(draft.input_uncached_tokens).toBe(12)
      expect(draft.mapped_from).toContain('lost:gen_ai.usage.input_tokens')
    },
  )

  test('usage aggregated over other calls is only an attribute', () => {
    const draft = mapAttributes({ 'gen_ai.aggregated_usage.input_tokens': 100 })
    expect(draft.usage_source).toBe('none')
    expect(draft.attributes).toEqual(['gen_ai.aggregated_usage.input_tokens', '100'])
  })
})

describe('what prices need', () => {
  const outputOf = (draft: ObservationDraft) => [
    draft.output_visible_tokens,
    draft.reasoning_tokens,
  ]

  test.each([
    ['gen_ai.usage.input_cached_tokens', [70, 30, 0, 'inclusive']],
    ['gen_ai.usage.input_cache_creation_tokens', [70, 0, 30, 'inclusive']],
  ])('%s is an alias', (key, expected) => {
    expect(bucketsOf(mapAttributes({ 'gen_ai.usage.input_tokens': 100, [key]: 30 }))).toEqual(
      expected,
    )
  })

  test('thinking tokens are reasoning', () => {
    const counts = { 'gen_ai.usage.output_tokens': 50, 'gen_ai.usage.thinking_tokens': 20 }
    expect(outputOf(mapAttributes(counts))).toEqual([30, 20])
  })

  test('a total alone is kept as such', () => {
    const draft = mapAttributes({ 'gen_ai.usage.total_tokens': 12, 'gen_ai.request.model': 'm' })
    expect(bucketsOf(draft)).toEqual([12, 0, 0, 'inclusive'])
    expect(draft).toMatchObject({
      output_visible_tokens: null,
      usage_source: 'provider',
      usage_details: { unsplit: 12 },
    })
  })

  test.each([
    ['negative', -5],
    ['above 2^40', 2 ** 40 + 1],
    ['no number', 'NaN'],
  ])('a count that is %s is not believed: the content is counted', (_name, count) => {
    const counts = { 'gen_ai.usage.input_tokens': count, 'gen_ai.usage.output_tokens': 5 }
    const draft = mapAttributes({ ...counts, 'input.value': 'a'.repeat(40), 'output.value': 'b' })
    expect(bucketsOf(draft)).toEqual([10, 0, 0, ''])
    expect(draft).toMatchObject({ output_visible_tokens: 1, usage_source: 'estimated' })
    expect(draft.attributes.slice(-2)).toEqual(['mapping.usage', 'not believed: input_tokens'])
    expect(mapAttributes(counts)).toMatchObject({
      input_uncached_tokens: null,
      usage_source: 'none',
    })
  })

  test('a total that contradicts the counts is noted', () => {
    const counts = { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5 }
    const draft = mapAttributes({ ...counts, 'gen_ai.usage.total_tokens': 20 })
    const note = 'the total is 20, but the counts sum to 15'
    expect(draft.attributes.slice(-2)).toEqual(['mapping.usage', note])
  })

  test('audio of OpenInference, Pydantic AI and LiveKit', () => {
    const shapes = [
      ['llm.token_count.prompt_details.audio', 'llm.token_count.completion_details.audio'],
      ['gen_ai.usage.details.input_audio_tokens', 'gen_ai.usage.details.output_audio_tokens'],
      ['gen_ai.usage.input_audio_tokens', 'gen_ai.usage.output_audio_tokens'],
    ] as const
    for (const [input, output] of shapes) {
      const counts = { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 50 }
      const draft = mapAttributes({ ...counts, [input]: 60, [output]: 40 })
      expect(draft.usage_details).toEqual({ input_audio: 60, output_audio: 40 })
    }
  })

  test("the input excludes audio in Langfuse's own keys, and includes it in OpenAI's", () => {
    const mapped = (usage: object) =>
      mapAttributes({ 'langfuse.observation.usage_details': JSON.stringify(usage) })
    const own = { input: 40, input_audio_tokens: 60, output: 10, output_audio_tokens: 40 }
    const openai = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { audio_tokens: 60 },
      completion_tokens_details: { audio_tokens: 40 },
    }
    for (const usage of [{ ...own, total: 150 }, openai]) {
      const draft = mapped(usage)
      expect(draft).toMatchObject({
        input_uncached_tokens: 100,
        output_visible_tokens: 50,
        usage_details: { input_audio: 60, output_audio: 40 },
      })
    }
  })

  test('cache writes by life and the service tier of the AI SDK', () => {
    const draft = mapAttributes({
      'ai.response.providerMetadata': JSON.stringify({
        anthropic: {
          usage: {
            input_tokens: 3,
            cache_creation_input_tokens: 70,
            cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 50 },
            service_tier: 'batch',
          },
        },
      }),
    })
    expect(bucketsOf(draft)).toEqual([3, 0, 70, 'exclusive'])
    expect(draft).toMatchObject({
      usage_details: { cache_write_5m: 20, cache_write_1h: 50 },
      service_tier: 'batch',
    })
  })

  test('the tier of the answer comes before that of the request, and auto says nothing', () => {
    const asked = { 'openai.request.service_tier': 'priority' }
    expect(mapAttributes(asked).service_tier).toBe('priority')
    const answered = { ...asked, 'openai.response.service_tier': 'default' }
    expect(mapAttributes(answered).service_tier).toBe('standard')
    expect(mapAttributes({ 'openai.request.service_tier': 'auto' }).service_tier).toBe('')
  })

  test.each([
    ['gen_ai.usage.cost', 0.5],
    ['gen_ai.usage.total_cost', '0.5'],
    ['gen_ai.cost.total_cost', 0.5],
    ['litellm.cost.total', 0.5],
    ['langfuse.observation.cost_details', '{"input":0.2,"output":0.3,"total":0.5}'],
    ['langfuse.observation.cost_details', '{"input":0.2,"output":0.3}'],
  ])('%s of %s is a reported cost', (key, value) => {
    expect(mapAttributes({ [key]: value })).toMatchObject({ cost_reported_usd: '0.5' })
  })
})

describe('an answer from the cache of LiteLLM', () => {
  /** As the callback `otel` of litellm 1.110.2 reports the second of two equal calls. */
  const answered = {
    'gen_ai.operation.name': 'acompletion',
    'gen_ai.system': 'openai',
    'gen_ai.response.model': 'gpt-4.1-mini',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.cost.total_cost': 0,
    'litellm.saved_cache_cost': 0.000036,
  }
  const costOf = (attributes: object, source?: Parameters<typeof createPricing>[0]) => {
    const mapper = testMapper({ pricing: createPricing(source) })
    const request = otlpRequest([otlpSpan({ ...answered, ...attributes })])
    return onlyOne(mapper.traces(request, mappedRequest).records.observations)
  }

  test.each(['complete', 'computed', 'reported'] as const)('costs nothing, by %s', (source) => {
    expect(costOf({ 'litellm.cache_hit': true }, source)).toMatchObject({
      ...{ cost_usd: '0', price_version: 'reported', price_partial: [] },
      ...{ cost_reported_usd: '0', cost_computed_usd: '0.000036' },
      ...{ input_uncached_tokens: 10, output_visible_tokens: 20, usage_source: 'provider' },
    })
  })

  test('is one only if LiteLLM says so', () => {
    for (const hit of [false, 'False', null]) {
      expect(costOf({ 'litellm.cache_hit': hit }).cost_usd).toBe('0.000036')
    }
  })
})
