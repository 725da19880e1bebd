import type { OrganizationRole } from '../../../../kernel/scopes.ts'
import type { IdPage } from '../../../../model/id-pages.ts'
import type { AccessTables, Kysely, Transaction } from '../../../../platform/relational/index.ts'
import type { RoleChange } from '../role-change.ts'

type Db = Kysely<AccessTables>

/** A member of an organization. */
export type MemberRow = {
  user_id: string
  email: string
  display_name: string
  role: OrganizationRole
  created_at: string
}

/** Returns a page of an organization's members, the oldest accounts first. */
export async function listMembers(
  db: Db,
  { organization_id, after, limit, count_max }: IdPage & { organization_id: string },
): Promise<{ rows: MemberRow[]; counted: number }> {
  const { n } = await db
    .selectFrom(
      db
        .selectFrom('organization_members')
        .select('user_id')
        .where('organization_id', '=', organization_id)
        .limit(count_max)
        .as('some'),
    )
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const rows = await members(db, organization_id)
    .$if(after !== undefined, (query) => query.where('users.id', '>', after ?? ''))
    .orderBy('users.id')
    .limit(limit)
    .execute()
  return { rows, counted: n }
}

/** A change of an organization's members. */
export type MemberChange = {
  organization_id: string
  actor_id: string
  /** Throws when the change is not allowed. Called while the organization is locked. */
  check: (change: RoleChange) => void
}

/** A person to add, or whose role to change. An account is created for an unknown e-mail. */
export type NewMember = MemberChange & {
  email: string
  role: OrganizationRole
  /** Used only when the account is created. */
  user: { id: string; display_name: string; password_hash: string | null }
  now: Date
}

/** Adds a member or changes a member's role. */
export function putMember(
  db: Db,
  change: NewMember,
): Promise<{ member: MemberRow; added: boolean; user_created: boolean }> {
  const { organization_id, actor_id, check, email, role, now } = change
  return db.transaction().execute(async (trx) => {
    const { user_id, user_created } = await userWithEmail(trx, change)
    const state = await lockedState(trx, { organization_id, actor_id, user_id })
    check({ ...state, next: role })
    await trx
      .insertInto('organization_members')
      .values({ organization_id, user_id, role, created_at: now })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'user_id']).doUpdateSet({ role }),
      )
      .execute()
    const member = await members(trx, organization_id)
      .where('users.email', '=', email)
      .executeTakeFirstOrThrow()
    return { member, added: state.current === undefined, user_created }
  })
}

/** Removes a member from an organization and its projects; false for a person who is no member. */
export function deleteMember(db: Db, change: MemberChange & { user_id: string }): Promise<boolean> {
  const { organization_id, user_id, check } = change
  return db.transaction().execute(async (trx) => {
    const state = await lockedState(trx, change)
    check({ ...state, next: undefined })
    if (state.current === undefined) return false
    // The membership first: adding a person to a project locks it until that is committed.
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
    return true
  })
}

type Trx = Transaction<AccessTables>

async function userWithEmail(
  trx: Trx,
  { email, user, now }: NewMember,
): Promise<{ user_id: string; user_created: boolean }> {
  const made = await trx
    .insertInto('users')
    .values({ ...user, email, created_at: now })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (made !== undefined) return { user_id: made.id, user_created: true }
  const known = await trx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  return { user_id: known.id, user_created: false }
}

/** Locks the organization, so that its member changes are serialised and an owner remains. */
async function lockedState(
  trx: Trx,
  {
    organization_id,
    actor_id,
    user_id,
  }: { organization_id: string; actor_id: string; user_id: string },
): Promise<Omit<RoleChange, 'next'>> {
  await trx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organization_id)
    .forUpdate()
    .execute()
  const rows = await trx
    .selectFrom('organization_members')
    .select(['user_id', 'role'])
    .where('organization_id', '=', organization_id)
    .where(({ eb, or }) => or([eb('user_id', 'in', [actor_id, user_id]), eb('role', '=', 'owner')]))
    .execute()
  const roleOf = (id: string) => rows.find((row) => row.user_id === id)?.role
  return {
    actor: roleOf(actor_id),
    current: roleOf(user_id),
    owners: rows.filter(({ role }) => role === 'owner').length,
  }
}

function members(db: Db, organization_id: string) {
  return db
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .where('organization_members.organization_id', '=', organization_id)
    .select(['users.id as user_id', 'users.email', 'users.display_name'])
    .select(['organization_members.role', 'organization_members.created_at'])
}
