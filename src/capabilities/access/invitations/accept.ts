import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { OrganizationRole } from '../../../kernel/scopes.ts'
import { currentCall } from '../../../platform/audit/index.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { IssuerPerson } from '../oidc/person.ts'
import { linkSubject } from '../oidc/store.ts'
import { checkRoleChange } from '../organizations/role-change.ts'
import { lockOrganization } from '../organizations/store.ts'
import { effectiveRole, keepOnlyProject, moveDefaultProject } from '../roles/store.ts'
import { insertUser, resetPassword } from '../users/store.ts'
import { addMembership } from './add-membership.ts'
import { settleMembership } from './declared-membership.ts'

type Db = Kysely<AccessTables>

/** An invitation as its link shows it. */
export type OpenInvitation = {
  id: string
  organization_id: string
  organization: string
  email: string
  role: OrganizationRole
  by_email: boolean
  /** The project of a member that a resource declares; null for an invitation by a person. */
  declared_in: string | null
}

/** The person who accepts. `issuer`: signed in by the external issuer, without an account yet. */
export type Accepting =
  | { kind: 'new'; display_name: string; password_hash: string }
  | { kind: 'user'; id: string }
  | { kind: 'issuer'; person: IssuerPerson }

/** A new membership. `account`: created, claimed from an unverified owner, or known before. */
export type Accepted = OpenInvitation & {
  user_id: string
  session_number: number
  account: 'created' | 'claimed' | 'known'
}

/**
 * Returns the invitation of a link that can be accepted: it is not used, revoked or expired, and
 * its inviter still has the right to invite. An invitation by a resource has no inviter: it ends
 * with the resource or its project.
 */
export async function findByLink(
  db: Db,
  { token_hash, now }: { token_hash: Buffer; now: Date },
): Promise<OpenInvitation | undefined> {
  const row = await db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .leftJoin('projects', 'projects.id', 'invitations.project_id')
    .leftJoin('organization_members as inviter', (join) =>
      join
        .onRef('inviter.organization_id', '=', 'invitations.organization_id')
        .onRef('inviter.user_id', '=', 'invitations.invited_by'),
    )
    .leftJoin('users', 'users.id', 'inviter.user_id')
    .leftJoin('project_members as inviting', (join) =>
      join
        .onRef('inviting.project_id', '=', 'invitations.project_id')
        .onRef('inviting.user_id', '=', 'invitations.invited_by'),
    )
    .select(['invitations.id', 'invitations.organization_id', 'invitations.email'])
    .select(['invitations.role', 'invitations.by_email', 'invitations.project_id'])
    .select(['organizations.name as organization', 'inviter.role as organization_role'])
    .select(['inviting.role as project_role', 'invitations.managed_by', 'projects.archived_at'])
    .where('token_hash', '=', token_hash)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { project_id, organization_role, project_role, managed_by, archived_at, ...found } = row
  if (managed_by !== null) {
    return archived_at === null ? { ...found, declared_in: project_id } : undefined
  }
  if (organization_role === null) return undefined
  const allowed =
    project_id === null
      ? mayInvite(organization_role, row.role)
      : effectiveRole({ organization_role, project_role }) === 'admin'
  return allowed ? { ...found, declared_in: null } : undefined
}

function mayInvite(actor: OrganizationRole, next: OrganizationRole): boolean {
  try {
    checkRoleChange({ actor, current: undefined, next, other_owners: 1 })
    return true
  } catch {
    return false
  }
}

/**
 * Accepts an invitation: makes the person a member, and creates an account for a new person.
 * Of two calls with one link, one succeeds. Throws `invitation_not_found`, `account_exists`,
 * `password_change_required`, and `permission_denied` for another person.
 */
export function acceptInvitation(
  db: Db,
  given: { token_hash: Buffer; now: Date; person: Accepting },
): Promise<Accepted> {
  const { token_hash, now, person } = given
  return db.transaction().execute(async (trx) => {
    const seen = await findByLink(trx, { token_hash, now })
    if (seen === undefined) throw invitationNotFound()
    await lockOrganization(trx, seen.organization_id)
    const invitation = await findByLink(trx, { token_hash, now })
    if (invitation === undefined) throw invitationNotFound()
    const account = await accountOf(trx, { invitation, person, now })
    // The link proves that the call belongs to the organization.
    currentCall()?.noteActor('user', account.user_id)
    currentCall()?.noteOrganization(invitation.organization_id)
    if (account.account !== 'claimed') await keepOnlyProject(trx, account)
    await addMembership(trx, { ...invitation, user_id: account.user_id, now })
    await trx
      .updateTable('invitations')
      .set({ accepted_at: now, accepted_by: account.user_id })
      .where('id', '=', invitation.id)
      .execute()
    await settleDeclared(trx, { ...invitation, ...account }, now)
    if (account.account === 'claimed') await moveDefaultProject(trx, { ...invitation, ...account })
    return { ...invitation, ...account }
  })
}

