import { currentProject, setProject } from '../api/client.ts'
import { projectsKey } from './project.ts'
import { queryClient } from './query-client.ts'
import { signInKey } from './session.ts'

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
