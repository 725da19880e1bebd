import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { blocked, whileLocked } from '../support/row-locks.ts'

let app: AccessApp
beforeAll(async () => {
  app = await startAccessApp()
})
afterAll(() => app.close())

const trade = (body: unknown) => app.call('POST', '/api/v1/auth/token', { body })
const password = (username: string, given: string) =>
  trade({ grant_type: 'password', username, password: given })
const refresh = (refresh_token: string) => trade({ grant_type: 'refresh_token', refresh_token })
const change = (token: string, current_password: string, new_password = 'a better password') =>
  app.call('PUT', '/api/v1/auth/password', { token, body: { current_password, new_password } })

test('a new password replaces the old one and ends other sign-ins', async () => {
  const { token } = await app.person('changing@example.com', 'member')
  const before = await password('changing@example.com', 'correct horse battery')
  expect((await change(token, 'correct horse battery')).status).toBe(204)
  expect((await password('changing@example.com', 'correct horse battery')).status).toBe(401)
  expect((await refresh(before.body.refresh_token)).status).toBe(401)
  expect((await password('changing@example.com', 'a better password')).status).toBe(200)
})

test('a change needs the current password: a token is not enough, and guesses are rate limited', async () => {
  const { token } = await app.person('stolen@example.com', 'member')
  const guesses = Array.from({ length: 10 }, () => change(token, 'a guess'))
  for (const reply of await Promise.all(guesses)) {
    expect([reply.status, reply.body.code]).toEqual([401, 'credentials_invalid'])
  }
  expect((await change(token, 'correct horse battery')).status).toBe(429)
})

test('of two concurrent changes one wins', async () => {
  const { token, user_id } = await app.person('twice@example.com', 'member')
  const wished = ['the first password', 'the second password']
  const { db } = app.relational
  // Both have verified the current password before either can write.
  const user = (trx: typeof db) =>
    trx.selectFrom('users').select('id').where('id', '=', user_id).forUpdate().execute()
  const changing = await whileLocked(db, user, async () => {
    const both = wished.map((wish) => change(token, 'correct horse battery', wish))
    await blocked(db, 2)
    return { both }
  })
  const replies = await Promise.all(changing.both)
  const won = wished.filter((_, at) => replies[at]?.status === 204)
  expect(won).toHaveLength(1)
  expect((await password('twice@example.com', won[0] ?? '')).status).toBe(200)
})

test('a new password has a minimum length', async () => {
  const { token } = await app.person('short@example.com', 'member')
  const reply = await change(token, 'correct horse battery', 'hunter2')
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
  expect(reply.text).not.toContain('hunter2')
})

let person: ReturnType<AccessApp['person']> | undefined
test.each(['password1234', 'guessable@example.com', 'qwertyuiop12'])(
  'a new password that is easy to guess is refused with advice: %s',
  async (weak) => {
    const email = 'guessable@example.com'
    person ??= app.person(email, 'member')
    const { token } = await person
    const reply = await change(token, 'correct horse battery', weak)
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
    expect(reply.text).toContain('Use a longer phrase')
    expect(reply.text).not.toContain(weak)
    expect((await password(email, 'correct horse battery')).status).toBe(200)
  },
)

test('a new password differs from the current one, which another person may have set', async () => {
  const { token } = await app.person('same@example.com', 'member')
  const reply = await change(token, 'correct horse battery', 'correct horse battery')
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
  expect(reply.body.errors).toMatchObject([{ pointer: '/new_password' }])
})
