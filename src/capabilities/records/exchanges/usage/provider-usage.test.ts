import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ProviderUsage, providerUsage } from './provider-usage.ts'

const buckets = (values: Partial<ProviderUsage>) => ({
  input_uncached_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_visible_tokens: 0,
  reasoning_tokens: 0,
  ...values,
})

describe('each provider’s shape', () => {
  test.each([
    [
      'OpenAI: cached and reasoning tokens are included',
      'openai',
      {
        prompt_tokens: 1000,
        completion_tokens: 300,
        total_tokens: 1300,
        prompt_tokens_details: { cached_tokens: 768, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 256 },
      },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 232,
        cache_read_tokens: 768,
        output_visible_tokens: 44,
        reasoning_tokens: 256,
      }),
    ],
    [
      'OpenAI, plain',
      'openai',
      { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 5,
        output_visible_tokens: 7,
      }),
    ],
    [
      'OpenRouter: tokens written to the cache are included too',
      'openai',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
      },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 50,
        cache_read_tokens: 20,
        cache_write_tokens: 30,
        output_visible_tokens: 1,
      }),
    ],
    [
      'Gemini by the compatible endpoint: thoughts are only in the total',
      'gemini',
      { prompt_tokens: 29, completion_tokens: 15, total_tokens: 89 },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 29,
        output_visible_tokens: 15,
        reasoning_tokens: 45,
      }),
    ],
    [
      'another provider’s odd total says nothing',
      'openai',
      { prompt_tokens: 29, completion_tokens: 15, total_tokens: 89 },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 29,
        output_visible_tokens: 15,
      }),
    ],
    [
      'xAI: reasoning comes on top when the total says so',
      'openai',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 10,
        output_visible_tokens: 5,
        reasoning_tokens: 20,
      }),
    ],
    [
      'DeepSeek: hits and misses',
      'openai',
      {
        prompt_tokens: 339,
        completion_tokens: 83,
        total_tokens: 422,
        prompt_cache_hit_tokens: 320,
        prompt_cache_miss_tokens: 19,
      },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 19,
        cache_read_tokens: 320,
        output_visible_tokens: 83,
      }),
    ],
    [
      'Anthropic’s own: cached tokens are not included',
      'anthropic',
      {
        input_tokens: 4,
        cache_creation_input_tokens: 1165,
        cache_read_input_tokens: 200,
        output_tokens: 201,
      },
      buckets({
        usage_semantics: 'exclusive',
        input_uncached_tokens: 4,
        cache_read_tokens: 200,
        cache_write_tokens: 1165,
        output_visible_tokens: 201,
      }),
    ],
    [
      'Gemini’s own: thoughts come on top of the candidates',
      'gemini',
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 45,
        toolUsePromptTokenCount: 7,
      },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 47,
        cache_read_tokens: 60,
        output_visible_tokens: 15,
        reasoning_tokens: 45,
      }),
    ],
    [
      'OpenAI’s Responses: details make it inclusive',
      'openai',
      {
        input_tokens: 50,
        input_tokens_details: { cached_tokens: 40 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 8 },
      },
      buckets({
        usage_semantics: 'inclusive',
        input_uncached_tokens: 10,
        cache_read_tokens: 40,
        output_visible_tokens: 1,
        reasoning_tokens: 8,
      }),
    ],
  ])('%s', (_name, provider, usage, expected) => {
    expect(providerUsage(usage, provider)).toEqual({
      ...expected,
      inconsistency: '',
    })
  })

  test.each([
    ['empty', {}],
    ['nulls', { prompt_tokens: null, completion_tokens: null }],
    ['texts', { prompt_tokens: 'many' }],
  ])('no counts at all: %s', (_name, usage) => {
    expect(providerUsage(usage, 'openai')).toBeUndefined()
  })
})

describe('invalid counts', () => {
  test.each([
    [
      'more cached than prompted',
      { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 } },
    ],
    [
      'more reasoning than completion',
      { completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 9 } },
    ],
    ['negative', { prompt_tokens: -5, completion_tokens: 1 }],
    ['fractions', { prompt_tokens: 5.5, completion_tokens: 1 }],
    ['beyond any window', { prompt_tokens: 5e12, completion_tokens: 1 }],
    ['an array', { prompt_tokens: 1, completion_tokens: [[[1]]] }],
  ])('%s: clamped and reported', (_name, usage) => {
    const read = providerUsage(usage, 'openai')
    expect(read?.inconsistency).not.toBe('')
  })

  test('a clamped cache count leaves the total as it was', () => {
    const usage = { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 } }
    expect(providerUsage(usage, 'openai')).toMatchObject(
      buckets({ input_uncached_tokens: 0, cache_read_tokens: 5 }),
    )
  })
})

const anyCount = fc.oneof(
  fc.nat(10_000),
  fc.integer(),
  fc.double(),
  fc.constantFrom(null, undefined, '7', {}, Number.NaN),
)
const anyUsage = fc.record(
  {
    prompt_tokens: anyCount,
    completion_tokens: anyCount,
    total_tokens: anyCount,
    prompt_tokens_details: fc.record({ cached_tokens: anyCount, cache_write_tokens: anyCount }),
    completion_tokens_details: fc.record({ reasoning_tokens: anyCount }),
    prompt_cache_hit_tokens: anyCount,
    input_tokens: anyCount,
    output_tokens: anyCount,
    cache_read_input_tokens: anyCount,
    promptTokenCount: anyCount,
    candidatesTokenCount: anyCount,
    thoughtsTokenCount: anyCount,
  },
  { requiredKeys: [] },
)

test('for any usage, the buckets are whole numbers ≥ 0', () => {
  fc.assert(
    fc.property(anyUsage, fc.constantFrom('openai', 'gemini', 'anthropic'), (usage, provider) => {
      const read = providerUsage(usage, provider)
      if (read === undefined) return
      const { usage_semantics: _, inconsistency: __, ...counts } = read
      for (const count of Object.values(counts)) {
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('consistent counts: the buckets sum up to prompt and completion', () => {
  const counts = fc.tuple(fc.nat(9_999), fc.nat(9_999), fc.nat(9_999), fc.nat(9_999), fc.nat(9_999))
  fc.assert(
    fc.property(counts, ([uncached, read, write, visible, reasoning]) => {
      const prompt_tokens = uncached + read + write
      const completion_tokens = visible + reasoning
      const usage = {
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens + completion_tokens,
        prompt_tokens_details: { cached_tokens: read, cache_write_tokens: write },
        completion_tokens_details: { reasoning_tokens: reasoning },
      }
      expect(providerUsage(usage, 'openai')).toEqual({
        input_uncached_tokens: uncached,
        cache_read_tokens: read,
        cache_write_tokens: write,
        output_visible_tokens: visible,
        reasoning_tokens: reasoning,
        usage_semantics: 'inclusive',
        inconsistency: '',
      })
    }),
  )
})
