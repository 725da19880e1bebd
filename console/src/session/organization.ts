import { api } from '../api/client.ts'
import type { Organization } from '../api/schema.gen.d.ts'
import { useProject } from './project.ts'

const organizations_max = 200

/** Returns the organization of the project with the person's role; undefined for those outside it. */
export function useOrganization(): Organization | undefined {
  const project = useProject()
  const { data } = api.useQuery(
    'get',
    '/api/v2/access/organizations',
    { params: { query: { limit: organizations_max } } },
    { staleTime: 60_000 },
  )
  return data?.organizations.find(({ id }) => id === project?.organization_id)
}

/** Returns whether the person administers the organization. */
export function isOrganizationAdmin(organization: Organization | undefined): boolean {
  return organization?.role === 'admin' || organization?.role === 'owner'
}
