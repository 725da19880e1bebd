import { expect, test } from 'vitest'
import { createPasswordHasher } from './password-hasher.ts'

const hasher = createPasswordHasher({ cost_log2: 8 })

test('a hash names its parameters, differs each time and fits only its password', async () => {
  const [one, two] = await Promise.all([hasher.hash('open sesame'), hasher.hash('open sesame')])
  expect(one).toMatch(/^\$scrypt\$ln=8,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(one).not.toBe(two)
  expect(await hasher.verify('open sesame', one)).toBe(true)
  expect(await hasher.verify('open Sesame', one)).toBe(false)
  expect(await hasher.verify('', one)).toBe(false)
})

test('a hash is verified with its own parameters, not the current ones', async () => {
  const older = await createPasswordHasher({ cost_log2: 6 }).hash('open sesame')
  expect(await hasher.verify('open sesame', older)).toBe(true)
})

test('the default parameters are those of OWASP, and work', async () => {
  const safe = createPasswordHasher()
  const hash = await safe.hash('open sesame')
  expect(hash).toContain('$ln=15,r=8,p=3$')
  expect(await safe.verify('open sesame', hash)).toBe(true)
})

test('an account without a hash can not sign in', async () => {
  expect(await hasher.verify('', null)).toBe(false)
})

test('the same text in two Unicode forms is one password', async () => {
  const hash = await hasher.hash('caf\u00e9')
  expect(await hasher.verify('cafe\u0301', hash)).toBe(true)
})

test('a hash of another kind is refused without being quoted', async () => {
  const verify = hasher.verify('open sesame', '$2b$12$abcdefghijklmnopqrstuv')
  await expect(verify).rejects.toThrow('not of the form')
  await expect(verify).rejects.not.toThrow('abcdefgh')
})

test('hashes beyond the limit are refused, and waiting ones are computed', async () => {
  const narrow = createPasswordHasher({ cost_log2: 8, parallel_max: 1, waiting_max: 1 })
  const settled = await Promise.allSettled([1, 2, 3].map(() => narrow.hash('open sesame')))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(settled[2]).toMatchObject({ reason: { code: 'rate_limited', retry_after_s: 1 } })
  await expect(narrow.hash('open sesame')).resolves.toBeDefined()
})
