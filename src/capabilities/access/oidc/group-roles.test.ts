import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { organizationRoles, projectRoles } from '../../../kernel/scopes.ts'
import {
  type GivenRoles,
  planRoles,
  type ResolvedGroupRole,
  type RoleChanges,
  rolesOfGroups,
  type StoredRoles,
} from './group-roles.ts'

const entry = (group: string, role: 'owner' | 'admin' | 'member'): ResolvedGroupRole => ({
  ...{ group, role, organization_id: 'o', project_id: null },
})
const project = (
  group: string,
  project_id: string,
  role: 'admin' | 'editor' | 'viewer',
): ResolvedGroupRole => ({ group, role, organization_id: 'o', project_id })

describe('roles of groups', () => {
  test('the highest role counts, and a project role makes a member', () => {
    const mapping = [entry('a', 'member'), entry('b', 'admin'), project('c', 'p', 'viewer')]
    expect(rolesOfGroups(mapping, ['a', 'b']).get('o')?.role).toBe('admin')
    expect(rolesOfGroups(mapping, ['c']).get('o')).toEqual({
      ...{ role: 'member', projects: new Map([['p', 'viewer']]) },
    })
    const two = [project('a', 'p', 'editor'), project('b', 'p', 'viewer')]
    expect(rolesOfGroups(two, ['a', 'b']).get('o')?.projects.get('p')).toBe('editor')
  })

  test('groups are compared exactly', () => {
    expect(rolesOfGroups([entry('Admins', 'owner')], ['admins', 'Admins ', '*']).size).toBe(0)
  })
})

const origin = fc.constantFrom(
  { by_group: false, by_resource: false },
  { by_group: true, by_resource: false },
  { by_group: false, by_resource: true },
)
const ids = fc.constantFrom('p', 'q', 'r')
const organizationRole = fc.constantFrom(...organizationRoles)
const projectRole = fc.constantFrom(...projectRoles)
const held = fc.tuple(projectRole, origin).map(([role, from]) => ({ role, ...from }))
const storedRoles: fc.Arbitrary<StoredRoles> = fc.record({
  member: fc.option(
    fc.tuple(organizationRole, origin).map(([role, from]) => ({ role, ...from })),
    { nil: undefined },
  ),
  projects: fc.array(fc.tuple(ids, held)).map((pairs) => new Map(pairs)),
  is_last_owner: fc.boolean(),
})
const givenRoles: fc.Arbitrary<GivenRoles | undefined> = fc.option(
  fc.record({
    role: organizationRole,
    projects: fc.array(fc.tuple(ids, projectRole)).map((pairs) => new Map(pairs)),
  }),
  { nil: undefined },
)

/** Writes changes as the store does. */
function apply(stored: StoredRoles, changes: RoleChanges): StoredRoles {
  const projects = new Map(stored.projects)
  for (const [id, role] of changes.projects) {
    if (role === null) projects.delete(id)
    else projects.set(id, { role, by_group: true, by_resource: false })
  }
  const { member = stored.member } = changes
  return { ...stored, member: member ?? undefined, projects }
}

describe('a plan', () => {
  const holds = (check: (stored: StoredRoles, given: GivenRoles | undefined) => void) =>
    fc.assert(fc.property(storedRoles, givenRoles, check), { numRuns: 2_000 })

  test('never touches a role that a person gave, nor a project role of a resource', () =>
    holds((stored, given) => {
      const next = apply(stored, planRoles(stored, given))
      const { member } = stored
      if (member && !member.by_group && !member.by_resource) expect(next.member).toEqual(member)
      for (const [id, role] of stored.projects) {
        if (!role.by_group) expect(next.projects.get(id)).toEqual(role)
      }
    }))

  test('never removes or lowers the last owner', () =>
    holds((stored, given) => {
      if (stored.member?.role !== 'owner' || !stored.is_last_owner) return
      if (stored.member.by_resource) return
      expect(apply(stored, planRoles(stored, given)).member?.role).toBe('owner')
    }))

  test('leaves no role by group that the groups do not give', () =>
    holds((stored, given) => {
      const changes = planRoles(stored, given)
      const next = apply(stored, changes)
      for (const [id, { by_group, role }] of next.projects) {
        if (by_group) expect(given?.projects.get(id)).toBe(role)
      }
      if (!next.member?.by_group || changes.kept_last_owner) return
      expect(next.member.role).toBe(given?.role)
    }))

  test('is empty when it was applied', () =>
    holds((stored, given) => {
      const next = apply(stored, planRoles(stored, given))
      const again = planRoles(next, given)
      expect([again.member, again.projects.size]).toEqual([undefined, 0])
    }))

  test('without groups keeps the membership that other project roles need', () => {
    const by_group = { by_group: true, by_resource: false }
    const stored: StoredRoles = {
      member: { role: 'admin', ...by_group },
      projects: new Map([['p', { role: 'editor', by_group: false, by_resource: true }]]),
      is_last_owner: false,
    }
    expect(planRoles(stored, undefined).member).toEqual({
      ...{ role: 'member', by_group: false, by_resource: true },
    })
    const alone: StoredRoles = { ...stored, projects: new Map() }
    expect(planRoles(alone, undefined).member).toBeNull()
  })
})
