import type { OrganizationRole, ProjectRole } from '../../../kernel/scopes.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { runInInstallation } from '../../../platform/tenancy/index.ts'

type Db = Kysely<AccessTables>

/** A project that a user can see, with the user's role. */
export type SeenProject = { organization_id: string; role: ProjectRole; is_archived: boolean }

/** The state of a user who is not disabled. */
export type UserState = {
  /** Access tokens with another number are invalid. */
  session_number: number
  must_change_password: boolean
}

/** Returns the state of a user; undefined for an unknown or disabled one. */
export function readUserState(db: Db, user_id: string): Promise<UserState | undefined> {
  return db
    .selectFrom('users')
    .select(['session_number', 'must_change_password'])
    .where('id', '=', user_id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
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

/** Returns the user's role in a project, which may be archived; undefined without a role. */
export async function readProjectRole(
  db: Db,
  { user_id, project_id }: { user_id: string; project_id: string },
): Promise<SeenProject | undefined> {
  const row = await allMemberships(db, user_id)
    .select(['organization_members.role as organization_role', 'projects.organization_id'])
    .select('projects.archived_at')
    .select('project_members.role as project_role')
    .where('projects.id', '=', project_id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const role = effectiveRole(row)
  const { organization_id, archived_at } = row
  return role && { organization_id, role, is_archived: archived_at !== null }
}

/**
 * Returns the project for calls without a project: the user's default project, or else the only
 * project that the user can see. Undefined when the default is not visible, or when there is no
 * default and the user can see several projects or none.
 */
export async function readDefaultProject(db: Db, user_id: string): Promise<string | undefined> {
  const [first, second] = await visibleProjects(db, user_id)
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .select('projects.id')
    .select(
      sql<boolean>`users.default_project_id is not distinct from projects.id`.as('is_default'),
    )
    .orderBy('is_default', 'desc')
    .orderBy('projects.id')
    .limit(2)
    .execute()
  return first?.is_default === true || second === undefined ? first?.id : undefined
}

/**
 * Stores the only project that a user can see as their default. Call it before a change that lets
 * these users see further projects, so that their calls without a project keep their project.
 */
export async function keepOnlyProject(
  db: Db,
  who: { user_id: string } | { admins_of: string },
): Promise<void> {
  const users =
    'user_id' in who
      ? sql`select ${who.user_id}::uuid`
      : sql`select user_id from organization_members
            where organization_id = ${who.admins_of} and role in ('owner', 'admin')`
  // A project or organization shows only its own memberships, so that each person would have one.
  const statement = sql`
    with seen as (
      select members.user_id, (array_agg(projects.id))[1] as project_id
      from organization_members members
      join projects on projects.organization_id = members.organization_id
        and projects.archived_at is null
      left join project_members on project_members.project_id = projects.id
        and project_members.user_id = members.user_id
      where members.user_id in (${users})
        and (members.role in ('owner', 'admin') or project_members.role is not null)
      group by members.user_id having count(*) = 1
    )
    update users set default_project_id = seen.project_id
    from seen
    where users.id = seen.user_id and users.default_project_id is distinct from seen.project_id`
  await runInInstallation('projects of people in all organizations', () => statement.execute(db))
}

/**
 * Selects the projects that a user can see: by a role in them, or as owner or admin. Only archived
 * ones with `archived: true`, otherwise only the others.
 */
export function visibleProjects(db: Db, user_id: string, { archived = false } = {}) {
  const state = archived ? ('is not' as const) : ('is' as const)
  return allMemberships(db, user_id)
    .where('projects.archived_at', state, null)
    .where(({ eb, or }) =>
      or([
        eb('organization_members.role', 'in', ['owner', 'admin']),
        eb('project_members.role', 'is not', null),
      ]),
    )
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

/** Selects projects, with the user's roles in them and their organizations. */
function allMemberships(db: Db, user_id: string) {
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
}

/** Returns the enabled users with a role in a project whose id or (lower-case) e-mail is given. */
export async function findProjectMembers(
  db: Db,
  { project_id, named }: { project_id: string; named: readonly string[] },
): Promise<{ id: string; email: string }[]> {
  if (named.length === 0) return []
  return db
    .selectFrom('users')
    .innerJoin('organization_members as member', 'member.user_id', 'users.id')
    .innerJoin('projects', 'projects.organization_id', 'member.organization_id')
    .leftJoin('project_members as own', (join) =>
      join.onRef('own.project_id', '=', 'projects.id').onRef('own.user_id', '=', 'users.id'),
    )
    .select(['users.id', 'users.email'])
    .where('projects.id', '=', project_id)
    .where('users.disabled_at', 'is', null)
    .where(sql<boolean>`(member.role in ('owner', 'admin') or own.role is not null)`)
    .where(sql<boolean>`(users.email = any(${named}) or users.id::text = any(${named}))`)
    .execute()
}

/**
 * Moves the default of a claimed account to the organization that invited its owner: the earlier
 * default was chosen by another person, who could read the data that the owner's calls send.
 */
export async function moveDefaultProject(
  trx: Db,
  { user_id, organization_id }: { user_id: string; organization_id: string },
): Promise<void> {
  const [only, other] = await visibleProjects(trx, user_id)
    .select('projects.id')
    .where('projects.organization_id', '=', organization_id)
    .limit(2)
    .execute()
  if (only === undefined || other !== undefined) return
  await trx
    .updateTable('users')
    .set({ default_project_id: only.id })
    .where('id', '=', user_id)
    .execute()
}
