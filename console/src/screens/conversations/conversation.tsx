import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ConversationDetail } from '../../api/schema.gen.d.ts'
import { useKeys } from '../../browser/keys.ts'
import { neighbours, rememberList } from '../../browser/list-walk.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCompact, formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Heading, Tile, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { taskColumns } from '../tasks/list/columns.tsx'
import { ContextTab } from './context-tab.tsx'
import css from './conversations.module.css'
import { TraceTree } from './trace-tree.tsx'

/** One conversation: its tasks in order, what the agent forgot, and its traces. */
export function Conversation() {
  const { conversation_id } = useParams({ from: '/p/$project_id/conversations/$conversation_id' })
  const project_id = useProjectId()
  useWalk(conversation_id)
  const query = api.useQuery('get', '/api/v1/conversations/{conversation_id}', {
    params: { path: { conversation_id } },
  })
  useLive('tasks', ({ ids, isReset }) => {
    const isOwn = query.data?.tasks.some(({ task_id }) => ids.includes(task_id)) === true
    if (isReset || isOwn) void query.refetch()
  })
  const name = query.data?.external_id ?? query.data?.conversation_id ?? 'Conversation'
  return (
    <>
      <Heading title={<Plain>{name}</Plain>}>
        <Link to="/p/$project_id/conversations" params={{ project_id }}>
          All conversations
        </Link>
      </Heading>
      <Loaded query={query} what="Reading the conversation">
        {(conversation) => (
          <>
            <Head of={conversation} />
            <Tabs
              label="Views of the conversation"
              tabs={[
                {
                  id: 'tasks',
                  title: `Tasks (${formatCount(conversation.total_tasks)})`,
                  render: () => <TasksTab conversation={conversation} />,
                },
                {
                  id: 'context',
                  title: 'Context',
                  render: () => <ContextTab conversation_id={conversation.conversation_id} />,
                },
                {
                  id: 'traces',
                  title: `Traces (${formatCount(conversation.total_traces)})`,
                  render: () => <TraceTree conversation_id={conversation.conversation_id} />,
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </>
  )
}

/** `[` and `]` go to the neighbours in the list that the reader came from. */
function useWalk(conversation_id: string): void {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const around = neighbours('conversations', conversation_id)
  const go = (id: string | undefined) => {
    if (id === undefined) return
    const params = { project_id, conversation_id: id }
    void navigate({ to: '/p/$project_id/conversations/$conversation_id', params })
  }
  useKeys({ '[': () => go(around?.previous), ']': () => go(around?.next) })
}

function Head({ of }: { of: ConversationDetail }) {
  const { user_id, models, task_states, errors } = of
  return (
    <>
      <p className={ui.soft}>
        {user_id !== null && (
          <>
            User <Plain>{user_id}</Plain> ·{' '}
          </>
        )}
        <Plain>{models.join(', ')}</Plain> · started <Time at={of.started_at} /> · active{' '}
        <Time at={of.last_activity_at} ago />
      </p>
      <div className={css.numbers}>
        <Tile name="Tasks failed">{formatCount(task_states.failed)}</Tile>
        <Tile name="Tasks running">
          {formatCount(task_states.running)}
          {task_states.stalled > 0 && ` (${formatCount(task_states.stalled)} stalled)`}
        </Tile>
        <Tile name="Model calls">
          {formatCount(of.calls)}
          {errors > 0 && ` (${formatCount(errors)} failed)`}
        </Tile>
        <Tile name="Tokens">{formatCompact(of.total_tokens)}</Tile>
        <Tile name="Cost">{formatUsd(of.cost_usd)}</Tile>
        <Tile name="Duration">{formatDuration(of.duration_ms)}</Tile>
      </div>
    </>
  )
}

const page_max = 50

/** The tasks of a conversation in the order they started. */
function TasksTab({ conversation }: { conversation: ConversationDetail }) {
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