/** Returns the error for a link that cannot be accepted, the same for every reason. */
export function invitationNotFound(): Error {
  return problem('invitation_not_found', {
    detail: 'The invitation does not exist, has ended or was used. Ask for a new one.',
  })
}

type Account = Pick<Accepted, 'user_id' | 'session_number' | 'account'>
type Acceptance = { invitation: OpenInvitation; now: Date }

function accountOf(trx: Db, about: Acceptance & { person: Accepting }): Promise<Account> {
  const { person } = about
  switch (person.kind) {
    case 'new':
      return newAccount(trx, { ...about, person })
    case 'user':
      return ownAccount(trx, { ...about, user_id: person.id })
    case 'issuer':
      return issuerAccount(trx, { ...about, person: person.person })
  }
}

/**
 * Creates the account, with the person's own password. An existing account is not changed by a
 * link, with one exception: its address was never proven, and this link went only to the address.
 */
async function newAccount(
  trx: Db,
  about: Acceptance & { person: Extract<Accepting, { kind: 'new' }> },
): Promise<Account> {
  const { invitation, now, person } = about
  const user_id = newId()
  const made = await insertUser(trx, {
    id: user_id,
    email: invitation.email,
    display_name: person.display_name,
    password_hash: person.password_hash,
    password_origin: 'self',
    email_verified_at: invitation.by_email ? now : null,
    created_at: now,
  })
  if (made !== undefined) return { user_id, session_number: 0, account: 'created' }
  const known = await lockUser(trx, { email: invitation.email })
  const isUnproven = known.email_verified_at === null && known.disabled_at === null
  if (!invitation.by_email || !isUnproven || known.installation_admin) {
    throw problem('account_exists', {
      detail: `${invitation.email} has an account. Sign in, then accept with your access token.`,
    })
  }
  await resetPassword(trx, {
    user_id: known.id,
    password_hash: person.password_hash,
    password_origin: 'self',
    must_change_password: false,
    proves_email: true,
    now,
  })
  return { user_id: known.id, session_number: known.session_number + 1, account: 'claimed' }
}

/**
 * Checks that the signed-in user is the invited person, and that no other person set the password.
 */
async function ownAccount(trx: Db, about: Acceptance & { user_id: string }): Promise<Account> {
  const { invitation, now, user_id } = about
  const user = await lockUser(trx, { id: user_id })
  if (user.email !== invitation.email) {
    throw problem('permission_denied', {
      detail: 'The invitation is for another e-mail address. Sign in as that person.',
    })
  }
  if (user.password_origin === 'administrator') {
    throw problem('password_change_required', {
      detail:
        'Another person may know your password. Replace it with PUT /api/v1/auth/password, then accept.',
    })
  }
  if (invitation.by_email && user.email_verified_at === null) {
    const proven = { email_verified_at: now }
    await trx.updateTable('users').set(proven).where('id', '=', user_id).execute()
  }
  return { user_id, session_number: user.session_number, account: 'known' }
}

/**
 * Creates the account of a person whom the external issuer knows, and links it to their subject. It
 * has no password.
 */
async function issuerAccount(
  trx: Db,
  about: Acceptance & { person: IssuerPerson },
): Promise<Account> {
  const { invitation, now, person } = about
  const { email } = person
  const user_id = newId()
  if (email === invitation.email) {
    const made = await insertUser(trx, {
      id: user_id,
      email,
      display_name: email,
      password_hash: null,
      password_origin: null,
      email_verified_at: now,
      created_at: now,
    })
    if (made !== undefined && (await linkSubject(trx, person, { user_id, now }))) {
      return { user_id, session_number: 0, account: 'created' }
    }
    throw problem('account_exists', { detail: 'The account was created meanwhile. Accept again.' })
  }
  throw problem('permission_denied', {
    detail: 'The invitation is for another e-mail address. Sign in as that person.',
  })
}

function lockUser(trx: Db, which: { id: string } | { email: string }) {
  const [column, value] =
    'id' in which ? (['id', which.id] as const) : (['email', which.email] as const)
  return trx
    .selectFrom('users')
    .select(['id', 'email', 'email_verified_at', 'disabled_at', 'installation_admin'])
    .select(['session_number', 'password_origin'])
    .where(column, '=', value)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** Gives the role that a resource declares, after its invitation was accepted. */
async function settleDeclared(trx: Db, accepted: Accepted, now: Date): Promise<void> {
  const { declared_in: project_id } = accepted
  if (project_id !== null) await settleMembership(trx, { ...accepted, project_id }, now)
}
