import { expect, test } from 'vitest'
import { withoutPersonalText, withoutPersonalValues } from './personal-values.ts'

const session = '6b1f0c1e-9a52-4d0e-8f6b-2f4f5c0b7a11'

test('of the user id of Messages only the session stays', () => {
  const user_id = `user_0a1b_account_2c3d_session_${session}`
  const body = { model: 'm', metadata: { user_id, plan: 'pro' } }
  expect(withoutPersonalValues(body, 'messages')).toEqual({
    model: 'm',
    metadata: { plan: 'pro', session_id: session },
  })
  const person = { metadata: { user_id: 'ann@example.com' } }
  expect(withoutPersonalValues(person, 'messages.count_tokens')).toEqual({ metadata: {} })
})

test('metadata of other formats is the application’s own', () => {
  const body = { metadata: { user_id: 'ann' } }
  expect(withoutPersonalValues(body, 'responses')).toBe(body)
})

test('what Codex says about a machine goes', () => {
  const body = { model: 'm', client_metadata: { 'x-codex-installation-id': 'i' } }
  expect(withoutPersonalValues(body, 'responses')).toEqual({ model: 'm' })
})

test.each([
  [`{"metadata":{"user_id":"ann \\"x\\" b"},"a":`, `{"metadata":{"user_id":"[removed]"},"a":`],
  [`{"metadata":{"user_id" : "ann`, `{"metadata":{"user_id" :"[removed]"`],
  [`{"metadata":{"user_id":"{\\"device\\":\\"joe\\`, `{"metadata":{"user_id":"[removed]"`],
  [`{"client_metadata":{"hostname":"joe"},"user":"jo`, `{"client_metadata":"[removed]","user":"jo`],
  [`{"client_metadata":{"a":"x}joe"},"b`, `{"client_metadata":"[removed]","b`],
  [`{"client_metadata" : {"hostname":"jo`, `{"client_metadata" :"[removed]"`],
  [`{"x-codex-turn-metadata":"{\\"remote\\"}","b`, `{"x-codex-turn-metadata":"[removed]","b`],
])('a body that was cut: %s', (text, expected) => {
  expect(withoutPersonalText(text)).toBe(expected)
})
