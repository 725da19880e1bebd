import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapAttributes } from '../../../../../test/support/otlp-spans.ts'
import type { ObservationDraft } from '../../../../model/ingest-records.ts'
import { disjointUsage } from './usage-buckets.ts'

const tokens = fc.nat(100_000)
const maybe = fc.option(tokens, { nil: undefined })
const anyUsage = fc.record({
  input: maybe,
  output: maybe,
  cache_read: maybe,
  cache_write: maybe,
  reasoning: maybe,
})

test('inclusive buckets sum to the reported totals and are never negative', () => {
  fc.assert(
    fc.property(fc.tuple(tokens, tokens, tokens, tokens, tokens), (counts) => {
      const [plain, read, write, seen, thought] = counts
      const input = plain + read + write
      const output = seen + thought
      const usage = { input, output, cache_read: read, cache_write: write, reasoning: thought }
      const found = disjointUsage(usage, 'inclusive')
      expect(found?.buckets).toEqual({
        input_uncached_tokens: plain,
        cache_read_tokens: read,
        cache_write_tokens: write,
        output_visible_tokens: seen,
        reasoning_tokens: thought,
      })
      expect(found).toMatchObject({ usage_semantics: 'inclusive', is_implied: false })
    }),
  )
})

test('exclusive buckets sum to the input plus the cached tokens', () => {
  fc.assert(
    fc.property(tokens, tokens, tokens, tokens, (input, read, write, output) => {
      const usage = { input, output, cache_read: read, cache_write: write, reasoning: 0 }
      const found = disjointUsage(usage, 'exclusive')
      expect(found?.buckets).toEqual({
        input_uncached_tokens: input,
        cache_read_tokens: read,
        cache_write_tokens: write,
        output_visible_tokens: output,
        reasoning_tokens: 0,
      })
      expect(found?.usage_semantics).toBe('exclusive')
    }),
  )
})

test('a total that adds the cached tokens makes the input count exclusive', () => {
  const counts = fc.tuple(tokens, fc.integer({ min: 1, max: 100_000 }), tokens, tokens)
  fc.assert(
    fc.property(counts, ([input, read, write, output]) => {
      const usage = { input, output, cache_read: read, cache_write: write, reasoning: undefined }
      const total = input + read + write + output
      expect(disjointUsage({ ...usage, total }, 'inclusive')).toMatchObject({
        buckets: { input_uncached_tokens: input, cache_read_tokens: read },
        usage_semantics: 'exclusive',
        is_implied: true,
      })
      const held = { ...usage, input: input + read + write, total }
      expect(disjointUsage(held, 'inclusive')).toMatchObject({
        buckets: { input_uncached_tokens: input, cache_read_tokens: read },
        usage_semantics: 'inclusive',
        is_implied: false,
      })
    }),
  )
})

test('a total explained by reasoning does not make the input count exclusive', () => {
  const usage = { input: 100, output: 20, cache_read: 40, cache_write: 0, reasoning: 40 }
  expect(disjointUsage({ ...usage, total: 160 }, 'inclusive')).toMatchObject({
    buckets: { input_uncached_tokens: 60, output_visible_tokens: 20, reasoning_tokens: 40 },
    usage_semantics: 'inclusive',
  })
})

test('exclusive reasoning is not subtracted from the output', () => {
  const usage = { input: 10, output: 100, cache_read: 0, cache_write: 0, reasoning: 60 }
  const visibleOf = (semantics: 'inclusive' | 'exclusive') =>
    disjointUsage(usage, 'inclusive', semantics)?.buckets.output_visible_tokens
  expect([visibleOf('inclusive'), visibleOf('exclusive')]).toEqual([40, 100])
})

test('for any report no bucket is negative and no count is lost', () => {
  fc.assert(
    fc.property(anyUsage, fc.constantFrom('inclusive', 'exclusive'), (usage, semantics) => {
      const found = disjointUsage(usage, semantics)
      if (found === undefined) return expect(usage.input).toBeUndefined()
      const { buckets } = found
      for (const count of Object.values(buckets)) expect(count).toBeGreaterThanOrEqual(0)
      const into =
        buckets.input_uncached_tokens + buckets.cache_read_tokens + buckets.cache_write_tokens
      const cached = (usage.cache_read ?? 0) + (usage.cache_write ?? 0)
      const total = found.usage_semantics === 'exclusive' ? cached : 0
      expect(into).toBe((usage.input ?? 0) + total)
      const out = buckets.output_visible_tokens + buckets.reasoning_tokens
      const thought = usage.reasoning ?? 0
      const written = usage.output ?? 0
      expect(out).toBe(thought > written ? written + thought : written)
    }),
  )
})

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

  test.each([[-1], [1.5], ['many'], [Number.NaN], [1e12], [10n ** 18n], [['1']]])(
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
