import { expect, test } from 'vitest'
import { formatSearch, parseSearch, safeReturn } from './search.ts'
import { absoluteUrl, rangeOf, resolveInstant } from './time-range.ts'

const now_ms = Date.parse('2026-11-29T12:00:30Z')

test('relative and absolute instants', () => {
  expect(resolveInstant('-24h', now_ms)).toBe('2026-11-28T12:00:30.000Z')
  expect(resolveInstant('2026-11-01T00:00:00+01:00', now_ms)).toBe('2026-10-31T23:00:00.000Z')
  for (const text of [undefined, '', 'yesterday', '-24x', '-999999h']) {
    expect(resolveInstant(text, now_ms)).toBeUndefined()
  }
})

test('an instant without a zone is UTC, also in a browser of another zone', () => {
  expect(resolveInstant('2026-10-25T02:30', now_ms)).toBe('2026-10-25T02:30:00.000Z')
  expect(resolveInstant('2026-10-25', now_ms)).toBe('2026-10-25T00:00:00.000Z')
})

test('a range is the same within a minute, and its end is open', () => {
  expect(rangeOf({ from: '-1h' }, now_ms)).toEqual(rangeOf({ from: '-1h' }, now_ms + 29_000))
  expect(rangeOf({}, now_ms)).toEqual({ from: '2026-11-22T12:00:00.000Z' })
})

test('a link for others has absolute times', () => {
  const url = new URL(absoluteUrl('http://x.test/p/1/tasks?from=-1h&q=a', now_ms))
  expect(url.searchParams.get('from')).toBe('2026-11-29T11:00:30.000Z')
  expect(url.searchParams.get('to')).toBe('2026-11-29T12:00:30.000Z')
  expect(url.searchParams.get('q')).toBe('a')
})

test('the search part of a URL is plain text, without empty values', () => {
  expect(formatSearch({ q: 'a b&c', tab: undefined, empty: '', n: 2 })).toBe('?q=a+b%26c&n=2')
  expect(parseSearch('?q=a+b%26c&n=2')).toEqual({ q: 'a b&c', n: '2' })
})

test.each([
  ['/p/1/tasks?x=1', '/p/1/tasks?x=1'],
  ['//evil.test/', '/'],
  ['/\\evil.test', '/'],
  ['https://evil.test/', '/'],
  ['javascript:alert(1)', '/'],
  [undefined, '/'],
])('after the sign-in, %s opens %s', (to, opened) => {
  expect(safeReturn(to)).toBe(opened)
})
