import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explainUsage } from './explain-usage.ts'
import type { ReportedUsage, Semantics, TokenBuckets, UsageDialect } from './reported-usage.ts'

const inclusive: UsageDialect = {
  cached: 'inclusive',
  reasoning: 'inclusive',
  has_hidden_tokens: false,
}
const exclusive: UsageDialect = { ...inclusive, cached: 'exclusive' }
const gemini: UsageDialect = { ...inclusive, has_hidden_tokens: true }

const tokens = fc.nat(100_000)
const semantics = fc.constantFrom<Semantics>('inclusive', 'exclusive')
const truth = fc.record({
  input_uncached_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  output_visible_tokens: tokens,
  reasoning_tokens: tokens,
})
const layout = fc.record({ read: semantics, write: semantics, reasoning: semantics })
type Layout = { read: Semantics; write: Semantics; reasoning: Semantics }

const sumOf = (buckets: TokenBuckets | undefined) =>
  Object.values(buckets ?? {}).reduce((sum, count) => sum + count, 0)

/** States the tokens of a call as a client of this layout would. */
function state(call: TokenBuckets, { read, write, reasoning }: Layout): ReportedUsage {
  const { input_uncached_tokens, cache_read_tokens, cache_write_tokens } = call
  return {
    input:
      input_uncached_tokens +
      (read === 'inclusive' ? cache_read_tokens : 0) +
      (write === 'inclusive' ? cache_write_tokens : 0),
    output: call.output_visible_tokens + (reasoning === 'inclusive' ? call.reasoning_tokens : 0),
    cache_read: cache_read_tokens,
    cache_write: cache_write_tokens,
    reasoning: call.reasoning_tokens,
    total: sumOf(call),
  }
}

test('a stated total is explained in every layout of the counts', () => {
  fc.assert(
    fc.property(truth, layout, fc.boolean(), (call, asked, has_hidden_tokens) => {
      const reported = state(call, asked)
      const read = explainUsage(reported, { ...inclusive, has_hidden_tokens })
      expect(sumOf(read?.buckets)).toBe(sumOf(call))
      expect(read?.inconsistency).toBe('')
      const stated = [reported.cache_read, reported.cache_write]
      expect([read?.buckets.cache_read_tokens, read?.buckets.cache_write_tokens]).toEqual(stated)
    }),
    { numRuns: 500 },
  )
})

test('counts in the layout of their dialect give the buckets of the call, with and without total', () => {
  const own = fc.record({ cached: semantics, reasoning: semantics })
  fc.assert(
    fc.property(truth, own, fc.boolean(), (call, { cached, reasoning }, hasTotal) => {
      const reported = state(call, { read: cached, write: cached, reasoning })
      const { total, ...counts } = reported
      const dialect = { cached, reasoning, has_hidden_tokens: false }
      const read = explainUsage(hasTotal ? { ...counts, total } : counts, dialect)
      expect(read?.buckets).toEqual(call)
      expect(read).toMatchObject({ usage_semantics: cached, is_implied: false })
    }),
    { numRuns: 500 },
  )
})

