import { readFileSync } from 'node:fs'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPricing, priceVersion, type TokenBuckets } from './pricing.ts'

const at_ms = Date.parse('2026-03-01T12:00:00Z')
const used = (values: Partial<TokenBuckets>): TokenBuckets => ({
  input_uncached_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_visible_tokens: 0,
  reasoning_tokens: 0,
  ...values,
})
const priced = (
  provider: string,
  model: string,
  usage: Partial<TokenBuckets>,
  model_requested = model,
) => createPricing()({ provider, model, model_requested, at_ms }, used(usage))

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
    ['an unknown provider', 'nobody', 'gpt-4o'],
    ['no model', 'openai', ''],
  ])('%s is null, never 0', (_name, provider, model) => {
    expect(priced(provider, model, { input_uncached_tokens: 10 })).toBeNull()
  })

  test('the requested model is the second choice', () => {
    expect(priced('openai', 'ft:custom', { output_visible_tokens: 1_000_000 }, 'gpt-4o-mini')).toBe(
      '0.6',
    )
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
      const cost = pricing({ provider, model: id, model_requested: id, at_ms }, counts)
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
