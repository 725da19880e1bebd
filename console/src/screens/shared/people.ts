import { api } from '../../api/client.ts'
import type { IncidentRule } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'

const members_max = 200

/** Reads the members of the project, for choices and names. Only its administrators may see them. */
export function useMembers() {
  const project_id = useProjectId()
  const enabled = useHasRole('admin')
  return api.useQuery(
    'get',
    '/api/v2/access/projects/{project_id}/members',
    { params: { path: { project_id }, query: { limit: members_max } } },
    { staleTime: 60_000, enabled },
  )
}

/**
 * Returns a function that names who did something: `user:<id>` becomes the name or e-mail of a member.
 * Others, and people who left, keep their id.
 */
export function useNames(): (by: string) => string {
  const { data } = useMembers()
  const names = new Map(
    (data?.members ?? []).map(({ user_id, display_name, email }) => [
      user_id,
      display_name === '' ? email : display_name,
    ]),
  )
  return (by) => {
    const id = by.startsWith('user:') ? by.slice('user:'.length) : by
    return names.get(id) ?? by
  }
}

/** Returns the resource that declares a rule or channel, or who changed it last. */
export function ownerOf(
  { managed_by, updated_by }: Pick<IncidentRule, 'managed_by' | 'updated_by'>,
  nameOf: (by: string) => string,
): string {
  return managed_by === null ? nameOf(updated_by) : `${managed_by.namespace}/${managed_by.name}`
}
