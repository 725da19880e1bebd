import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExplainedUsage, TokenBuckets } from './reported-usage.ts'
import { readWireUsage } from './wire-usage.ts'

type Read = TokenBuckets & Pick<ExplainedUsage, 'usage_semantics'>

const providerUsage = (usage: Record<string, unknown>, provider: string) => {
  const { usage: read, inconsistency } = readWireUsage(usage, { provider, model: '' })
  return read && { ...read.buckets, usage_semantics: read.usage_semantics, inconsistency }
}

const buckets = (values: Partial<Read>) => ({
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
    ['only zero', { total_tokens: 0 }],
  ])('no counts at all: %s', (_name, usage) => {
    expect(providerUsage(usage, 'openai')).toBeUndefined()
  })
})

test('a total that nothing explains is noted, and makes the price partial', () => {
  const counts = { prompt_tokens: 29, completion_tokens: 15, total_tokens: 89 }
  const { usage, inconsistency } = readWireUsage(counts, { provider: 'openai', model: 'gpt-5' })
  expect(usage).toMatchObject({
    buckets: buckets({ input_uncached_tokens: 29, output_visible_tokens: 15 }),
    unclear: ['total'],
  })
  expect(inconsistency).toBe('the total is 89, but the counts sum to 44')
})

test('Gemini behind another name is known by its model', () => {
  const counts = { prompt_tokens: 29, completion_tokens: 15, total_tokens: 89 }
  const { usage } = readWireUsage(counts, { provider: 'openai', model: 'google/gemini-2.5-pro' })
  expect(usage?.buckets.reasoning_tokens).toBe(45)
})

describe('counts that contradict each other', () => {
  test('more cached than prompted: the prompt excludes the cached tokens', () => {
    const usage = {
      prompt_tokens: 31,
      completion_tokens: 2,
      prompt_tokens_details: { cache_creation_tokens: 1_253 },
    }
    expect(providerUsage(usage, 'anthropic')).toMatchObject({
      input_uncached_tokens: 31,
      cache_write_tokens: 1_253,
      usage_semantics: 'exclusive',
      inconsistency: '',
    })
  })

  test('more reasoning than completion: the completion excludes it, unless the total has no room', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 9 } }
    expect(providerUsage({ completion_tokens: 5, ...details }, 'openai')).toMatchObject({
      output_visible_tokens: 5,
      reasoning_tokens: 9,
    })
    const usage = { prompt_tokens: 1, completion_tokens: 5, total_tokens: 6, ...details }
    expect(providerUsage(usage, 'openai')).toMatchObject({
      output_visible_tokens: 0,
      reasoning_tokens: 5,
    })
  })

  test('fractions are cut and noted', () => {
    const read = providerUsage({ prompt_tokens: 5.5, completion_tokens: 1 }, 'openai')
    expect(read).toMatchObject({ input_uncached_tokens: 5, inconsistency: 'prompt_tokens is 5.5' })
  })
})

describe('counts that can not be believed', () => {
  test.each([
    ['negative', { prompt_tokens: -5, completion_tokens: 1 }],
    ['above 2^40', { prompt_tokens: 2 ** 40 + 1, completion_tokens: 1 }],
    ['not a number', { prompt_tokens: Number.NaN, completion_tokens: 1 }],
    ['infinite', { prompt_tokens: 1, completion_tokens: Number.POSITIVE_INFINITY }],
    ['an array', { prompt_tokens: 1, completion_tokens: [[[1]]] }],
    ['a text', { prompt_tokens: 'many', completion_tokens: 1 }],
    ['in a detail', { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: -1 } }],
    ['in a step', { input_tokens: 1, output_tokens: 1, iterations: [{ input_tokens: -1 }] }],
  ])('%s', (_name, usage) => {
    const read = readWireUsage(usage, { provider: 'openai', model: '' })
    expect(read.usage).toBeUndefined()
    expect(read.inconsistency).toMatch(/^not believed: /)
  })

  test('2^40 is the largest believable count', () => {
    const read = providerUsage({ prompt_tokens: 2 ** 40, completion_tokens: 1 }, 'openai')
    expect(read?.input_uncached_tokens).toBe(2 ** 40)
  })
})

