import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { currentCall } from '../../../platform/audit/index.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import type { TokenSubject } from '../tokens/access-tokens.ts'
import { findLogin, findLoginById, type Login } from './store.ts'

/**
 * POST /api/v1/auth/token: exchanges a password, a service account's key or a refresh token for an
 * access token. A refusal does not say which part was wrong.
 */
export function createToken(access: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/token',
    id: 'createToken',
    summary: 'Get an access token',
    auth: 'public',
    scope: { level: 'public' },
    body: bodySchema,
    reply: accessTokenSchema,
    errors: ['credentials_invalid', 'store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body, network }) =>
      new Answer(await grant(body, network, access), { headers: { 'cache-control': 'no-store' } }),
  })
}

const bodySchema = z
  .discriminatedUnion('grant_type', [
    record('PasswordGrant', {
      grant_type: z.literal('password'),
      username: z.string().min(1).max(320).describe('The e-mail address.'),
      password: z.string().min(1).max(256),
    }),
    record('ClientCredentialsGrant', {
      grant_type: z.literal('client_credentials'),
      client_id: z.string().max(100).optional().describe("The service account's id."),
      client_secret: z.string().min(1).max(256).describe('A key of the account, `lt_sa_…`.'),
    }),
    record('RefreshTokenGrant', {
      grant_type: z.literal('refresh_token'),
      refresh_token: z.string().min(1).max(256),
    }),
  ])
  .meta({ id: 'TokenRequest' })

/** The tokens of a sign-in. */
export const accessTokenSchema = record('AccessToken', {
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Lifetime in seconds.'),
  refresh_token: z
    .string()
    .optional()
    .describe('Refresh token, valid for one use. Absent for service accounts.'),
})

type Body = z.output<typeof bodySchema>
type Reply = z.input<typeof accessTokenSchema>

function grant(body: Body, network: string, access: Access): Promise<Reply> {
  switch (body.grant_type) {
    case 'password':
      return byPassword(body, network, access)
    case 'client_credentials':
      return byServiceAccount(body, access)
    case 'refresh_token':
      return byRefreshToken(body.refresh_token, network, access)
  }
}

async function byPassword(
  { username, password }: { username: string; password: string },
  network: string,
  access: Access,
): Promise<Reply> {
  const account = username.trim().toLowerCase()
  const login = await access.guard.attempt({ account, network }, () =>
    findByPassword(account, password, access),
  )
  if (login === undefined) throw refused()
  currentCall()?.noteActor('user', login.id)
  return signInAs({ user_id: login.id, session_number: login.session_number }, access)
}

/** Issues the tokens of a new session. */
export async function signInAs(
  user: { user_id: string; session_number: number },
  access: Access,
): Promise<Reply> {
  const refresh_token = await access.refresh_tokens.issue(user.user_id)
  return { ...(await bearer({ kind: 'user', ...user }, access)), refresh_token }
}

/** Returns the login with this password. Takes the same time for known and unknown e-mails. */
export async function findByPassword(
  email: string,
  password: string,
  { db, passwords }: Access,
): Promise<Login | undefined> {
  const login = email.includes('\u0000') ? undefined : await findLogin(db, email)
  const matches = await passwords.verify(password, login?.password_hash ?? null)
  return matches && login?.disabled_at === null ? login : undefined
}

async function byServiceAccount(
  { client_id, client_secret }: { client_id?: string | undefined; client_secret: string },
  access: Access,
): Promise<Reply> {
  const key = await access.keys.authenticate(client_secret)
  const service_account_id = key?.service_account_id
  if (key === undefined || typeof service_account_id !== 'string') throw refused()
  currentCall()?.noteActor('service_account', service_account_id)
  if (client_id !== undefined && client_id.toLowerCase() !== service_account_id) throw refused()
  return bearer({ kind: 'service_account', service_account_id, key_id: key.key_id }, access)
}

async function byRefreshToken(token: string, network: string, access: Access): Promise<Reply> {
  const exchanged = await access.refresh_tokens.exchange(token)
  const state = exchanged && (await access.roles.user(exchanged.user_id))
  if (exchanged === undefined || state === undefined) throw refused()
  const { user_id, refresh_token } = exchanged
  currentCall()?.noteActor('user', user_id)
  // The network stays known while it is used, so that attempts from other networks cause no delay.
  const login = await findLoginById(access.db, user_id)
  if (login !== undefined) await access.guard.remember({ account: login.email, network })
  const { session_number } = state
  return { ...(await bearer({ kind: 'user', user_id, session_number }, access)), refresh_token }
}

async function bearer(subject: TokenSubject, { tokens }: Access): Promise<Reply> {
  return { ...(await tokens.issue(subject)), token_type: 'Bearer' }
}

function refused(): Error {
  return problem('credentials_invalid')
}
