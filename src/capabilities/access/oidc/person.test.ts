import fc from 'fast-check'
import { expect, test } from 'vitest'
import { personFrom } from './person.ts'

const about = {
  ...{ issuer: 'https://issuer.test', client_id: 'c', groups_claim: 'groups' },
  subjects: 'public',
} as const
const read = (claims: Record<string, unknown>, user_info: Record<string, unknown> = {}) =>
  personFrom({ id_token: { sub: 's', ...claims }, user_info }, about)

test.each([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  ['a', ['a']],
  [undefined, []],
  [[], []],
  [['a', 1, null, {}], ['a']],
  [{ a: true }, []],
])('the groups of %j are %j', (groups, expected) => {
  expect(read({ groups }).groups).toEqual(expected)
})

test('a list of groups that the issuer left out refuses the sign-in instead of ending roles', () => {
  const left = { _claim_names: { groups: 'src1' }, _claim_sources: {} }
  expect(() => read(left)).toThrow('left out the claim groups')
  expect(read({ _claim_names: { other: 'src1' } }).groups).toEqual([])
})

test('only an e-mail that the issuer has verified counts, in lower case', () => {
  expect(read({ email: 'A@B.test', email_verified: true }).email).toBe('a@b.test')
  for (const email_verified of [false, 'true', 1, undefined]) {
    expect(read({ email: 'a@b.test', email_verified }).email).toBeUndefined()
  }
  expect(read({ email: 'no address', email_verified: true }).email).toBeUndefined()
})

test('e-mail and verification are of one source, and no source denies the e-mail', () => {
  const source = fc.record(
    {
      email: fc.constantFrom('a@b.test', 'c@d.test', 'no address', 1, null),
      email_verified: fc.constantFrom<unknown>(true, false, 'true', 'false', 'FALSE', 1, null),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(source, source, (id_token, user_info) => {
      const sources = [id_token, user_info]
      const denied = sources.some((one) => /^false$/i.test(String(one.email_verified)))
      const verified = sources.filter(
        (one) => one.email_verified === true && String(one.email).includes('@'),
      )
      const expected = denied ? undefined : verified[0]?.email
      expect(read(id_token, user_info).email).toBe(expected)
    }),
  )
})

test('a name has no control characters and a bounded length', () => {
  expect(read({ name: '\u001b[31mAda\n' }).display_name).toBe('[31mAda')
  expect(read({ name: 'a'.repeat(999) }).display_name).toHaveLength(100)
  expect(read({ name: ' ' }).display_name).toBeUndefined()
})

test.each(['', 'a'.repeat(256), 'a\u0000b', 'ä'])('the subject %j is refused', (sub) => {
  expect(() => read({ sub })).toThrow()
})
