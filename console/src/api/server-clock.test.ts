import { expect, test } from 'vitest'
import { noteServerDate, serverTime } from './server-clock.ts'

const now_ms = Date.parse('2026-11-29T12:00:00Z')

test('the time of the server is taken from its replies', () => {
  expect(serverTime(now_ms)).toBe(now_ms)
  noteServerDate('Sun, 29 Nov 2026 13:00:00 GMT', now_ms)
  expect(serverTime(now_ms)).toBe(now_ms + 3_600_000)
  noteServerDate(null, now_ms)
  noteServerDate('soon', now_ms)
  expect(serverTime(now_ms)).toBe(now_ms + 3_600_000)
  noteServerDate('Sun, 29 Nov 2026 11:59:58 GMT', now_ms)
  expect(serverTime(now_ms)).toBe(now_ms)
})
