import { expect, test } from 'vitest'
import { acceptedCoding } from './compress-answers.ts'

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.0', undefined],
  ['deflate', undefined],
  ['*', undefined],
  ['', undefined],
  [undefined, undefined],
])('Accept-Encoding %s gets %s', (header, coding) => {
  expect(acceptedCoding(header, ['br', 'gzip'])).toBe(coding)
})
