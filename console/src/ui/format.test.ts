import { expect, test } from 'vitest'
import {
  describeRange,
  formatAgo,
  formatBytes,
  formatDuration,
  formatInstant,
  formatShare,
  formatShortInstant,
  formatUsd,
} from './format.ts'

test.each([
  ['0', '$0'],
  ['0.000496', '$0.0005'],
  ['0.00000012', '$0.00000012'],
  ['0.31', '$0.31'],
  ['1234.5', '$1,234.50'],
  ['unknown', 'unknown'],
])('%s dollars are %s', (decimal, text) => {
  expect(formatUsd(decimal)).toBe(text)
})

test.each([
  [0.25, '250 µs'],
  [640, '640 ms'],
  [999.6, '1000 ms'],
  [2_400, '2.4 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms are %s', (duration_ms, text) => {
  expect(formatDuration(duration_ms)).toBe(text)
})

test('shares and sizes', () => {
  expect([0, 0.004, 0.934, 1].map(formatShare)).toEqual(['0 %', '0.4 %', '93 %', '100 %'])
  expect([512, 1_400_000, 250e9].map(formatBytes)).toEqual(['512 B', '1.4 MB', '250 GB'])
})

test('an instant in a zone, over the change to winter time', () => {
  const [before, after] = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
  expect(formatInstant(before, 'Europe/Berlin')).toContain('02:30:00.000')
  expect(formatInstant(before, 'Europe/Berlin')).toContain('GMT+2')
  expect(formatInstant(after, 'Europe/Berlin')).toContain('02:30:00.000')
  expect(formatInstant(after, 'Europe/Berlin')).toContain('GMT+1')
  expect(formatInstant('no instant', 'UTC')).toBe('no instant')
})

test('a short instant has the day unless it is today in the zone', () => {
  const now_ms = Date.parse('2026-11-29T00:30:00Z')
  expect(formatShortInstant('2026-11-29T00:10:05Z', 'UTC', now_ms)).toBe('00:10:05')
  expect(formatShortInstant('2026-11-28T23:10:05Z', 'UTC', now_ms)).toBe('Nov 28, 23:10')
  expect(formatShortInstant('2026-11-28T23:10:05Z', 'Europe/Berlin', now_ms)).toBe('00:10:05')
})

test('a short instant has the zone where clocks show it twice, and the year of another year', () => {
  const now_ms = Date.parse('2026-11-29T00:30:00Z')
  const short = (instant: string, zone: string) => formatShortInstant(instant, zone, now_ms)
  const [first, second] = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
  expect(short(first, 'Europe/Berlin')).toBe('Oct 25, 02:30 GMT+2')
  expect(short(second, 'Europe/Berlin')).toBe('Oct 25, 02:30 GMT+1')
  expect(short(first, 'UTC')).toBe('Oct 25, 00:30')
  expect(short('2026-04-04T14:45:00Z', 'Australia/Lord_Howe')).toBe('Apr 5, 01:45 GMT+11')
  expect(short('2026-04-04T15:15:00Z', 'Australia/Lord_Howe')).toBe('Apr 5, 01:45 GMT+10:30')
  expect(short('2025-11-28T23:10:05Z', 'UTC')).toBe('Nov 28, 2025, 23:10')
})

test('how long ago, also with a clock that is behind', () => {
  const now_ms = Date.parse('2026-11-29T12:00:00Z')
  expect(formatAgo('2026-11-29T11:48:00Z', now_ms)).toBe('12 min ago')
  expect(formatAgo('2026-11-29T13:00:00Z', now_ms)).toBe('just now')
})

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
