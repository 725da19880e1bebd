import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { isOwnPath } from '../oidc/attempt.ts'
import type { IssuerSignIn } from '../oidc/sign-in.ts'

/**
 * GET /api/v1/auth/oidc/login: sends a browser to the external issuer. `return_to` must be a path
 * of this server, so that a link to this route cannot lead to another site.
 */
export function startIssuerSignIn(access: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/auth/oidc/login',
    id: 'startIssuerSignIn',
    summary: 'Sign in with a browser at the external issuer',
    auth: 'public',
    scope: { level: 'public' },
    status: 302,
    query: z.strictObject({
      return_to: z
        .string()
        .max(1_000)
        .refine(isOwnPath, 'expected a path that begins with one slash, such as /tasks')
        .default('/')
        .describe('Path that the browser opens after the sign-in.'),
    }),
    reply: z.undefined(),
    errors: ['issuer_not_configured', 'issuer_unreachable'],
    rate_per_minute_max: 60,
    handle: async ({ query }) => {
      const { location, cookie } = await signInOf(access).start(query.return_to)
      return redirect(location, cookie)
    },
  })
}

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

/** Returns the sign-in at the external issuer. Throws `issuer_not_configured`. */
function signInOf({ issuer_sign_in }: Access): IssuerSignIn {
  if (issuer_sign_in !== undefined) return issuer_sign_in
  throw problem('issuer_not_configured', {
    detail:
      'Set LOOPTRACE_OIDC_ISSUER and LOOPTRACE_OIDC_CLIENT_ID, or sign in with a password at POST /api/v1/auth/session',
  })
}

/** Redirects a browser, with cookies. The answer is not cached, and no Referer is sent. */
function redirect(location: string, cookies: string | string[]): Answer<undefined> {
  return new Answer(undefined, {
    headers: {
      location,
      'set-cookie': cookies,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  })
}
