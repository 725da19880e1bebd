import { expect, test } from 'vitest'
import { durationMs } from './duration.ts'

test.each([
  ['0s', 0],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
])('%s is %d ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms)
})

test.each(['', 'h', '5', '5 m', '5ms', '-5m', '1.5h', '1e3s', '9999999s', '1s1s1s1s1s'])(
  '%j is not a duration',
  (text) => {
    expect(durationMs(text)).toBeNaN()
  },
)
