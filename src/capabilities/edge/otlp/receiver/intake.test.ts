import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyInBasic } from './intake.ts'

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const key = 'lt_AbCd1234_0123456789abcdef'

test.each([
  ['the password', basic(`pk-lf-1:${key}`), key],
  ['the password, with an empty user', basic(`:${key}`), key],
  ['the user, without a password', basic(`${key}:`), key],
  ['the user alone', basic(key), key],
  ['the password before the user', basic(`lt_other:${key}`), key],
  ['the user if the password is not a key', basic(`${key}:sk-lf-1`), key],
  ['a scheme in capitals', basic(`a:${key}`).replace('Basic', 'BASIC'), key],
])('finds %s', (_, authorization, expected) => {
  expect(keyInBasic(authorization)).toBe(expected)
})

test.each([
  ['keys of Langfuse', basic('pk-lf-1:sk-lf-2')],
  ['a key with a space', basic('a:lt_x y')],
  ['a prefix alone', basic('a:lt_')],
  ['a key that is not encoded', `Basic a:${key}`],
  ['another scheme', `Digest ${Buffer.from(`a:${key}`).toString('base64')}`],
  ['nothing', 'Basic '],
  ['no header', ''],
  ['too many characters', basic(`${'a'.repeat(4_000)}:${key}`)],
])('ignores %s', (_, authorization) => {
  expect(keyInBasic(authorization)).toBeUndefined()
})

test('any text gives a project key or nothing', () => {
  const parts = fc.array(fc.constantFrom('lt_', 'a', ':', 'é', ' ', '\n', key), { maxLength: 8 })
  fc.assert(
    fc.property(parts, (words) => {
      const text = words.join('')
      const [user = '', ...rest] = text.split(':')
      const keys = [rest.join(':'), user].filter((part) => /^lt_\S+$/.test(part))
      expect(keyInBasic(basic(text))).toBe(keys[0])
      expect(keyInBasic(`Basic ${text}`) ?? 'lt_').toMatch(/^lt_/)
    }),
  )
})
