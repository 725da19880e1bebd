import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { sessionFields, sessionSchema } from './session.ts'
import { setDefaultProject } from './store.ts'

/**
 * GET /api/v1/auth/sign-in: what a sign-in page needs before anybody is signed in. Unlike
 * `GET /api/v1/auth/session`, an absent session is not an error.
 */
export function getSignIn(access: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/auth/sign-in',
    id: 'getSignIn',
    summary: 'The session of this browser, if there is one, and the ways to sign in',
    auth: 'public',
    scope: { level: 'public' },
    headers: [
      { name: 'Cookie', required: false, description: 'The session cookie, which browsers add.' },
    ],
    reply: record('SignIn', {
      session: sessionSchema.nullable().describe('Null without a session.'),
      has_issuer: z
        .boolean()
        .describe('Whether people can sign in at an external issuer: `/api/v1/auth/oidc/login`.'),
    }),
    errors: ['permission_denied', 'store_unavailable'],
    handle: async ({ headers }) => {
      const session = await access.sessions.find({ method: 'GET', headers })
      const reply = {
        session: session === undefined ? null : sessionFields(session),
        has_issuer: access.issuer_sign_in !== undefined,
      }
      return new Answer(reply, { headers: { 'cache-control': 'no-store' } })
    },
  })
}

/**
 * POST /api/v1/auth/revoke: signs out. Every refresh token of the sign-in is revoked; access tokens
 * stay valid until they expire. Answers 204 for unknown tokens too (RFC 7009, 2.2).
 */
export function revokeToken({ refresh_tokens }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/revoke',
    id: 'revokeToken',
    summary: 'Sign out: revoke a refresh token and its successors',
    auth: 'public',
    scope: { level: 'public' },
    status: 204,
    body: record('RevokeTokenRequest', { refresh_token: z.string().min(1).max(256) }),
    reply: z.undefined(),
    errors: ['store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body }) => {
      await refresh_tokens.revoke(body.refresh_token)
      return undefined
    },
  })
}

/** PUT /api/v1/auth/default-project: sets the caller's default project. */
export function putDefaultProject({ db, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/auth/default-project',
    id: 'setDefaultProject',
    summary: 'Set your default project, for calls that name no project',
    auth: 'jwt',
    scope: { level: 'user' },
    body: record('SetDefaultProjectRequest', { project_id: idField }),
    reply: record('DefaultProject', { project_id: z.uuid() }),
    errors: ['project_not_found'],
    handle: async ({ body: { project_id }, caller }) => {
      if (!(await setDefaultProject(db, { user_id: caller.id, project_id }))) {
        throw problem('project_not_found', {
          detail: `There is no project "${project_id}" that you can see`,
        })
      }
      roles.forget()
      return { project_id }
    },
  })
}

/** GET /.well-known/jwks.json: the public keys of our access tokens (RFC 7517). */
export function getJwks({ signing_keys }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/.well-known/jwks.json',
    id: 'getJwks',
    summary: 'Public keys of the access tokens',
    auth: 'public',
    scope: { level: 'public' },
    reply: record('JwkSet', { keys: z.array(z.record(z.string(), z.unknown())) }),
    errors: ['store_unavailable'],
    handle: async () =>
      new Answer(await signing_keys.jwks(), {
        headers: { 'cache-control': `public, max-age=${keySetCachedSeconds}` },
      }),
  })
}

/**
 * How long clients may cache the key set. A new key is published for twice as long before it signs.
 */
const keySetCachedSeconds = 300
