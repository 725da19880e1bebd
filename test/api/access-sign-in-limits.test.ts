import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'

const secret = 'correct horse battery'
const spray_max = 30
const database = (of: AccessApp) => of.relational.pool.options.connectionString ?? ''
let app: AccessApp
let second: AccessApp
beforeAll(async () => {
  app = await startAccessApp()
  second = await startAccessApp({ database_url: database(app) })
})
afterAll(async () => {
  await second.close()
  await app.close()
})

type From = { from?: string; at?: AccessApp; headers?: Record<string, string> }

async function signIn(username: string, password: string, { at = app, ...where }: From = {}) {
  const body = { grant_type: 'password', username, password }
  return at.call('POST', '/api/v1/auth/token', { body, ...where })
}

/** Statuses of guesses at one account, one after the other. */
async function guess(account: string, times: number, where: (i: number) => From = () => ({})) {
  const statuses: number[] = []
  for (let i = 0; i < times; i += 1) {
    statuses.push((await signIn(account, 'a wrong guess', where(i))).status)
  }
  return statuses
}

/** Statuses of one password on many accounts, most of which do not exist. */
async function spray(times: number, where: (i: number) => From) {
  const statuses: number[] = []
  for (let i = 0; i < times; i += 1) {
    statuses.push((await signIn(`someone-${i}@example.com`, 'Summer2026', where(i))).status)
  }
  return statuses
}

const all = (times: number, status: number) => Array.from({ length: times }, () => status)

describe('one password on many accounts', () => {
  test('is stopped at its network, in every process, and nowhere else', async () => {
    const from = '198.51.100.1'
    const at = (i: number) => ({ from, at: i % 2 === 0 ? app : second })
    expect(await spray(spray_max, at)).toEqual(all(spray_max, 401))
    for (const process of [app, second]) {
      const refused = await signIn('another@example.com', secret, { from, at: process })
      expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(15 * 60)
    }
    expect((await signIn('another@example.com', secret, { from: '198.51.100.2' })).status).toBe(401)
  })

  test('is stopped within an IPv6 /64', async () => {
    const at = (i: number) => ({ from: `2001:db8:1:1::${i}`, at: i % 2 === 0 ? app : second })
    expect(await spray(spray_max, at)).toEqual(all(spray_max, 401))
    const refused = await signIn('x@example.com', secret, { from: '2001:db8:1:1:ffff::1' })
    expect(refused.status).toBe(429)
    expect((await signIn('x@example.com', secret, { from: '2001:db8:1:2::1' })).status).toBe(401)
  })

  test('is stopped although each request has another X-Forwarded-For', async () => {
    const from = '198.51.100.3'
    const at = (i: number) => ({
      ...{ from, at: i % 2 === 0 ? app : second },
      headers: { 'x-forwarded-for': `203.0.113.${i}` },
    })
    const statuses = await spray(spray_max + 1, at)
    expect(statuses).toEqual([...all(spray_max, 401), 429])
  })

  test('is not hidden by sign-ins of the attacker to an account of their own', async () => {
    await app.person('mallory@example.com', 'member')
    const from = '198.51.100.4'
    for (let i = 0; i < spray_max; i += 1) {
      const at = i % 2 === 0 ? app : second
      await signIn(`victim-${i}@example.com`, 'Summer2026', { from, at })
      if (i % 10 === 0) await signIn('mallory@example.com', secret, { from, at })
    }
    expect((await signIn('victim@example.com', 'Summer2026', { from })).status).toBe(429)
  })

  test('does not delay people who signed in from that network before', async () => {
    await app.person('colleague@example.com', 'member')
    const from = '198.51.100.5'
    expect((await signIn('colleague@example.com', secret, { from })).status).toBe(200)
    await spray(spray_max, (i) => ({ from, at: i % 2 === 0 ? app : second }))
    expect((await signIn('colleague@example.com', secret, { from })).status).toBe(200)
  })
})

