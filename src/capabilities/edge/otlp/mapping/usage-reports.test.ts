import { describe, expect, test } from 'vitest'
import { mappedRequest, onlyOne, testMapper } from '../../../../../test/support/otlp-spans.ts'
import { hasSharedFixtures, readFixture } from '../../../../../test/support/shared-fixtures.ts'
import { createPricing } from '../../../records/pricing/index.ts'
import { jsonDecoder } from '../decode/json/decoder.ts'

const mapper = testMapper({ pricing: createPricing() })

function rowOf(name: string) {
  const decode = jsonDecoder()
  const body = Buffer.from(JSON.stringify(readFixture(`reports/${name}.otlp.json`)))
  const { records } = mapper.traces(decode.traces(body), mappedRequest)
  return onlyOne(records.observations)
}

/** Bodies that other systems read wrongly, with the right values of their list. */
describe.runIf(hasSharedFixtures)('spans after public reports', () => {
  test.each([
    ['u01-cached-alias', [4459, 9216, 0, 10, 0], '0.0027212'],
    ['u03-gemini-thoughts-on-top-openinference', [29, 0, 0, 100, 45], '0.0003712'],
    ['u05-gemini-thoughts-only-in-total', [29, 0, 0, 15, 45], '0.0001587'],
    ['u06-audio-openinference', [1000, 0, 0, 100, 0], '0.04285'],
    ['u08-flex-tier', [1000, 0, 0, 1000, 0], '0.005'],
    ['u09-litellm-reported-cost', [12, 0, 0, 7, 0], '0.00031'],
  ])('%s', (name, buckets, cost_usd) => {
    const row = rowOf(name)
    expect([
      row.input_uncached_tokens,
      row.cache_read_tokens,
      row.cache_write_tokens,
      row.output_visible_tokens,
      row.reasoning_tokens,
    ]).toEqual(buckets)
    const isReported = name.startsWith('u09')
    expect(row).toMatchObject({
      cost_usd,
      price_partial: [],
      cost_reported_usd: isReported ? cost_usd : null,
      cost_computed_usd: isReported ? null : cost_usd,
    })
    expect(row.price_version === 'reported').toBe(isReported)
  })
})
