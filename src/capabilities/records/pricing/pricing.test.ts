import { readFileSync } from 'node:fs'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TokenBuckets, UsageDetails } from '../usage/index.ts'
import { costSources } from './choose-cost.ts'
import { listsVersion } from './list-prices.ts'
import { createPricing, type PricedCall } from './pricing.ts'
import { priceVersion, sellerOf } from './rates.ts'

const at_ms = Date.parse('2026-03-01T12:00:00Z')
const used = (values: Partial<TokenBuckets>): TokenBuckets => ({
  input_uncached_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_visible_tokens: 0,
  reasoning_tokens: 0,
  ...values,
})
const priceOf = (
  provider: string,
  model: string,
  usage: Partial<TokenBuckets>,
  model_requested = model,
) => {
  const cost = createPricing()(
    { provider, model, model_requested, at_ms },
    { buckets: used(usage) },
  )
  return { cost_usd: cost.cost_usd, price_version: cost.price_version }
}
const priced = (...call: Parameters<typeof priceOf>) => priceOf(...call).cost_usd

describe('exact dollars', () => {
  test.each([
    [
      'input and output',
      'gpt-4o-mini',
      { input_uncached_tokens: 1000, output_visible_tokens: 100 },
      '0.00021',
    ],
    ['one token', 'gpt-4o-mini', { input_uncached_tokens: 1 }, '0.00000015'],
    ['the cache is cheaper', 'gpt-4o-mini', { cache_read_tokens: 1_000_000 }, '0.075'],
    ['reasoning is output', 'gpt-4o-mini', { reasoning_tokens: 1_000_000 }, '0.6'],
    ['nothing', 'gpt-4o-mini', {}, '0'],
    ['more than a dollar', 'gpt-4o-mini', { output_visible_tokens: 1_000_000_000 }, '600'],
    ['some nano-dollars', 'gpt-5-nano', { cache_read_tokens: 1 }, '0.000000005'],
  ])('%s', (_name, model, usage, expected) => {
    expect(priced('openai', model, usage)).toBe(expected)
  })

  test('a long prompt costs its own price', () => {
    expect(priced('anthropic', 'claude-sonnet-4-5', { input_uncached_tokens: 200_000 })).toBe('0.6')
    expect(priced('anthropic', 'claude-sonnet-4-5', { input_uncached_tokens: 200_001 })).toBe(
      '1.200006',
    )
  })

  test('gemini is known by our name, with and without the path', () => {
    expect(priced('gemini', 'gemini-2.5-flash', { output_visible_tokens: 1_000_000 })).toBe('2.5')
    expect(priced('gemini', 'models/gemini-2.5-flash', { output_visible_tokens: 2 })).toBe(
      '0.000005',
    )
  })
})

describe('what has no price', () => {
  test.each([
    ['an unknown model', 'openai', 'llama-on-my-own-box'],
    ['another provider’s model', 'openai', 'claude-sonnet-4-5'],
    ['an unknown provider of an open model', 'no-such-provider', 'gpt-oss-120b'],
    ['no provider of an open model', '', 'meta-llama/Llama-3.3-70B-Instruct'],
    ['a model that runs at home', 'ollama', 'deepseek-r1:8b'],
    ['a model of no maker', 'strands-agents', 'my-model'],
    ['weights of a maker that others host', '', 'mistralai/mistral-small-3.2-24b-instruct'],
    ['no model', 'openai', ''],
  ])('%s is null, never 0', (_name, provider, model) => {
    expect(priceOf(provider, model, { input_uncached_tokens: 10 })).toEqual({
      cost_usd: null,
      price_version: priceVersion,
    })
  })

  test('the requested model is the second choice', () => {
    expect(priced('openai', 'ft:custom', { output_visible_tokens: 1_000_000 }, 'gpt-4o-mini')).toBe(
      '0.6',
    )
  })
})

