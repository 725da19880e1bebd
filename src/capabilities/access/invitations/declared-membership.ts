import { type ProjectRole, projectRoles } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'

type Db = Kysely<AccessTables>

/** A person in a project of an organization. */
export type ProjectPerson = { organization_id: string; project_id: string; user_id: string }

/**
 * Sets a person's role in a project to the highest one of their accepted declarations, released
 * ones included. Without a declaration, the membership ends. A role that a person gave does not
 * change. The transaction has locked the organization.
 */
export async function settleMembership(trx: Db, person: ProjectPerson, now: Date): Promise<void> {
  const { project_id, user_id } = person
  const current = await trx
    .selectFrom('project_members')
    .select('by_resource')
    .where('project_id', '=', project_id)
    .where('user_id', '=', user_id)
    .forUpdate()
    .executeTakeFirst()
  if (current?.by_resource === false) return
  const role = highestRole(await declaredRoles(trx, person))
  if (role === undefined) return endMembership(trx, person)
  await trx
    .insertInto('project_members')
    .values({ project_id, user_id, role, created_at: now, by_resource: true })
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
    .execute()
}

/**
 * Ends the declarations that a member accepted, in one project or in all projects of an
 * organization, so that no resource restores a role that an administrator removed.
 */
export async function endDeclarations(
  trx: Db,
  which: { user_id: string; now: Date } & ({ project_id: string } | { organization_id: string }),
): Promise<void> {
  const accepted = trx
    .updateTable('invitations')
    .set({ revoked_at: which.now })
    .where('accepted_by', '=', which.user_id)
    .where('managed_by', 'is not', null)
    .where('revoked_at', 'is', null)
  const ended =
    'project_id' in which
      ? accepted.where('project_id', '=', which.project_id)
      : accepted.where('organization_id', '=', which.organization_id)
  await ended.execute()
}

async function declaredRoles(
  trx: Db,
  { project_id, user_id }: ProjectPerson,
): Promise<ProjectRole[]> {
  const rows = await trx
    .selectFrom('invitations')
    .innerJoin('invitation_projects', 'invitation_projects.invitation_id', 'invitations.id')
    .select('invitation_projects.role')
    .where('invitations.project_id', '=', project_id)
    .where('invitations.accepted_by', '=', user_id)
    .where('invitations.managed_by', 'is not', null)
    .where('invitations.revoked_at', 'is', null)
    .execute()
  return rows.map(({ role }) => role)
}

function highestRole(roles: readonly ProjectRole[]): ProjectRole | undefined {
  return projectRoles.findLast((role) => roles.includes(role))
}

/** Removes the membership, and that in the organization if it came from resources only. */
async function endMembership(
  trx: Db,
  { organization_id, project_id, user_id }: ProjectPerson,
): Promise<void> {
  await trx
    .deleteFrom('project_members')
    .where('project_id', '=', project_id)
    .where('user_id', '=', user_id)
    .execute()
  const others = trx
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select('project_members.user_id')
    .where('projects.organization_id', '=', organization_id)
  await trx
    .deleteFrom('organization_members')
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .where('by_resource', '=', true)
    .where('role', '=', 'member')
    .where('user_id', 'not in', others)
    .execute()
}
