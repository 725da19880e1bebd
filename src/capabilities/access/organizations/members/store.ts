import type { OrganizationRole } from '../../../../kernel/scopes.ts'
import type { IdPage } from '../../../../model/id-pages.ts'
import type { AccessTables, Kysely } from '../../../../platform/relational/index.ts'
import { endDeclarations } from '../../invitations/declared-membership.ts'
import { revokeInvitations } from '../../invitations/store.ts'
import { readById } from '../../read-by-id.ts'
import { keepOnlyProject } from '../../roles/store.ts'
import type { RoleChange } from '../role-change.ts'
import { lockOrganization } from '../store.ts'

type Db = Kysely<AccessTables>

/** A member of an organization. */
export type MemberRow = {
  user_id: string
  email: string
  display_name: string
  role: OrganizationRole
  created_at: string
  version: number
}

/** Returns a page of an organization's members, the oldest accounts first. */
export function listMembers(
  db: Db,
  { organization_id, ...page }: IdPage & { organization_id: string },
): Promise<{ rows: MemberRow[]; counted: number }> {
  return readById(db, members(db, organization_id), 'users.id', page)
}

/** A change of an organization's members. */
export type MemberChange = {
  organization_id: string
  actor_id: string
  /** Throws when the change is not allowed. Called while the organization is locked. */
  check: (change: RoleChange) => void
}

/** Returns a member of an organization. */
export function findMember(
  db: Db,
  { organization_id, user_id }: { organization_id: string; user_id: string },
): Promise<MemberRow | undefined> {
  return members(db, organization_id).where('users.id', '=', user_id).executeTakeFirst()
}

/** Changes the role of a member; undefined for a person who is not a member. Run it in a transaction. */
export async function changeRole(
  trx: Db,
  change: MemberChange & { who: { email: string } | { user_id: string }; role: OrganizationRole },
  checkVersion: (version: number) => void = () => undefined,
): Promise<MemberRow | undefined> {
  const { organization_id, actor_id, check, who, role } = change
  await lockOrganization(trx, organization_id)
  const all = members(trx, organization_id)
  const member = await ('email' in who
    ? all.where('users.email', '=', who.email)
    : all.where('users.id', '=', who.user_id)
  ).executeTakeFirst()
  const user_id = member?.user_id
  check({ ...(await lockedState(trx, { organization_id, actor_id, user_id })), next: role })
  if (member === undefined) return undefined
  checkVersion(member.version)
  await keepOnlyProject(trx, member)
  await trx
    .updateTable('organization_members')
    .set({ role, by_resource: false, by_group: false })
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', member.user_id)
    .execute()
  return findMember(trx, { organization_id, user_id: member.user_id })
}

/**
 * Removes a member from an organization and its projects, and revokes open invitations to them.
 * Returns false for a person who is not a member.
 */
export function deleteMember(
  db: Db,
  change: MemberChange & { user_id: string; now: Date },
): Promise<boolean> {
  const { organization_id, user_id, check, now } = change
  return db.transaction().execute(async (trx) => {
    const state = await lockedState(trx, change)
    check({ ...state, next: undefined })
    if (state.current === undefined) return false
    await trx
      .deleteFrom('organization_members')
      .where('organization_id', '=', organization_id)
      .where('user_id', '=', user_id)
      .execute()
    const projects = trx
      .selectFrom('projects')
      .select('id')
      .where('organization_id', '=', organization_id)
    await trx
      .deleteFrom('project_members')
      .where('user_id', '=', user_id)
      .where('project_id', 'in', projects)
      .execute()
    await revokeInvitations(trx, { organization_id, user_id, now })
    await endDeclarations(trx, { organization_id, user_id, now })
    return true
  })
}

/**
 * Locks the organization, so that its member changes are serialised and an owner remains, and
 * returns its state for a change of one person; without `user_id`, of a person who is not a member.
 */
export async function lockedState(
  trx: Db,
  {
    organization_id,
    actor_id,
    user_id,
  }: { organization_id: string; actor_id: string; user_id: string | undefined },
): Promise<Omit<RoleChange, 'next'>> {
  await lockOrganization(trx, organization_id)
  const ids = user_id === undefined ? [actor_id] : [actor_id, user_id]
  const rows = await trx
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .select(['user_id', 'role', 'users.disabled_at'])
    .where('organization_id', '=', organization_id)
    .where(({ eb, or }) => or([eb('user_id', 'in', ids), eb('role', '=', 'owner')]))
    .execute()
  const roleOf = (id: string | undefined) => rows.find((row) => row.user_id === id)?.role
  return {
    actor: roleOf(actor_id),
    current: roleOf(user_id),
    other_owners: rows.filter((row) => isActiveOwner(row) && row.user_id !== user_id).length,
  }
}

/** Whether a member is an owner who can sign in: a disabled one could not manage anything. */
function isActiveOwner(row: { role: OrganizationRole; disabled_at: string | null }): boolean {
  return row.role === 'owner' && row.disabled_at === null
}

function members(db: Db, organization_id: string) {
  return db
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .where('organization_members.organization_id', '=', organization_id)
    .select(['users.id as user_id', 'users.email', 'users.display_name'])
    .select(['organization_members.role', 'organization_members.created_at'])
    .select('organization_members.version')
}
