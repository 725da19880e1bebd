import { readFileSync } from 'node:fs'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPricing, priceVersion, sellerOf, type TokenBuckets } from './pricing.ts'

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
) => createPricing()({ provider, model, model_requested, at_ms }, used(usage))
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
      const { cost_usd: cost } = pricing(call, counts)
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
  expect(priceVersion).toBe(`genai-prices ${version}`)
})
