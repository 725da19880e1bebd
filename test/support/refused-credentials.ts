import type { AccessApp, Json } from './access-app.ts'
import { openBrowser } from './browser.ts'

/** Credentials that no longer count. `unknown` is of the same kind and never existed. */
export type RefusedCredential = { name: string; sent: Sent; unknown: Sent }
type Sent = { token?: string; key?: string; headers?: Record<string, string> }

type Post = (url: string, body?: unknown) => Promise<{ body: Json }>

/** Time after which access tokens and unused sessions have expired. */
export const signedInMs = 13 * 3_600_000

const root = '/api/v2/access'
const session = '/api/v1/auth/session'

/**
 * Makes keys, browser keys, keys and tokens of service accounts, access tokens, session cookies and
 * an operator key that are revoked or disabled, or that expire: keys within a minute, the access token
 * and the session cookie named `expired` within `signedInMs`.
 */
export async function makeRefusedCredentials(app: AccessApp): Promise<RefusedCredential[]> {
  const { admin_email, admin_password, project_id } = app.first
  const token = await app.signIn(admin_email, admin_password)
  const post: Post = (url, body) => app.call('POST', url, { token, body })
  const expires_at = new Date(app.clock.now_ms() + 30_000).toISOString()
  const keys = await makeKeys(post, { project_id, expires_at })
  const people = await makePeople(app, post)
  const { body } = await app.call('GET', `${root}/operator-keys`, { token })
  const [{ id }] = body.operator_keys
  await app.call('DELETE', `${root}/operator-keys/${id}`, { token })
  const operator = {
    sent: { key: app.operator_key },
    unknown: { key: ofSameForm(app.operator_key) },
  }
  return [...keys, ...people, { name: 'operator key, revoked', ...operator }]
}

/** Returns a key of the same form with another prefix and another secret. */
function ofSameForm(key: string): string {
  const [secret = '', prefix = '', ...kind] = key.split('_').toReversed()
  return [...kind.toReversed(), 'q'.repeat(prefix.length), 'q'.repeat(secret.length)].join('_')
}

async function makeKeys(post: Post, { project_id, expires_at }: Record<string, string>) {
  const of = `${root}/projects/${project_id}/api-keys`
  const page = { origins: ['https://shop.example'], user_rate_per_minute: 10 }
  const browser = { ...page, scopes: ['feedback:write'] }
  const revoked = async (body: object) => {
    const made = await post(of, { name: 'revoked', ...body })
    await post(`${of}/${made.body.id}/revoke`)
    return made.body.key
  }
  const expired = async (body: object) =>
    (await post(of, { name: 'expired', expires_at, ...body })).body.key
  const headers = { origin: 'https://shop.example' }
  const found: [string, string, Sent?][] = [
    ['key, revoked', await revoked({})],
    ['key, expired', await expired({})],
    ['browser key, revoked', await revoked(browser), { headers }],
    ['browser key, expired', await expired(browser), { headers }],
    ...(await accountKeys(post, of, String(expires_at))),
  ]
  const unknownToken = found[0]?.[1] ?? ''
  const all = found.map(([name, key, more]) =>
    name.includes('token')
      ? { name, sent: { token: key }, unknown: { token: unknownToken.replaceAll('_', '.') } }
      : { name, sent: { key, ...more }, unknown: { key: ofSameForm(key), ...more } },
  )
  return all
}

/** Keys and access tokens of service accounts: revoked, expired, and of a disabled account. */
async function accountKeys(
  post: Post,
  keys: string,
  expires_at: string,
): Promise<[string, string][]> {
  const accounts = `${root}/service-accounts`
  const account = async (name: string, body: object = {}) => {
    const { body: made } = await post(accounts, { name, scopes: ['tasks:read'] })
    const { body: key } = await post(`${accounts}/${made.id}/keys`, body)
    const grant = { grant_type: 'client_credentials', client_secret: key.key }
    const { body: tokens } = await post('/api/v1/auth/token', grant)
    return { id: made.id, key_id: key.id, key: key.key, token: tokens.access_token }
  }
  const [disabled, revoked] = [await account('disabled'), await account('revoked')]
  await post(`${accounts}/${disabled.id}/disable`)
  await post(`${keys}/${revoked.key_id}/revoke`)
  const expired = await account('expired', { expires_at })
  return [
    ['key of a service account, disabled', disabled.key],
    ['key of a service account, revoked', revoked.key],
    ['key of a service account, expired', expired.key],
    ['token of a service account, disabled', disabled.token],
    ['token of a service account, revoked key', revoked.token],
  ]
}

/** Access tokens and session cookies: expired, revoked, and of a disabled person. */
async function makePeople(app: AccessApp, post: Post): Promise<RefusedCredential[]> {
  const person = async (name: string, number: number) => {
    const email = `${name}@example.com`
    const { user_id, token } = await app.person(email, 'admin')
    const browser = openBrowser(app, `10.9.0.${number}`)
    const body = { grant_type: 'password', username: email, password: 'correct horse battery' }
    const started = await browser.call('POST', session, { body })
    if (started.status >= 300) throw new Error(`no session of ${name}: ${started.text}`)
    const cookie = [...browser.own].map(([key, value]) => `${key}=${value}`).join('; ')
    return { user_id, token, cookie }
  }
  const [expired, revoked, disabled] = [
    await person('expired', 1),
    await person('revoked', 2),
    await person('disabled-person', 3),
  ]
  await app.call('DELETE', '/api/v1/auth/sessions', { token: revoked.token })
  await post(`${root}/users/${disabled.user_id}/disable`)
  const site = { 'sec-fetch-site': 'same-origin', 'x-looptrace-csrf': '1' }
  const browser = (cookie: string) => ({ headers: { ...site, cookie } })
  return Object.entries({ expired, revoked, disabled }).flatMap(([state, { token, cookie }]) => [
    {
      ...{ name: `access token, ${state}`, sent: { token } },
      unknown: { token: `${token.slice(0, -6)}AAAAAA` },
    },
    {
      ...{ name: `session cookie, ${state}`, sent: browser(cookie) },
      unknown: browser(cookie.replace(/=lts_[^;]*/, `=lts_${'A'.repeat(43)}`)),
    },
  ])
}
