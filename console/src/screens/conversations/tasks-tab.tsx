import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ConversationDetail } from '../../api/schema.gen.d.ts'
import { rememberList } from '../../app/list-walk.ts'
import { useLive } from '../../app/live.ts'
import { useProjectId } from '../../app/project.ts'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { taskColumns } from '../tasks/list/columns.tsx'

const page_max = 50

/** The tasks of a conversation in the order they started. */
export function TasksTab({ conversation }: { conversation: ConversationDetail }) {
  const { conversation_id } = conversation
  const project_id = useProjectId()
  const navigate = useNavigate()
  const pages = usePages(
    ['tasks', project_id, { conversation_id }],
    (cursor, signal) =>
      call.GET('/api/v1/tasks', {
        params: {
          query: { conversation_id, sort: 'started_at', order: 'asc', limit: page_max, cursor },
        },
        signal,
      }),
    (each) => each.tasks,
  )
  useLive('tasks', ({ ids, isReset }) => {
    if (isReset || pages.rows.some(({ task_id }) => ids.includes(task_id))) void pages.refetch()
  })
  const note = () => {
    const href = `/p/${project_id}/conversations/${conversation_id}`
    rememberList('tasks', { ids: pages.rows.map(({ task_id }) => task_id), href })
  }
  return (
    <div onClickCapture={note}>
      <h2 className={ui.visuallyHidden}>Tasks</h2>
      <List
        label="Tasks of the conversation"
        pages={pages}
        columns={taskColumns(project_id, pages.rows).map((column) => ({
          ...column,
          sortable: false,
        }))}
        keyOf={({ task_id }) => task_id}
        onOpen={({ task_id }) => {
          note()
          void navigate({ to: '/p/$project_id/tasks/$task_id', params: { project_id, task_id } })
        }}
        empty={<Empty title="This conversation has no task" />}
      />
    </div>
  )
}
