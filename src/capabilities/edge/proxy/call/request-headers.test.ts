import { expect, test } from 'vitest'
import { createHeaderRoles } from './request-headers.ts'

const roles = createHeaderRoles(
  new Map([
    ['x-api-key', 'key'],
    ['te', 'strip'],
    [`x-${'long'.repeat(40)}`, 'long'],
  ]),
)

test.each([
  ['x-api-key', 'key'],
  ['X-API-Key', 'key'],
  ['X-api-KEY', 'key'],
  ['TE', 'strip'],
  [`X-${'LONG'.repeat(40)}`, 'long'],
])('%s has its role', (name, role) => {
  for (let i = 0; i < 3; i += 1) expect(roles.of(name)).toBe(role)
})

test.each(['', 'x', 'x-api-kez', 'y-api-key', '8-api-key', 'tf', 'accept', 'x'.repeat(300)])(
  '%s has no role',
  (name) => {
    expect(roles.of(name)).toBeUndefined()
  },
)

test('spellings beyond the cache still have their role', () => {
  const letters = [...'x-api-key']
  for (let spelling = 0; spelling < 512; spelling += 1) {
    const cased = letters.map((letter, i) => (spelling & (1 << i) ? letter.toUpperCase() : letter))
    expect(roles.of(cased.join(''))).toBe('key')
  }
})
