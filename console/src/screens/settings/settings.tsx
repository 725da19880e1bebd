import { api } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../app/project.ts'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Badge, Heading } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ArchiveProject } from './archive-project.tsx'
import { Capture } from './capture.tsx'
import { Detection } from './detection.tsx'
import { Environments } from './environments.tsx'
import { General } from './general.tsx'
import { TaskRules } from './task-rules.tsx'

/** The settings of a project: its name, capture, detection and environments. */
export function Settings() {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const project = api.useQuery('get', '/api/v2/access/projects/{project_id}', {
    params: { path: { project_id } },
  })
  return (
    <>
      <Heading title="Settings">
        {project.data?.archived_at && <Badge tone="warn">archived</Badge>}
      </Heading>
      {!isAdmin && <NeedsRole what="Changing settings" needs="admin in the project" />}
      <Loaded query={project} what="Reading the project">
        {(stored) => {
          const mayChange = isAdmin && stored.managed_by === null
          const own = { project: stored, mayChange, reload: () => void project.refetch() }
          return (
            <>
              <ManagedBy by={stored.managed_by} />
              <Tabs
                label="Settings"
                tabs={[
                  { id: 'general', title: 'General', render: () => <General {...own} /> },
                  {
                    id: 'environments',
                    title: 'Environments',
                    render: () => <Environments {...own} />,
                  },
                  { id: 'tasks', title: 'Task rules', render: () => <TaskRules {...own} /> },
                  { id: 'capture', title: 'Capture', render: () => <Capture isAdmin={isAdmin} /> },
                  {
                    id: 'detection',
                    title: 'Detection',
                    render: () => <Detection isAdmin={isAdmin} />,
                  },
                  { id: 'archive', title: 'Archive', render: () => <ArchiveProject {...own} /> },
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </>
  )
}
