import { useParams } from '@tanstack/react-router'
import { api, currentProject, setProject } from '../api/client.ts'
import type { Project } from '../api/schema.gen.d.ts'
import { queryClient } from './query-client.ts'
import { signInKey, useSession } from './session.ts'

/** Maximum projects in the switch of the frame; the API's page. */
const projects_max = 200

/** Path of the list of projects, which is a part of the key of its reply. */
const projectsKey = '/api/v2/access/projects'

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

/** Replies that are the same in every project; the frame shows them while the project changes. */
const shared = new Set<unknown>([signInKey[0], projectsKey])

/**
 * Makes a project the one of all later calls. Replies of the project before are forgotten: their
 * keys do not name a project, so the next screen would show rows of another one.
 */
export function enterProject(project_id: string): void {
  const before = currentProject()
  if (before === project_id) return
  setProject(project_id)
  if (before === undefined) return
  queryClient.removeQueries({
    predicate: ({ queryKey }) => !queryKey.some((part) => shared.has(part)),
  })
}
