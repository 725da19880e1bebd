import type { OrganizationRole, ProjectRole } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'

type Db = Kysely<AccessTables>

/** A project that a user can see, with the user's role. */
export type SeenProject = { organization_id: string; role: ProjectRole }

/** Whether a user exists and is not disabled. */
export async function readUserIsActive(db: Db, user_id: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', user_id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

export async function readUserByEmail(db: Db, email: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst()
  return row?.id
}

export async function readOrganizationRole(
  db: Db,
  { user_id, organization_id }: { user_id: string; organization_id: string },
): Promise<OrganizationRole | undefined> {
  const row = await db
    .selectFrom('organization_members')
    .select('role')
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return row?.role
}

/** Whether a project exists and is not archived. */
export async function readProjectExists(db: Db, project_id: string): Promise<boolean> {
  const row = await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', project_id)
    .where('archived_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the user's role in a project; undefined without a role or for an archived project. */
export async function readProjectRole(
  db: Db,
  { user_id, project_id }: { user_id: string; project_id: string },
): Promise<SeenProject | undefined> {
  const row = await memberships(db, user_id)
    .select(['organization_members.role as organization_role', 'projects.organization_id'])
    .select('project_members.role as project_role')
    .where('projects.id', '=', project_id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const role = effectiveRole(row)
  return role && { organization_id: row.organization_id, role }
}

/** Returns the ids of the projects that the user can see, oldest first. */
export async function readVisibleProjects(
  db: Db,
  { user_id, limit }: { user_id: string; limit: number },
): Promise<string[]> {
  const rows = await memberships(db, user_id)
    .select('projects.id')
    .where(({ eb, or }) =>
      or([
        eb('organization_members.role', 'in', ['owner', 'admin']),
        eb('project_members.role', 'is not', null),
      ]),
    )
    .orderBy('projects.id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Returns the role in a project: owners and admins of the organization are admin in its projects.
 */
export function effectiveRole(row: {
  organization_role: OrganizationRole
  project_role: ProjectRole | null
}): ProjectRole | undefined {
  return row.organization_role === 'member' ? (row.project_role ?? undefined) : 'admin'
}

/**
 * Selects projects that are not archived, with the user's roles in them and their organizations.
 */
export function memberships(db: Db, user_id: string) {
  return db
    .selectFrom('projects')
    .innerJoin('organization_members', (join) =>
      join
        .onRef('organization_members.organization_id', '=', 'projects.organization_id')
        .on('organization_members.user_id', '=', user_id),
    )
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'projects.id')
        .on('project_members.user_id', '=', user_id),
    )
    .where('projects.archived_at', 'is', null)
}