describe('many guesses at one account', () => {
  test('from everywhere: the owner signs in at a known network, a stranger waits a minute at most', async () => {
    await app.person('owner@example.com', 'member')
    const home = { from: '192.0.2.10' }
    expect((await signIn('owner@example.com', secret, home)).status).toBe(200)
    const everywhere = (i: number) => ({ from: `203.0.113.${i}` })
    expect(await guess('owner@example.com', 100, everywhere)).toEqual(all(100, 401))
    const stranger = await signIn('owner@example.com', secret, { from: '192.0.2.11' })
    expect(stranger.status).toBe(429)
    expect(Number(stranger.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect((await signIn('owner@example.com', secret, home)).status).toBe(200)
    expect((await signIn('owner@example.com', secret, { ...home, at: second })).status).toBe(200)
  })

  test('the holder of a refresh token makes a new network known', async () => {
    await app.person('moving@example.com', 'member')
    const first = await signIn('moving@example.com', secret, { from: '192.0.2.20' })
    await guess('moving@example.com', 100, (i) => ({ from: `203.0.114.${i}` }))
    const hotel = { from: '192.0.2.21' }
    expect((await signIn('moving@example.com', secret, hotel)).status).toBe(429)
    const { refresh_token } = first.body
    const body = { grant_type: 'refresh_token', refresh_token }
    const renewed = await app.call('POST', '/api/v1/auth/token', { body, ...hotel })
    expect(renewed.status).toBe(200)
    expect((await signIn('moving@example.com', secret, { ...hotel, at: second })).status).toBe(200)
  })

  test('at once: no more than ten are checked, in all processes together', async () => {
    const calls = Array.from({ length: 30 }, (_, i) =>
      signIn('parallel@example.com', 'a guess', {
        ...{ from: '198.51.100.20', at: i % 2 === 0 ? app : second },
      }),
    )
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  })

  test('accounts that do not exist are refused as others are', async () => {
    await app.person('exists@example.com', 'member')
    const from = '198.51.100.30'
    const [known, unknown] = [
      await guess('exists@example.com', 11, () => ({ from, at: app })),
      await guess('missing@example.com', 11, () => ({ from: '198.51.100.31', at: second })),
    ]
    expect(known).toEqual([...all(10, 401), 429])
    expect(unknown).toEqual(known)
  })
})

test('a check that fails for another reason is not counted', async () => {
  const attempt = { account: 'counted@example.com', network: '198.51.100.40' }
  const fail = () => Promise.reject(new Error('the check failed'))
  for (let i = 0; i < 12; i += 1) {
    await expect(app.access.guard.attempt(attempt, fail)).rejects.toThrow('the check failed')
  }
})

test('forgotten counts and old networks are deleted', async () => {
  const own = await startAccessApp()
  const { db } = own.relational
  const rows = async () => (await db.selectFrom('sign_in_counts').selectAll().execute()).length
  await signIn('gone@example.com', 'a guess', { at: own })
  expect(await rows()).toBe(3)
  own.clock.ahead_ms = 24 * 60 * 60_000
  await signIn('other@example.com', 'a guess', { at: own, from: '192.0.2.99' })
  expect(await rows()).toBe(3)
  await own.close()
})

test('behind a trusted proxy each client is counted alone, and others are not believed', async () => {
  const proxied = await startAccessApp({
    ...{ database_url: database(app), trusted_proxies: ['10.0.0.0/8'] },
  })
  const via = (client: string) => ({
    ...{ at: proxied, from: '10.1.2.3' },
    headers: { 'x-forwarded-for': `192.0.2.250, ${client}` },
  })
  await spray(spray_max, () => via('198.51.100.50'))
  expect((await signIn('y@example.com', secret, via('198.51.100.50'))).status).toBe(429)
  expect((await signIn('y@example.com', secret, via('198.51.100.51'))).status).toBe(401)
  const forged = { ...via('198.51.100.52'), from: '198.51.100.50' }
  expect((await signIn('y@example.com', secret, forged)).status).toBe(429)
  await proxied.close()
})

test('without the store no attempt is checked', async () => {
  const own = await startAccessApp()
  const { admin_email, admin_password } = own.first
  await own.relational.close()
  const refused = await signIn(admin_email, admin_password, { at: own })
  expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable'])
})
