import { expect, test } from 'vitest'
import { saturate, saturatingSum } from './saturate.ts'

test('tokens and costs end at the largest values, and others stay', () => {
  const usual = { input_uncached_tokens: 3, total_tokens: 5, cost_usd: '0.000000001' }
  expect(saturate(usual)).toBe(usual)
  expect(saturate({ total_tokens: 2e22, cost_usd: '299999999997.5', calls: 3 })).toEqual({
    ...{ total_tokens: Number.MAX_SAFE_INTEGER, cost_usd: '99999999999', calls: 3 },
  })
})

test('only sums of tokens and costs are bounded in SQL', () => {
  expect(saturatingSum('calls')).toBe('calls = tasks.calls + excluded.calls')
  expect(saturatingSum('total_tokens')).toBe(
    'total_tokens = least(tasks.total_tokens + excluded.total_tokens, 9007199254740991)',
  )
})
