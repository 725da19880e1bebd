import { problem } from '../../../../kernel/problem.ts'
import { Answer } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import type { IssuerSignIn } from '../../oidc/sign-in.ts'

/** Returns the sign-in at the external issuer. Throws `issuer_not_configured`. */
export function signInOf({ issuer_sign_in }: Access): IssuerSignIn {
  if (issuer_sign_in !== undefined) return issuer_sign_in
  throw problem('issuer_not_configured', {
    detail:
      'Set LOOPTRACE_OIDC_ISSUER and LOOPTRACE_OIDC_CLIENT_ID, or sign in with a password at POST /api/v1/auth/session',
  })
}

/** Redirects a browser, with cookies. The answer is not cached, and no Referer is sent. */
export function redirect(location: string, cookies: string | string[]): Answer<undefined> {
  return new Answer(undefined, {
    headers: {
      ...{ location, 'set-cookie': cookies },
      ...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    },
  })
}
