import {
  type OrganizationRole,
  organizationRoles,
  type ProjectRole,
  projectRoles,
} from '../../../kernel/scopes.ts'

/** A role that a group gives, with the ids of the organization and project that it names. */
export type ResolvedGroupRole = { group: string; organization_id: string } & (
  | { project_id: null; role: OrganizationRole }
  | { project_id: string; role: ProjectRole }
)

/** Roles that the groups of a person give in one organization. */
export type GivenRoles = { role: OrganizationRole; projects: Map<string, ProjectRole> }

/**
 * Returns the highest roles that groups give, by organization. A project role also makes its person
 * a member of the organization.
 */
export function rolesOfGroups(
  mapping: readonly ResolvedGroupRole[],
  groups: readonly string[],
): Map<string, GivenRoles> {
  const given = new Map<string, GivenRoles>()
  const own = new Set(groups)
  for (const entry of mapping) {
    if (!own.has(entry.group)) continue
    const { organization_id } = entry
    const roles = given.get(organization_id) ?? { role: 'member', projects: new Map() }
    given.set(organization_id, roles)
    if (entry.project_id === null) {
      roles.role = higher(organizationRoles, roles.role, entry.role)
      continue
    }
    const before = roles.projects.get(entry.project_id) ?? entry.role
    roles.projects.set(entry.project_id, higher(projectRoles, before, entry.role))
  }
  return given
}

function higher<R>(order: readonly R[], a: R, b: R): R {
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}

/** The origin of a stored role. If both are missing, a person gave the role. */
type Origin = { by_group: boolean; by_resource: boolean }

/** A person's stored roles in an organization. */
export type StoredRoles = {
  /** Undefined for a person who is not a member. */
  member: ({ role: OrganizationRole } & Origin) | undefined
  projects: Map<string, { role: ProjectRole } & Origin>
  /** Whether the person is the only owner who can sign in. */
  is_last_owner: boolean
}

/** Changes of a person's roles in an organization. */
export type RoleChanges = {
  /** New membership; null ends it, undefined leaves it. */
  member: ({ role: OrganizationRole } & Origin) | null | undefined
  /** Role by group of a project; null ends it. */
  projects: Map<string, ProjectRole | null>
  /** Whether a role was kept only because the organization would have no owner. */
  kept_last_owner: boolean
}

/**
 * Decides how the groups of a person change the roles in one organization. Roles that a person gave
 * and project roles that a resource declares stay. Roles from groups follow the groups, but the
 * last owner remains owner. A person with other project roles remains a member.
 */
export function planRoles(stored: StoredRoles, given: GivenRoles | undefined): RoleChanges {
  const projects = planProjects(stored.projects, given?.projects ?? new Map())
  const { member } = stored
  const plan = (next: RoleChanges['member'], kept_last_owner = false) => ({
    member: next,
    projects,
    kept_last_owner,
  })
  if (member !== undefined && !member.by_group && !member.by_resource) return plan(undefined)
  const next = given && { role: given.role, by_group: true, by_resource: false }
  if (member === undefined) return plan(next)
  if (!member.by_group) return plan(next)
  if (next?.role === member.role) return plan(undefined)
  if (member.role === 'owner' && stored.is_last_owner) return plan(undefined, true)
  if (next !== undefined) return plan(next)
  const others = [...stored.projects.values()].filter(({ by_group }) => !by_group)
  if (others.length === 0) return plan(null)
  const by_resource = others.every((role) => role.by_resource)
  return plan({ role: 'member', by_group: false, by_resource })
}

function planProjects(
  stored: StoredRoles['projects'],
  given: ReadonlyMap<string, ProjectRole>,
): RoleChanges['projects'] {
  const changes: RoleChanges['projects'] = new Map()
  for (const [project_id, role] of given) {
    const before = stored.get(project_id)
    const isOurs = before === undefined || before.by_group
    if (isOurs && before?.role !== role) changes.set(project_id, role)
  }
  for (const [project_id, { by_group }] of stored) {
    if (by_group && !given.has(project_id)) changes.set(project_id, null)
  }
  return changes
}
