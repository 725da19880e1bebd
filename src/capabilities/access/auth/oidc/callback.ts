import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { redirect, signInOf } from './configured.ts'

const parameter = z.string().max(4_096).optional()

/**
 * GET /api/v1/auth/oidc/callback: the redirect URI at the external issuer. Checks that the browser
 * started this sign-in, exchanges the code once, starts a session and opens the page that the
 * person came from. Other parameters of the issuer are passed on to its checks.
 */
export function finishIssuerSignIn(access: Access): Route {
  const { sessions, roles } = access
  return defineRoute({
    method: 'GET',
    url: '/api/v1/auth/oidc/callback',
    id: 'finishIssuerSignIn',
    summary: 'End of a sign-in at the external issuer',
    // It signs in, and may make an account and change roles. Its query, with the code, is not
    // recorded.
    audit: 'change',
    auth: 'public',
    scope: { level: 'public' },
    status: 302,
    query: z
      .object({
        state: parameter.describe('Value of `state` from the request to the issuer.'),
        code: parameter.describe('Authorization code, exchanged for tokens.'),
        iss: parameter.describe('URL of the issuer, if the issuer sends it (RFC 9207).'),
        error: parameter.describe('Error code of the issuer.'),
        error_description: parameter.describe('Text of the issuer for the error. Ignored.'),
      })
      .catchall(parameter),
    reply: z.undefined(),
    errors: [
      'credentials_invalid',
      'permission_denied',
      'account_exists',
      'issuer_not_configured',
      'issuer_unreachable',
      'store_unavailable',
    ],
    rate_per_minute_max: 60,
    handle: async ({ query, headers }) => {
      const given = Object.entries(query).filter((entry) => typeof entry[1] === 'string')
      const parameters = new URLSearchParams(given as [string, string][]).toString()
      const { person, location, cookie } = await signInOf(access).finish(parameters, headers)
      roles.forget()
      const session = await sessions.start({ ...person, by_issuer: true }, headers)
      return redirect(location, [session, cookie])
    },
  })
}
