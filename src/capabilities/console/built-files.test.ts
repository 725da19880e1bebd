import { expect, test } from 'vitest'
import { formFor } from './pages.ts'

const [plain, br, gzip] = [Buffer.from('plain'), Buffer.from('br'), Buffer.from('gzip')]
const file = {
  plain,
  coded: new Map([
    ['br', br],
    ['gzip', gzip],
  ]),
}

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.0', undefined],
  ['deflate', undefined],
  ['', undefined],
  [undefined, undefined],
])('Accept-Encoding %s gets %s', (accepted, coding) => {
  const form = formFor(file, accepted)
  expect(form.coding).toBe(coding)
  expect(form.bytes).toBe(coding === undefined ? plain : file.coded.get(coding))
})
