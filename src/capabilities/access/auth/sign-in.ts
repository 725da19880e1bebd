import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { sessionFields, sessionSchema } from './session.ts'

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