describe('details with prices of their own', () => {
  const detailsOf = (usage: Record<string, unknown>) =>
    readWireUsage(usage, { provider: '', model: '' }).usage?.details

  test.each([
    [
      'audio of OpenAI’s chat',
      {
        prompt_tokens: 1_000,
        completion_tokens: 100,
        prompt_tokens_details: { audio_tokens: 900 },
        completion_tokens_details: { audio_tokens: 80 },
      },
      { input_audio: 900, output_audio: 80 },
    ],
    [
      'audio and images that were cached',
      {
        input_tokens: 1_000,
        output_tokens: 100,
        input_token_details: {
          cached_tokens: 700,
          audio_tokens: 600,
          image_tokens: 300,
          cached_tokens_details: { audio_tokens: 500, image_tokens: 200 },
        },
        output_token_details: { audio_tokens: 80 },
      },
      {
        input_audio: 100,
        cache_read_audio: 500,
        input_image: 100,
        cache_read_image: 200,
        output_audio: 80,
      },
    ],
    [
      'cache writes of Anthropic by life',
      {
        input_tokens: 3,
        output_tokens: 1,
        cache_creation_input_tokens: 70,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 50 },
        server_tool_use: { web_search_requests: 2 },
      },
      { cache_write_5m: 20, cache_write_1h: 50, web_searches: 2 },
    ],
    [
      'cache writes without their sum',
      { input_tokens: 3, output_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 50 } },
      { cache_write_1h: 50 },
    ],
    [
      'modalities of Gemini, of which one comes twice',
      {
        promptTokenCount: 300,
        cachedContentTokenCount: 100,
        candidatesTokenCount: 50,
        toolUsePromptTokenCount: 7,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 50 },
          { modality: 'AUDIO', tokenCount: 100 },
          { modality: 'AUDIO', tokenCount: 50 },
          { modality: 'VIDEO', tokenCount: 80 },
        ],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 100 }],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 40 }],
      },
      {
        input_audio: 50,
        cache_read_audio: 100,
        input_video: 80,
        output_image: 40,
        tool_use_prompt: 7,
      },
    ],
    [
      'cache writes of Amazon’s Converse',
      {
        inputTokens: 5,
        outputTokens: 2,
        cacheWriteInputTokens: 30,
        cacheDetails: [
          { ttl: '1h', inputTokens: 10 },
          { ttl: '5m', inputTokens: 20 },
        ],
      },
      { cache_write_1h: 10, cache_write_5m: 20 },
    ],
    ['a total alone', { total_tokens: 12 }, { unsplit: 12 }],
  ])('%s', (_name, usage, expected) => {
    expect(detailsOf(usage)).toEqual(expected)
  })
})

test.each([
  [{ input_tokens: 3, output_tokens: 1, inference_geo: 'us' }, ['inference_geo']],
  [{ input_tokens: 3, output_tokens: 1, inference_geo: 'global' }, []],
  [{ prompt_tokens: 3, completion_tokens: 1, prompt_audio_seconds: 9 }, ['audio_seconds']],
])('%o has prices that its tokens do not tell', (usage, unclear) => {
  const read = readWireUsage(usage, { provider: '', model: '' })
  expect(read.usage?.unclear).toEqual(unclear)
})

test('a model of another maker in the cloud of Google hides no thoughts', () => {
  const counts = { prompt_tokens: 29, completion_tokens: 15, total_tokens: 89 }
  const call = { provider: 'gcp.vertex_ai', model: 'claude-opus-4-8' }
  expect(readWireUsage(counts, call).usage).toMatchObject({
    buckets: { reasoning_tokens: 0 },
    unclear: ['total'],
  })
})

describe('steps that the totals leave out', () => {
  const step = (model: string | undefined, input_tokens: number, output_tokens: number) => ({
    type: 'message',
    ...(model && { model }),
    input_tokens,
    output_tokens,
  })
  const read = (...iterations: object[]) =>
    readWireUsage(
      {
        input_tokens: 10,
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: 4 },
        iterations,
      },
      { provider: 'anthropic', model: 'claude-sonnet-5' },
    )

  test('a compaction is added, at the model of the call', () => {
    const { usage, steps } = read(step(undefined, 100, 20), step(undefined, 10, 5))
    expect(usage?.buckets).toEqual(
      buckets({ input_uncached_tokens: 110, output_visible_tokens: 21, reasoning_tokens: 4 }),
    )
    expect(steps).toEqual([])
  })

  test('the advice of another model keeps its model', () => {
    const { usage, steps } = read(
      step(undefined, 4, 2),
      step('claude-opus-4-8', 100, 20),
      step(undefined, 6, 3),
    )
    expect(usage?.buckets).toEqual(
      buckets({ input_uncached_tokens: 110, output_visible_tokens: 21, reasoning_tokens: 4 }),
    )
    expect(steps).toEqual([
      {
        model: '',
        buckets: buckets({
          input_uncached_tokens: 10,
          output_visible_tokens: 1,
          reasoning_tokens: 4,
        }),
        details: {},
      },
      {
        model: 'claude-opus-4-8',
        buckets: buckets({ input_uncached_tokens: 100, output_visible_tokens: 20 }),
        details: {},
      },
    ])
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