test('for any report no bucket is negative, and details lie within their buckets', () => {
  const maybe = fc.option(tokens, { nil: undefined })
  const anyDetails = fc.record({
    input_audio: maybe,
    input_image: maybe,
    input_video: maybe,
    cache_read_audio: maybe,
    cache_read_image: maybe,
    output_audio: maybe,
    output_image: maybe,
    cache_write_5m: maybe,
    cache_write_1h: maybe,
  })
  const anyUsage = fc.record({
    input: maybe,
    output: maybe,
    cache_read: maybe,
    cache_write: maybe,
    reasoning: maybe,
    tool_use_prompt: maybe,
    total: maybe,
    details: anyDetails,
  })
  const anyDialect = fc.record({
    cached: semantics,
    reasoning: semantics,
    has_hidden_tokens: fc.boolean(),
  })
  fc.assert(
    fc.property(anyUsage, anyDialect, (reported, dialect) => {
      const read = explainUsage(reported, dialect)
      if (read === undefined) return expect(reported.input).toBeUndefined()
      const { buckets, details } = read
      for (const count of Object.values(buckets)) expect(count).toBeGreaterThanOrEqual(0)
      const { input_audio = 0, input_image = 0, input_video = 0 } = details
      expect(input_audio + input_image + input_video).toBeLessThanOrEqual(
        buckets.input_uncached_tokens,
      )
      const { cache_read_audio = 0, cache_read_image = 0 } = details
      expect(cache_read_audio + cache_read_image).toBeLessThanOrEqual(buckets.cache_read_tokens)
      const { output_audio = 0, output_image = 0 } = details
      expect(output_audio + output_image).toBeLessThanOrEqual(
        buckets.output_visible_tokens + buckets.reasoning_tokens,
      )
      const { cache_write_5m = 0, cache_write_1h = 0 } = details
      expect(cache_write_5m + cache_write_1h).toBeLessThanOrEqual(buckets.cache_write_tokens)
      const isExplained = sumOf(buckets) === reported.total || read.inconsistency !== ''
      const naive = (reported.input ?? 0) + (reported.output ?? 0)
      expect(reported.total === undefined || reported.total === naive || isExplained).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

describe('tokens that only the total has', () => {
  test.each([
    ['Gemini: thoughts', gemini, { input: 29, output: 15, total: 89 }, [29, 0, 0, 15, 45]],
    [
      'Gemini: thoughts on top',
      gemini,
      { input: 29, output: 100, reasoning: 45, total: 174 },
      [29, 0, 0, 100, 45],
    ],
    [
      'Gemini: with stated thoughts, the prompt of a tool',
      gemini,
      { input: 29, output: 100, reasoning: 45, total: 200 },
      [55, 0, 0, 100, 45],
    ],
    ['others: a side that is not stated', inclusive, { input: 10, total: 30 }, [10, 0, 0, 20, 0]],
    ['others: the input', inclusive, { output: 10, total: 30 }, [20, 0, 0, 10, 0]],
    ['a total alone', inclusive, { total: 30 }, [30, 0, 0, 0, 0]],
    [
      'cached tokens beside explain a total better than an unknown output',
      inclusive,
      { input: 31, cache_write: 1_253, total: 1_284 },
      [31, 0, 1_253, 0, 0],
    ],
    [
      'reasoning explains a total before cached tokens do',
      inclusive,
      { input: 100, output: 20, cache_read: 40, reasoning: 40, total: 160 },
      [60, 40, 0, 20, 40],
    ],
    [
      'a write beside the input, which includes the read',
      inclusive,
      { input: 100, output: 5, cache_read: 60, cache_write: 30, total: 135 },
      [40, 60, 30, 5, 0],
    ],
  ] as const)('%s', (_name, dialect, counts, expected) => {
    const read = explainUsage({ input: undefined, output: undefined, ...counts }, dialect)
    expect(Object.values(read?.buckets ?? {})).toEqual(expected)
    expect(read?.inconsistency).toBe('')
  })

  test('the hidden prompt of a tool is a detail', () => {
    const read = explainUsage({ input: 29, output: 100, reasoning: 45, total: 200 }, gemini)
    expect(read?.details).toEqual({ tool_use_prompt: 26 })
  })
})

test('counts that can not be inclusive are exclusive, which the usage says', () => {
  const read = explainUsage({ input: 31, output: 1, cache_write: 1_253 }, inclusive)
  expect(read).toMatchObject({
    buckets: { input_uncached_tokens: 31, cache_write_tokens: 1_253 },
    usage_semantics: 'exclusive',
    is_implied: true,
  })
})

test('a total may leave out the cached tokens', () => {
  const counts = { input: 31, output: 1, cache_write: 1_253, total: 32 }
  expect(explainUsage(counts, exclusive)?.inconsistency).toBe('')
  expect(explainUsage({ ...counts, total: 20 }, exclusive)?.inconsistency).toBe(
    'the total is 20, but the counts sum to 1285',
  )
})

test('audio of an input with a cache of unknown content is unclear', () => {
  const counts = { input: 100, output: 1, cache_read: 40, details: { input_audio: 50 } }
  const read = explainUsage(counts, inclusive)
  expect(read).toMatchObject({ details: { input_audio: 50 }, unclear: ['audio'] })
  const known = { ...counts, details: { input_audio: 50, cache_read_audio: 10 } }
  expect(explainUsage(known, inclusive)).toMatchObject({
    details: { input_audio: 40, cache_read_audio: 10 },
    unclear: [],
  })
})
