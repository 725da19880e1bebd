import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAttempts, isOwnPath } from './attempt.ts'

test.each(['/', '/tasks', '/tasks?state=failed#a', '/a//b', '/%2F/evil.test', '/@evil.test'])(
  '%s is a path of our own',
  (path) => expect(isOwnPath(path)).toBe(true),
)

test.each(['', 'a', '//a', '///a', '/\\a', '/a\\b', '\\\\a', 'https://a', '/\t/a', '/a b', '/\n'])(
  '%j is none',
  (path) => expect(isOwnPath(path)).toBe(false),
)

test('a path of our own stays at our origin, as a browser reads it', () => {
  const text = fc.string({ unit: fc.constantFrom('/', '\\', '\t', '@', ':', '?', '#', '.', 'a') })
  fc.assert(
    fc.property(text, (rest) => {
      const path = `/${rest}`
      if (!isOwnPath(path)) return
      expect(new URL(path, 'https://looptrace.test').origin).toBe('https://looptrace.test')
      expect(new URL(`https://looptrace.test${path}`).host).toBe('looptrace.test')
    }),
    { numRuns: 2_000 },
  )
})

test('an attempt is read with the same secret alone, for ten minutes', () => {
  const options = { secret_key: 'a secret of at least 32 characters', public_url: undefined }
  const attempt = { state: 's', nonce: 'n', verifier: 'v', return_to: '/', started_at_ms: 1_000 }
  const [pair = ''] = createAttempts(options).keep(attempt).split(';')
  const read = (secret_key: string, now_ms: number, cookie = pair) =>
    createAttempts({ ...options, secret_key }).read({ cookie }, now_ms)
  expect(read(options.secret_key, 2_000)).toEqual(attempt)
  expect(read(options.secret_key, 1_000 + 600_000)).toBeUndefined()
  expect(read('another secret of 32 characters or more', 2_000)).toBeUndefined()
  expect(read(options.secret_key, 2_000, `${pair}; ${pair}`)).toBeUndefined()
  expect(read(options.secret_key, 2_000, 'looptrace_sign_in=')).toBeUndefined()
})
