import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { lockOrganization } from '../organizations/store.ts'
import { keepOnlyProject } from '../roles/store.ts'
import {
  type GivenRoles,
  planRoles,
  type ResolvedGroupRole,
  type RoleChanges,
  rolesOfGroups,
  type StoredRoles,
} from './group-roles.ts'

type Db = Kysely<AccessTables>

/** A role that a group gives, as in the setting: organizations and projects by name. */
export type NamedGroupRole = { group: string; organization: string } & (
  | { role: 'owner' | 'admin' | 'member'; project?: never }
  | { role: 'admin' | 'editor' | 'viewer'; project: string }
)

/**
 * Returns the mapping with ids, and the entries that give no role because their organization or
 * project does not exist or is archived.
 */
export async function resolveMapping(
  db: Db,
  mapping: readonly NamedGroupRole[],
): Promise<{ resolved: ResolvedGroupRole[]; unknown: NamedGroupRole[] }> {
  const names = [...new Set(mapping.map(({ organization }) => organization))]
  if (names.length === 0) return { resolved: [], unknown: [] }
  const rows = await db
    .selectFrom('organizations')
    .leftJoin('projects', (join) =>
      join
        .onRef('projects.organization_id', '=', 'organizations.id')
        .on('projects.archived_at', 'is', null),
    )
    .select(['organizations.id as organization_id', 'organizations.name as organization'])
    .select(['projects.id as project_id', 'projects.name as project'])
    .where('organizations.name', 'in', names)
    .execute()
  const resolved: ResolvedGroupRole[] = []
  const unknown: NamedGroupRole[] = []
  for (const entry of mapping) {
    const { group, organization, project } = entry
    const row = rows.find(
      (one) => one.organization === organization && (project ?? one.project) === one.project,
    )
    if (row === undefined) unknown.push(entry)
    else if (entry.project === undefined) {
      resolved.push({ ...row, group, project_id: null, role: entry.role })
    } else if (row.project_id !== null) {
      resolved.push({ ...row, group, project_id: row.project_id, role: entry.role })
    }
  }
  return { resolved, unknown }
}

/** A role in an organization, or in a project of it; null without a role. */
type HeldRole = { organization_id: string; project_id: string | null; role: string | null }

/** Roles that groups changed: before and after, in the same order. */
type Applied = {
  before: HeldRole[]
  after: HeldRole[]
  /** Organizations whose last owner the groups would have removed. */
  kept_owner_of: string[]
}

/**
 * Applies the groups of a person: in the organizations of the mapping, and where the person still
 * has roles by group. Run it in a transaction.
 */
export async function applyGroups(
  trx: Db,
  about: { user_id: string; groups: readonly string[]; mapping: ResolvedGroupRole[]; now: Date },
): Promise<Applied> {
  const { user_id, groups, mapping, now } = about
  const given = rolesOfGroups(mapping, groups)
  const touched = new Set([...given.keys(), ...(await organizationsByGroup(trx, user_id))])
  const applied: Applied = { before: [], after: [], kept_owner_of: [] }
  // In the order of ids, so that two sign-ins do not deadlock.
  for (const organization_id of [...touched].toSorted()) {
    await lockOrganization(trx, organization_id)
    const which = { user_id, organization_id }
    const roles = await storedRoles(trx, which)
    const changes = planRoles(roles, given.get(organization_id))
    if (changes.kept_last_owner) applied.kept_owner_of.push(organization_id)
    await writeChanges(trx, { ...which, now }, changes)
    const { before, after } = changedRoles(organization_id, roles, changes)
    applied.before.push(...before)
    applied.after.push(...after)
  }
  return applied
}

function changedRoles(
  organization_id: string,
  stored: StoredRoles,
  { member, projects }: RoleChanges,
): Pick<Applied, 'before' | 'after'> {
  const before: HeldRole[] = []
  const after: HeldRole[] = []
  const add = (project_id: string | null, was: string | undefined, is: string | null) => {
    before.push({ organization_id, project_id, role: was ?? null })
    after.push({ organization_id, project_id, role: is })
  }
  if (member !== undefined) add(null, stored.member?.role, member?.role ?? null)
  for (const [project_id, role] of projects)
    add(project_id, stored.projects.get(project_id)?.role, role)
  return { before, after }
}

/** Returns whether the groups of a person give any role. */
export function givesRole(mapping: readonly ResolvedGroupRole[], groups: readonly string[]) {
  const given: Map<string, GivenRoles> = rolesOfGroups(mapping, groups)
  return given.size > 0
}

async function organizationsByGroup(trx: Db, user_id: string): Promise<string[]> {
  const members = await trx
    .selectFrom('organization_members')
    .select('organization_id')
    .where('user_id', '=', user_id)
    .where('by_group', '=', true)
    .execute()
  const projects = await trx
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select('projects.organization_id')
    .where('user_id', '=', user_id)
    .where('by_group', '=', true)
    .execute()
  return [...members, ...projects].map(({ organization_id }) => organization_id)
}

type Which = { user_id: string; organization_id: string }

async function storedRoles(trx: Db, { user_id, organization_id }: Which): Promise<StoredRoles> {
  const rows = await trx
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .select(['user_id', 'role', 'by_group', 'by_resource', 'users.disabled_at'])
    .where('organization_id', '=', organization_id)
    .where(({ eb, or }) => or([eb('user_id', '=', user_id), eb('role', '=', 'owner')]))
    .execute()
  const projects = await trx
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select(['project_id', 'role', 'by_group', 'by_resource'])
    .where('projects.organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .execute()
  const others = rows.filter((row) => row.user_id !== user_id && row.disabled_at === null)
  return {
    member: rows.find((row) => row.user_id === user_id),
    projects: new Map(projects.map((row) => [row.project_id, row])),
    is_last_owner: others.length === 0,
  }
}

async function writeChanges(
  trx: Db,
  { user_id, organization_id, now }: Which & { now: Date },
  { member, projects }: RoleChanges,
): Promise<void> {
  if (member || projects.size > 0) await keepOnlyProject(trx, { user_id })
  if (member) {
    const { role, by_group, by_resource } = member
    const columns = { role, by_group, by_resource }
    await trx
      .insertInto('organization_members')
      .values({ organization_id, user_id, created_at: now, ...columns })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'user_id']).doUpdateSet(columns),
      )
      .execute()
  }
  for (const [project_id, role] of projects) {
    if (role === null) {
      const rows = trx.deleteFrom('project_members').where('user_id', '=', user_id)
      await rows.where('project_id', '=', project_id).where('by_group', '=', true).execute()
      continue
    }
    await trx
      .insertInto('project_members')
      .values({ project_id, user_id, role, created_at: now, by_group: true })
      .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
      .execute()
  }
  if (member === null) {
    const rows = trx.deleteFrom('organization_members').where('user_id', '=', user_id)
    await rows.where('organization_id', '=', organization_id).execute()
  }
}
