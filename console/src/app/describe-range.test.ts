import { expect, test } from 'vitest'
import { describeRange } from './describe-range.ts'

const now_ms = Date.parse('2026-11-29T12:00:30Z')

test('a range of a link is described in the zone', () => {
  const [from, to] = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
  const described = (range: object) => describeRange(range, 'Europe/Berlin', now_ms)
  expect(described({ from, to })).toBe('Oct 25, 02:30 GMT+2 to Oct 25, 02:30 GMT+1')
  expect(described({ from })).toBe('Since Oct 25, 02:30 GMT+2')
  expect(described({ from: '-3h' })).toBe('Last 3 h')
  expect(described({ from: '-90m' })).toBe('Last 90 min')
  expect(described({ from: '-1h', to })).toBe('12:00:30 to Oct 25, 02:30 GMT+1')
  expect(described({ from: 'soon' })).toBe('Since soon')
})
