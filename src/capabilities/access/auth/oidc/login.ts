import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { isOwnPath } from '../../oidc/attempt.ts'
import { redirect, signInOf } from './configured.ts'

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
