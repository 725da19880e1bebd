import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { givenKey, keyPrefix, newKey, operatorKeyPrefix, randomBase62 } from './project-key.ts'

test.each([
  ['project', /^lt_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/],
  ['service_account', /^lt_sa_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/],
] as const)('a key of a %s has a public prefix and is stored as its SHA-256', (kind, form) => {
  const { key, prefix, secret_hash } = newKey(kind)
  expect(key).toMatch(form)
  expect(keyPrefix(key)).toBe(prefix)
  expect(key.startsWith(`${prefix}_`)).toBe(true)
  expect(secret_hash).toEqual(createHash('sha256').update(key).digest())
})

test('an operator has keys of its own, which no project key is', () => {
  const { key, prefix, secret_hash } = newKey('operator')
  expect(key).toMatch(/^lt_op_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/)
  expect(operatorKeyPrefix(key)).toBe(prefix)
  expect(keyPrefix(key)).toBeUndefined()
  expect(operatorKeyPrefix(newKey('project').key)).toBeUndefined()
  expect(operatorKeyPrefix(newKey('service_account').key)).toBeUndefined()
  expect(givenKey('operator', key)).toEqual({ key, prefix, secret_hash })
  expect(givenKey('project', key)).toBeUndefined()
})

test.each([
  ['nothing', ''],
  ['a provider key', 'sk-proj-0123456789'],
  ['a short secret', `lt_abcdefgh_${'x'.repeat(31)}`],
  ['a long secret', `lt_abcdefgh_${'x'.repeat(33)}`],
  ['another alphabet', `lt_abcdefg-_${'x'.repeat(32)}`],
  ['a line break at its end', `lt_abcdefgh_${'x'.repeat(32)}\n`],
  ['no prefix', `abcdefgh_${'x'.repeat(32)}`],
])('%s is not a key', (_name, text) => {
  expect(keyPrefix(text)).toBeUndefined()
  expect(operatorKeyPrefix(text.replace('lt_', 'lt_op_'))).toBeUndefined()
})

test('every character is as likely as any other', () => {
  const counts = new Map<string, number>()
  for (const character of randomBase62(62_000)) {
    counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  // Mean 1,000 and deviation 31: twelve deviations do not happen by chance, while taking a byte
  // modulo 62 would give eight characters a quarter more.
  expect(counts.size).toBe(62)
  expect(Math.max(...counts.values())).toBeLessThan(1_200)
  expect(Math.min(...counts.values())).toBeGreaterThan(800)
})
