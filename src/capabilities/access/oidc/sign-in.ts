import { timingSafeEqual } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { currentCall, noteAfter, noteBefore } from '../../../platform/audit/index.ts'
import type { RequestHeaders } from '../../../platform/http/index.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { hashSecret } from '../keys/project-key.ts'
import { insertUser, takeByIssuer } from '../users/store.ts'
import { applyGroups, givesRole, type NamedGroupRole, resolveMapping } from './apply-groups.ts'
import { type Attempts, attempt_ms_max } from './attempt.ts'
import { type IssuerClient, signInRefused } from './client.ts'
import type { ArrivingPerson } from './person.ts'
import { findByEmail, findBySubject, hasOpenInvitation, linkSubject, useState } from './store.ts'

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

type Db = Kysely<AccessTables>

/** A person who may sign in. */
type Admitted = {
  user_id: string
  session_number: number
  is_new: boolean
  /** Entries of the mapping whose organization or project does not exist. */
  unknown: NamedGroupRole[]
  /** Organizations whose last owner kept the role although no group grants it. */
  kept_owner_of: string[]
}

/**
 * Finds the account of a person who signs in at the external issuer: by the subject, or at the
 * first sign-in by the verified e-mail. Creates a missing account if a group gives a role or an
 * invitation is open for the e-mail. Then applies the groups. Throws `permission_denied`.
 */
export async function admit(
  db: Db,
  given: { person: ArrivingPerson; mapping: readonly NamedGroupRole[]; now: Date },
): Promise<Admitted> {
  const { person, now } = given
  const { resolved, unknown } = await resolveMapping(db, given.mapping)
  return db.transaction().execute(async (trx) => {
    const linked = await findBySubject(trx, person)
    const known = linked ?? (await findAndLink(trx, person, now))
    const isAdmitted =
      known !== undefined ||
      givesRole(resolved, person.groups) ||
      (await hasOpenInvitation(trx, { email: person.email, now }))
    if (!isAdmitted) throw notAdmitted()
    const user = known ?? (await createUser(trx, person, now))
    currentCall()?.noteActor('user', user.id)
    if (user.disabled_at !== null) {
      throw problem('permission_denied', { detail: 'Your account is disabled' })
    }
    const { id: user_id, session_number } = user
    const { groups } = person
    const applied = { user_id, groups, mapping: resolved, now }
    const { kept_owner_of, ...roles } = await applyGroups(trx, applied)
    // Noted before the commit, which writes the record of the call.
    noteBefore({ roles: roles.before })
    noteAfter({ account: accountNote(known, linked), roles: roles.after })
    return { user_id, session_number, is_new: known === undefined, unknown, kept_owner_of }
  })
}

/** Returns the effect of a sign-in on the account, for its record. */
function accountNote(known: object | undefined, linked: object | undefined) {
  if (known === undefined) return 'created'
  return linked === undefined ? 'linked' : 'unchanged'
}

/**
 * Finds the account of the verified e-mail and links it to the subject. If the address was not
 * verified before, ends the password and sessions of the account.
 */
async function findAndLink(trx: Db, person: ArrivingPerson, now: Date) {
  const user = await findByEmail(trx, person.email)
  if (user === undefined) return undefined
  await link(trx, person, { user_id: user.id, now })
  await takeByIssuer(trx, user.id, now)
  return findBySubject(trx, person)
}

async function createUser(trx: Db, person: ArrivingPerson, now: Date) {
  const { email, display_name } = person
  if (email === undefined) throw notAdmitted()
  const user_id = newId()
  const made = await insertUser(trx, {
    id: user_id,
    email,
    display_name: display_name ?? email,
    password_hash: null,
    password_origin: null,
    email_verified_at: now,
    created_at: now,
  })
  if (made === undefined) {
    throw problem('account_exists', { detail: 'The account was created meanwhile. Sign in again' })
  }
  await link(trx, person, { user_id, now })
  return { id: user_id, session_number: 0, disabled_at: null, email_verified_at: null }
}

async function link(trx: Db, person: ArrivingPerson, about: { user_id: string; now: Date }) {
  if (await linkSubject(trx, person, about)) return
  throw problem('permission_denied', {
    detail:
      'The account of this e-mail belongs to another person at the external issuer. Ask an administrator of the installation to remove its links to the issuer',
  })
}

function notAdmitted(): Error {
  return problem('permission_denied', {
    detail:
      'You have no account here: none of your groups grants a role, and your verified e-mail has no open invitation. Ask for an invitation',
  })
}
