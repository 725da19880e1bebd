import { Navigate } from '@tanstack/react-router'
import { useProjects } from '../session/project.ts'
import { useSession } from '../session/session.ts'
import { Empty, Fault, Loading } from '../ui/states.tsx'

const storedAs = 'looptrace.project'

/** Notes the project that opens first the next time. */
export function rememberProject(project_id: string): void {
  localStorage.setItem(storedAs, project_id)
}

/** The address `/`: opens the last project, or the first one of the person. */
export function FirstProject() {
  const session = useSession()
  if (session.error) return <Fault error={session.error} retry={() => void session.refetch()} />
  if (session.data === undefined) return <Loading />
  if (session.data === null) return <Navigate to="/sign-in" search={{} as never} />
  if (session.data.must_change_password) return <Navigate to="/set-password" />
  return <OpenFirst />
}

function OpenFirst() {
  const { data, error, refetch } = useProjects()
  if (error) return <Fault error={error} retry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const last = localStorage.getItem(storedAs)
  const project = data.projects.find(({ id }) => id === last) ?? data.projects[0]
  if (project === undefined) {
    return (
      <Empty title="You are not a member of a project">
        <p>Ask an administrator for an invitation, then open this page again.</p>
      </Empty>
    )
  }
  return <Navigate to="/p/$project_id/tasks" params={{ project_id: project.id }} replace />
}
