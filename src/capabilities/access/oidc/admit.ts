import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { currentCall, noteAfter, noteBefore } from '../../../platform/audit/index.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { insertUser, takeByIssuer } from '../users/store.ts'
import { applyGroups, givesRole, type NamedGroupRole, resolveMapping } from './apply-groups.ts'
import type { ArrivingPerson } from './person.ts'
import { findByEmail, findBySubject, hasOpenInvitation, linkSubject } from './store.ts'

type Db = Kysely<AccessTables>

/** A person who may sign in. */
export type Admitted = {
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
    ...{ id: user_id, email, display_name: display_name ?? email },
    ...{ password_hash: null, password_origin: null },
    ...{ email_verified_at: now, created_at: now },
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
