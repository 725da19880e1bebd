import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../kernel/time.ts'
import type { RequestHeaders } from '../../../platform/http/index.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { hashSecret } from '../keys/project-key.ts'
import { type Admitted, admit } from './admit.ts'
import type { NamedGroupRole } from './apply-groups.ts'
import { type Attempts, attempt_ms_max } from './attempt.ts'
import { type IssuerClient, signInRefused } from './client.ts'
import { useState } from './store.ts'

/** Sign-in of browsers at the external issuer. */
export type IssuerSignIn = {
  /** Starts a sign-in: the URL at the issuer, and the cookie that binds it to the browser. */
  start(return_to: string): Promise<{ location: string; cookie: string }>
  /**
   * Ends a sign-in with the parameters of the redirect. Throws `credentials_invalid`,
   * `permission_denied`, `issuer_unreachable`.
   */
  finish(
    parameters: string,
    headers: RequestHeaders,
  ): Promise<{ person: Admitted; location: string; cookie: string }>
  logoutUrl(): Promise<string | null>
}

/** Creates the sign-in of browsers. */
export function createIssuerSignIn(options: {
  db: Kysely<AccessTables>
  clock: Clock
  logger: Logger
  client: IssuerClient
  attempts: Attempts
  mapping: readonly NamedGroupRole[]
  public_url: string
}): IssuerSignIn {
  const { db, clock, logger, client, attempts, mapping, public_url } = options
  return {
    start: async (return_to) => {
      const { url, ...secrets } = await client.start()
      const started_at_ms = clock.now_ms()
      return { location: url, cookie: attempts.keep({ ...secrets, return_to, started_at_ms }) }
    },
    finish: async (parameters, headers) => {
      const now_ms = clock.now_ms()
      const now = new Date(now_ms)
      const attempt = attempts.read(headers, now_ms)
      if (attempt === undefined) {
        throw signInRefused('This browser started no sign-in in the last ten minutes')
      }
      const state = new URLSearchParams(parameters).get('state') ?? ''
      if (!isEqual(state, attempt.state)) {
        throw signInRefused('The answer is for another sign-in')
      }
      const expires_at = new Date(now_ms + attempt_ms_max)
      if (!(await useState(db, { state_hash: hashSecret(state), now, expires_at }))) {
        throw signInRefused('This sign-in was already completed')
      }
      const arrived = await client.finish(parameters, attempt).catch((error: unknown) => {
        logger.warn(reasonOf(error), 'a sign-in at the external issuer failed')
        throw error
      })
      const person = await admit(db, { person: arrived, mapping, now })
      const { user_id, is_new, unknown, kept_owner_of } = person
      logger.info({ user_id, is_new }, 'signed in at the external issuer')
      if (kept_owner_of.length > 0) {
        logger.warn(
          { user_id, kept_owner_of },
          'the last owner keeps the role that no group grants any longer',
        )
      }
      if (unknown.length > 0) {
        logger.warn(
          { unknown },
          'LOOPTRACE_OIDC_GROUP_ROLES names unknown organizations or projects',
        )
      }
      return { person, location: `${public_url}${attempt.return_to}`, cookie: attempts.removed }
    },
    logoutUrl: () => client.logoutUrl(),
  }
}

/** Returns why a sign-in failed: names of errors only, because messages may quote tokens. */
function reasonOf(error: unknown): { code: unknown; error: unknown } {
  const { cause } = error instanceof Error ? error : {}
  const { code, error: name } = (cause ?? {}) as { code?: unknown; error?: unknown }
  return { code, error: name }
}

function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(hashSecret(a), hashSecret(b))
}
