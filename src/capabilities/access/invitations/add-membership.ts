import { type OrganizationRole, organizationRoles, projectRoles } from '../../../kernel/scopes.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'

/** An accepted invitation, whose roles the user gets. */
type AcceptedRoles = {
  id: string
  organization_id: string
  role: OrganizationRole
  /** The project of a member that a resource declares; null for an invitation by a person. */
  declared_in: string | null
  user_id: string
  now: Date
}

/**
 * Adds the roles of an invitation. A higher role that a person gave stays. A role from a resource
 * or from groups is replaced by the role of a person's invitation.
 */
export async function addMembership(
  trx: Kysely<AccessTables>,
  given: AcceptedRoles,
): Promise<void> {
  const { id, organization_id, user_id, role, now } = given
  const by_resource = given.declared_in !== null
  const member = { organization_id, user_id, role, created_at: now, by_resource }
  if (by_resource) {
    const insert = trx.insertInto('organization_members').values(member)
    await insert.onConflict((conflict) => conflict.doNothing()).execute()
    return
  }
  await trx
    .insertInto('organization_members')
    .values(member)
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'user_id']).doUpdateSet({
        role: higher('organization_members', organizationRoles),
        by_resource: false,
        by_group: false,
      }),
    )
    .execute()
  await trx
    .insertInto('project_members')
    .columns(['project_id', 'user_id', 'role', 'created_at'])
    .expression(
      trx
        .selectFrom('invitation_projects')
        .innerJoin('projects', 'projects.id', 'invitation_projects.project_id')
        .select('projects.id')
        .select(sql<string>`${user_id}::uuid`.as('user_id'))
        .select('invitation_projects.role')
        .select(sql<string>`${now.toISOString()}::timestamptz`.as('created_at'))
        .where('invitation_id', '=', id),
    )
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'user_id']).doUpdateSet({
        role: higher('project_members', projectRoles),
        by_resource: false,
        by_group: false,
      }),
    )
    .execute()
}

/**
 * Builds the SQL of the role to store: the higher of the stored and the new one, or the new one if
 * the stored one is from a resource or from groups. `roles` begins with the weakest.
 */
function higher<Role extends string>(table: string, roles: readonly Role[]) {
  const order = sql.lit(roles.join(' '))
  const stored = sql.ref(`${table}.role`)
  const by_resource = sql.ref(`${table}.by_resource`)
  const by_group = sql.ref(`${table}.by_group`)
  return sql<Role>`case when ${by_resource} or ${by_group} or position(excluded.role in ${order}) > position(${stored} in ${order})
    then excluded.role else ${stored} end`
}