describe('a provider that the table lacks, such as a framework or a service of the client', () => {
  const million = { input_uncached_tokens: 1_000_000 }

  test.each([
    ['strands-agents', 'gpt-4o', '2.5'],
    ['order-desk', 'gpt-4o', '2.5'],
    ['', 'openai/gpt-4o', '2.5'],
    ['', 'models/gemini-2.5-flash', '0.3'],
    ['', 'deepseek-chat', '0.135'],
    ['', 'mistral-large-latest', '2'],
    ['', 'command-r-08-2024', '0.15'],
    // Amazon sells a region's own at more than Anthropic does, and a global one at the same.
    ['strands-agents', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', '3.3'],
    ['strands-agents', 'global.anthropic.claude-sonnet-4-5-20250929-v1:0', '3'],
    ['strands-agents', 'amazon.nova-pro-v1:0', '0.8'],
    // Resellers of the table have it for less.
    ['strands-agents', 'claude-haiku-4-5', '1'],
  ])('"%s" with %s: the price of the model, and it says so', (provider, model, cost_usd) => {
    expect(priceOf(provider, model, million)).toEqual({
      cost_usd,
      price_version: `${priceVersion} by model`,
    })
  })

  test('one that the table has is never overruled by the name of the model', () => {
    expect(priceOf('aws', 'claude-sonnet-4-5-20250929', million)).toMatchObject({
      cost_usd: '3.3',
      price_version: priceVersion,
    })
  })

  test('each model that is priced so has a seller in the table, with prices for it', () => {
    const sold = ['openai', 'anthropic', 'google', 'x-ai', 'perplexity', 'voyageai', 'aws'].flatMap(
      (provider) => findProvider({ providerId: provider })?.models ?? [],
    )
    const named = sold.map(({ id }) => sellerOf(id)).filter((seller) => seller !== undefined)
    expect(named.length).toBeGreaterThan(150)
    for (const { provider } of named) expect(findProvider({ providerId: provider })).toBeDefined()
  })
})

const models = ['openai', 'anthropic', 'google'].flatMap((provider) => {
  const known = findProvider({ providerId: provider })?.models ?? []
  return known.map(({ id }) => ({ provider, id }))
})

test('agrees with the library on every model it knows', () => {
  const count = fc.nat(300_000)
  const usage = fc.record({
    input_uncached_tokens: count,
    cache_read_tokens: count,
    cache_write_tokens: count,
    output_visible_tokens: count,
    reasoning_tokens: count,
  })
  const pricing = createPricing()
  expect(models.length).toBeGreaterThan(100)
  fc.assert(
    fc.property(fc.constantFrom(...models), usage, ({ provider, id }, counts) => {
      const timestamp = new Date(at_ms)
      const input =
        counts.input_uncached_tokens + counts.cache_read_tokens + counts.cache_write_tokens
      const expected = calcPrice(
        {
          input_tokens: input,
          cache_read_tokens: counts.cache_read_tokens,
          cache_write_tokens: counts.cache_write_tokens,
          output_tokens: counts.output_visible_tokens + counts.reasoning_tokens,
        },
        id,
        { providerId: provider, timestamp },
      )
      const call = { provider, model: id, model_requested: id, at_ms }
      const { cost_usd: cost } = pricing(call, { buckets: counts })
      if (cost === null) {
        expect(hasTextPrice(expected?.model_price)).toBe(false)
        return
      }
      expect(cost).toMatch(/^\d+(\.\d{1,9})?$/)
      expect(Math.abs(Number(cost) - (expected?.total_price ?? -1))).toBeLessThan(2e-9)
    }),
    { numRuns: 1_000 },
  )
})

function hasTextPrice(prices: object | undefined): boolean {
  return prices !== undefined && 'input_mtok' in prices && 'output_mtok' in prices
}

test('prices of our providers change by the day at most, as the memory of them assumes', () => {
  for (const providerId of ['openai', 'anthropic', 'google']) {
    for (const { prices } of findProvider({ providerId })?.models ?? []) {
      const constraints = Array.isArray(prices) ? prices.map(({ constraint }) => constraint) : []
      expect(constraints.map((constraint) => constraint?.type)).not.toContain('time_of_date')
    }
  }
})

test('the version that is stored is the one that is installed', () => {
  const file = new URL(
    '../../../../node_modules/@pydantic/genai-prices/package.json',
    import.meta.url,
  )
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  expect(priceVersion).toBe(`genai-prices ${version}, lists ${listsVersion}`)
})

type Part = Partial<TokenBuckets> & { details?: UsageDetails }

function costOf(call: Partial<PricedCall>, { details = {}, ...buckets }: Part) {
  const { provider = 'openai', model = '' } = call
  const asked = { provider, model, model_requested: model, at_ms, ...call }
  return createPricing()(asked, { buckets: used(buckets), details })
}

describe('parts with prices of their own', () => {
  test.each([
    [
      'cache writes of an hour',
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
      { cache_write_tokens: 30_000, details: { cache_write_1h: 10_000, cache_write_5m: 20_000 } },
      '0.135',
    ],
    [
      'cache writes of an hour, sold by another cloud without a listed rate',
      { provider: 'aws', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
      { cache_write_tokens: 1_000_000, details: { cache_write_1h: 1_000_000 } },
      '6.6',
    ],
    [
      'audio in and out',
      { model: 'gpt-4o-audio-preview' },
      {
        input_uncached_tokens: 1_000,
        output_visible_tokens: 100,
        details: { input_audio: 900, output_audio: 80 },
      },
      '0.04285',
    ],
    [
      'audio from a cache',
      { model: 'gpt-realtime' },
      { cache_read_tokens: 1_000_000, details: { cache_read_audio: 500_000 } },
      '0.4',
    ],
    [
      'images in and out',
      { model: 'gpt-image-1.5' },
      {
        input_uncached_tokens: 1_000_000,
        output_visible_tokens: 1_000_000,
        details: { input_image: 500_000, output_image: 500_000 },
      },
      '27.5',
    ],
    [
      'audio that Google sells as text',
      { provider: 'google', model: 'gemini-2.5-pro' },
      { input_uncached_tokens: 100_000, details: { input_audio: 100_000 } },
      '0.125',
    ],
    [
      'searches of Anthropic',
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
      { input_uncached_tokens: 1_000, details: { web_searches: 3 } },
      '0.033',
    ],
  ])('%s', (_name, call, usage, cost_usd) => {
    expect(costOf(call, usage)).toMatchObject({ cost_usd, price_partial: [] })
  })

  test.each([
    [
      'audio without a rate costs what text does',
      { model: 'gpt-4o' },
      { input_uncached_tokens: 1_000_000, details: { input_audio: 500_000 } },
      '2.5',
      ['audio'],
    ],
    [
      'cache writes of an hour without a rate',
      { provider: 'openai', model: 'gpt-6-sol' },
      { cache_write_tokens: 1_000_000, details: { cache_write_1h: 1_000_000 } },
      '5',
      ['cache_write_1h'],
    ],
    [
      'searches without a rate',
      { model: 'o1' },
      { input_uncached_tokens: 1_000_000, details: { web_searches: 2 } },
      '15',
      ['web_searches'],
    ],
  ])('%s, and the cost says so', (...[, call, usage, cost_usd, price_partial]) => {
    expect(costOf(call, usage)).toMatchObject({ cost_usd, price_partial })
  })

  test('tokens that may be input or output have no price, unless only input costs anything', () => {
    const price = (model: string) =>
      createPricing()(
        { provider: 'openai', model, model_requested: model, at_ms },
        { buckets: used({ input_uncached_tokens: 1_000_000 }), unclear: ['unsplit'] },
      )
    expect(price('gpt-4o')).toMatchObject({ cost_usd: null, price_partial: [] })
    expect(price('text-embedding-3-small')).toMatchObject({ cost_usd: '0.02', price_partial: [] })
  })

  test('unclear counts make a price partial only where they change it', () => {
    const partial = (model: string, word: string) =>
      createPricing()(
        { provider: 'openai', model, model_requested: model, at_ms },
        { buckets: used({ input_uncached_tokens: 10 }), unclear: [word] },
      ).price_partial
    expect(partial('gpt-realtime', 'image')).toEqual(['image'])
    expect(partial('gpt-4o', 'image')).toEqual([])
    expect(partial('gpt-4o', 'total')).toEqual(['total'])
  })
})

test('a fee for each request is not in the price, and the cost says so', () => {
  const cost = costOf({ provider: 'perplexity', model: 'sonar' }, { input_uncached_tokens: 10 })
  expect(cost).toMatchObject({ cost_usd: '0.00001', price_partial: ['request_fee'] })
})

describe('service tiers', () => {
  const million = { input_uncached_tokens: 1_000_000, output_visible_tokens: 1_000_000 }
  const cached = { cache_read_tokens: 1_000_000 }

  test.each([
    ['openai', 'o3', 'flex', million, '5'],
    ['openai', 'o3', 'batch', million, '5'],
    ['openai', 'o3', 'priority', million, '17.5'],
    ['openai', 'o3', 'standard', million, '10'],
    ['openai', 'o3', '', million, '10'],
    ['openai', 'gpt-4.1-mini-2025-04-14', 'priority', million, '3.5'],
    ['openai', 'gpt-4.1-mini', 'priority', cached, '0.175'],
    ['openai', 'gpt-4o', 'priority', million, '21.25'],
    ['openai', 'gpt-4o-mini', 'priority', million, '1.25'],
    ['openai', 'gpt-4o-mini', 'priority', cached, '0.125'],
    ['openai', 'o4-mini', 'priority', million, '10'],
    ['openai', 'o4-mini', 'priority', cached, '0.5'],
    ['openai', 'gpt-5-mini', 'priority', million, '4.05'],
    ['openai', 'gpt-5', 'priority', million, '22.5'],
    ['openai', 'gpt-5.2', 'priority', million, '31.5'],
    ['openai', 'gpt-6-sol', 'priority', { input_uncached_tokens: 100_000 }, '0.4'],
    ['openai', 'gpt-5.5', 'priority', { input_uncached_tokens: 100_000 }, '1.25'],
    ['anthropic', 'claude-sonnet-5', 'batch', million, '6'],
    ['google', 'gemini-2.5-flash', 'flex', million, '1.4'],
    ['google', 'gemini-2.5-flash', 'priority', million, '5.04'],
    ['gemini', 'gemini-2.5-flash', 'batch', million, '1.4'],
    ['', 'openai/o3', 'flex', million, '5'],
  ])('%s %s %s', (...[provider, model, service_tier, usage, cost_usd]) => {
    expect(costOf({ provider, model, service_tier }, usage)).toMatchObject({
      cost_usd,
      price_partial: [],
    })
  })

  test.each([
    ['openai', 'gpt-5-nano', 'priority', million],
    ['anthropic', 'claude-sonnet-5', 'priority', million],
    ['google', 'gemini-2.5-flash', 'provisioned', million],
    ['google', 'gemini-2.5-flash', 'flex', { ...million, ...cached }],
    ['groq', 'llama-3.3-70b-versatile', 'flex', million],
  ])('no list has %s %s %s: the standard price, which is partial', (...asked) => {
    const [provider, model, service_tier, usage] = asked
    const cost = costOf({ provider, model, service_tier }, usage)
    expect(cost.cost_usd).not.toBeNull()
    expect(cost.price_partial).toEqual(['service_tier'])
  })
})

describe('steps of several models', () => {
  const step = (model: string) => ({
    model,
    buckets: used({ input_uncached_tokens: 1_000_000 }),
    details: {},
  })
  const call = {
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    model_requested: 'claude-sonnet-5',
    at_ms,
  }
  const buckets = used({ input_uncached_tokens: 2_000_000 })

  test('each is priced by its own model', () => {
    const steps = [step(''), step('claude-opus-4-8')]
    expect(createPricing()(call, { buckets, steps })).toMatchObject({
      cost_usd: '7',
      price_partial: [],
    })
  })

  test('a step of a model without a price makes the cost partial', () => {
    const steps = [step(''), step('claude-of-tomorrow')]
    expect(createPricing()(call, { buckets, steps })).toMatchObject({
      cost_usd: '2',
      price_partial: ['model'],
    })
  })
})

describe('reported costs', () => {
  const exact = { buckets: used({ input_uncached_tokens: 1_000_000 }) }
  const partial = { ...exact, details: { input_audio: 1 } }
  const asked = { provider: 'openai', model: 'gpt-4o', model_requested: 'gpt-4o', at_ms }
  const unknown = { ...asked, model: 'mine', model_requested: 'mine' }
  const reported_usd = '0.5'

  test.each([
    ['complete', asked, exact, '2.5'],
    ['complete', asked, partial, '0.5'],
    ['complete', unknown, exact, '0.5'],
    ['computed', asked, exact, '2.5'],
    ['computed', asked, partial, '2.5'],
    ['computed', unknown, exact, '0.5'],
    ['reported', asked, exact, '0.5'],
    ['reported', asked, partial, '0.5'],
    ['reported', unknown, exact, '0.5'],
  ] as const)('%s, %o: the one that counts', (source, call, usage, cost_usd) => {
    const cost = createPricing(source)({ ...call, reported_usd }, usage)
    const isReported = cost_usd === '0.5'
    expect(cost).toMatchObject({
      cost_usd,
      price_version: isReported ? 'reported' : priceVersion,
      price_partial: isReported || usage === exact ? [] : ['audio'],
      cost_reported_usd: '0.5',
      cost_computed_usd: call === unknown || (isReported && usage === partial) ? null : '2.5',
    })
  })

  test('a reported cost counts before the price of estimated tokens', () => {
    const estimated = { ...exact, is_estimated: true }
    const price = (more: object) => createPricing()({ ...asked, ...more }, estimated)
    expect(price({ reported_usd })).toMatchObject({ cost_usd: '0.5', cost_computed_usd: null })
    expect(price({})).toMatchObject({ cost_usd: '2.5', price_partial: [] })
  })

  test('without usage, the reported cost remains; without both, nothing', () => {
    for (const source of costSources) {
      const pricing = createPricing(source)
      expect(pricing({ ...asked, reported_usd }, undefined)).toMatchObject({
        cost_usd: '0.5',
        price_version: 'reported',
        cost_computed_usd: null,
      })
      expect(pricing(asked, undefined)).toEqual({
        cost_usd: null,
        price_version: '',
        price_partial: [],
        cost_computed_usd: null,
        cost_reported_usd: null,
      })
    }
  })
})

test('a cost beyond its column is unknown', () => {
  const most = { output_visible_tokens: 2 ** 40, reasoning_tokens: 2 ** 40 }
  expect(costOf({ model: 'o1-pro' }, most).cost_usd).toBeNull()
  expect(costOf({ model: 'gpt-4o-mini' }, most).cost_usd).not.toBeNull()
})
