import { useParams } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import type { Project } from '../api/schema.gen.d.ts'
import { useSession } from './session.ts'

/** Maximum projects in the switch of the frame; the API's page. */
const projects_max = 200

/** Path of the list of projects, which is a part of the key of its reply. */
export const projectsKey = '/api/v2/access/projects'

/** Reads the projects of the person. */
export function useProjects() {
  return api.useQuery(
    'get',
    projectsKey,
    { params: { query: { limit: projects_max, archived: false } } },
    { staleTime: 60_000 },
  )
}

/** Returns the id of the project in the URL. Only for parts of the frame. */
export function useProjectId(): string {
  return useParams({ from: '/p/$project_id' }).project_id
}

/** Returns the project of the URL; undefined until the projects are read, and if it is foreign. */
export function useProject(): Project | undefined {
  const project_id = useProjectId()
  return useProjects().data?.projects.find(({ id }) => id === project_id)
}

const ranks = { viewer: 1, editor: 2, admin: 3 } as const

/**
 * Returns whether the person has at least this role in the project. The API decides anyway; this
 * only disables controls before they are used.
 */
export function useHasRole(role: keyof typeof ranks): boolean {
  const own = useProject()?.role
  const { data: session } = useSession()
  if (session?.installation_admin === true) return true
  return own !== null && own !== undefined && ranks[own] >= ranks[role]
}
