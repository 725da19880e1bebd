import { expect, test } from 'vitest'
import { answerError, noAnswerError } from './errors.ts'

const act = { verb: 'patch', resource: 'things.example.com/status', namespace: 'team', name: 'a' }

test.each([
  [400, 'KubeInvalid'],
  [401, 'KubeUnavailable'],
  [403, 'KubeForbidden'],
  [404, 'KubeNotFound'],
  [409, 'KubeConflict'],
  [410, 'KubeExpired'],
  [413, 'KubeInvalid'],
  [422, 'KubeInvalid'],
  [429, 'KubeUnavailable'],
  [500, 'KubeUnavailable'],
  [503, 'KubeUnavailable'],
  [504, 'KubeUnavailable'],
])('%i is a %s, which says what was asked', (status, name) => {
  const error = answerError(act, { status, message: 'no' })
  expect(error.name).toBe(name)
  expect(error.message).toContain('patch things.example.com/status in namespace team')
  expect(error.act).toEqual(act)
})

test('the error of a forbidden operation names the missing rule', () => {
  expect(answerError(act, { status: 403, message: 'User "x" cannot' }).message).toBe(
    'no RBAC rule lets the operator patch things.example.com/status in namespace team (User "x" cannot)',
  )
})

test.each([
  ['secrets "key" is forbidden: exceeded quota: keys, used: secrets=1', 'KubeDenied'],
  ['admission webhook "keys.example.com" denied the request: no', 'KubeDenied'],
  [
    'secrets is forbidden: User "a" cannot create resource "secrets" in API group ""',
    'KubeForbidden',
  ],
])('403 %s is a %s', (message, name) => {
  expect(answerError(act, { status: 403, message }).name).toBe(name)
})

test.each([
  ['3', 3_000],
  [' 30 ', 30_000],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %s is %s ms', (retry_after, retry_after_ms) => {
  const error = answerError(act, { status: 429, message: 'busy', retry_after })
  expect(error).toMatchObject({ retry_after_ms })
})

test('the cause of a failed fetch is in the message, and a long message is cut', () => {
  const cause = new Error('connect ECONNREFUSED')
  const error = noAnswerError(act, new TypeError('fetch failed', { cause }))
  expect(error.message).toContain('no answer (connect ECONNREFUSED)')
  const long = answerError(act, { status: 422, message: 'x'.repeat(9_000) })
  expect(long.message.length).toBeLessThan(600)
})
