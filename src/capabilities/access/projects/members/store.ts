import type { OrganizationRole, ProjectRole } from '../../../../kernel/scopes.ts'
import type { IdPage } from '../../../../model/id-pages.ts'
import { type AccessTables, type Kysely, sql } from '../../../../platform/relational/index.ts'
import { endDeclarations } from '../../invitations/declared-membership.ts'
import {
  insertInvitation,
  type NewInvitation,
  type StoredInvitation,
} from '../../invitations/store.ts'
import { readById } from '../../read-by-id.ts'
import { keepOnlyProject } from '../../roles/store.ts'
import { lockProjectOrganization } from '../store.ts'

type Db = Kysely<AccessTables>

/** A person of a project's organization; `project_role` is null for one without a project role. */
export type ProjectMemberRow = {
  user_id: string
  email: string
  display_name: string
  organization_role: OrganizationRole
  project_role: ProjectRole | null
  /** Version of the project role; 0 without one. */
  version: number
}

/**
 * Returns the people who can see a project: its members, and the organization's owners and admins.
 */
export function listProjectMembers(
  db: Db,
  { project_id, ...page }: IdPage & { project_id: string },
): Promise<{ rows: ProjectMemberRow[]; counted: number }> {
  return readById(db, peopleSeeing(db, project_id).select(memberColumns), 'users.id', page)
}

type NewRole = { project_id: string; user_id: string; role: ProjectRole }

/** Returns a person who can see a project. */
export function findProjectMember(
  db: Db,
  { project_id, user_id }: { project_id: string; user_id: string },
): Promise<ProjectMemberRow | undefined> {
  return peopleSeeing(db, project_id)
    .select(memberColumns)
    .where('users.id', '=', user_id)
    .executeTakeFirst()
}

/** Sets a person's project role; undefined for a person outside of the project's organization. */
export function putProjectMember(
  db: Db,
  { now, check, ...member }: NewRole & { now: Date; check: (version: number) => void },
): Promise<ProjectMemberRow | undefined> {
  const { project_id, user_id } = member
  return db.transaction().execute(async (trx) => {
    if ((await lockProjectOrganization(trx, project_id)) === undefined) return undefined
    const person = await people(trx, project_id)
      .select(memberColumns)
      .where('users.id', '=', user_id)
      .executeTakeFirst()
    if (person === undefined) return undefined
    check(person.version)
    // After the check above: nothing of a person of another organization may change.
    await keepOnlyProject(trx, { user_id })
    await upsertRole(trx, { ...member, created_at: now })
    return findProjectMember(trx, { project_id, user_id })
  })
}

/**
 * Sets the role of a person who can see the project, or else invites the person. Undefined for an
 * archived project.
 */
export function inviteToProject(
  db: Db,
  given: Omit<NewInvitation, 'organization_id' | 'role' | 'projects' | 'project_id'> & {
    project_id: string
    role: ProjectRole
  },
): Promise<{ member: ProjectMemberRow } | StoredInvitation | undefined> {
  const { project_id, email, role, link } = given
  return db.transaction().execute(async (trx) => {
    const organization_id = await lockProjectOrganization(trx, project_id)
    if (organization_id === undefined) return undefined
    const member = await peopleSeeing(trx, project_id)
      .select(memberColumns)
      .where('users.email', '=', email)
      .executeTakeFirst()
    if (member !== undefined) {
      const row = { project_id, user_id: member.user_id, role, created_at: link.now }
      await upsertRole(trx, row)
      const changed = await findProjectMember(trx, row)
      return { member: changed ?? member }
    }
    const projects = [{ project_id, role }]
    return insertInvitation(trx, { ...given, organization_id, role: 'member', projects })
  })
}

async function upsertRole(trx: Db, row: NewRole & { created_at: Date }): Promise<void> {
  await trx
    .insertInto('project_members')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'user_id'])
        .doUpdateSet({ role: row.role, by_resource: false, by_group: false }),
    )
    .execute()
}

/**
 * Removes a person's project role, and ends the declarations of resources that gave it; false when
 * they had none.
 */
export function deleteProjectMember(
  db: Db,
  { project_id, user_id, now }: { project_id: string; user_id: string; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const locked = await lockProjectOrganization(trx, project_id, { in_archived: true })
    if (locked === undefined) return false
    const row = await trx
      .deleteFrom('project_members')
      .where('project_id', '=', project_id)
      .where('user_id', '=', user_id)
      .returning('user_id')
      .executeTakeFirst()
    await endDeclarations(trx, { project_id, user_id, now })
    return row !== undefined
  })
}

const memberColumns = [
  'users.id as user_id',
  'users.email',
  'users.display_name',
  'organization_members.role as organization_role',
  'project_members.role as project_role',
  sql<number>`coalesce(project_members.version, 0)`.as('version'),
] as const

function peopleSeeing(db: Db, project_id: string) {
  return people(db, project_id).where(({ eb, or }) =>
    or([
      eb('organization_members.role', 'in', ['owner', 'admin']),
      eb('project_members.role', 'is not', null),
    ]),
  )
}

function people(db: Db, project_id: string) {
  return db
    .selectFrom('projects')
    .innerJoin(
      'organization_members',
      'organization_members.organization_id',
      'projects.organization_id',
    )
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'projects.id')
        .onRef('project_members.user_id', '=', 'users.id'),
    )
    .where('projects.id', '=', project_id)
}
