import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type {
  ConversationDetail,
  ConversationObservation,
  ConversationTask,
  ConversationTrace,
} from '../../api/schema.gen.d.ts'
import { useKeys } from '../../browser/keys.ts'
import { neighbours, rememberList } from '../../browser/list-walk.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCompact, formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Heading, Tile, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { MoreRows } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { taskColumns } from '../tasks/list/columns.tsx'
import { ContextTab } from './context-tab.tsx'
import css from './conversations.module.css'

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

const traces_max = 20

const observations_max = 50

const indent_px = 18

/** The traces of a conversation, by task, each with the observations near its top. */
function TraceTree({ conversation_id }: { conversation_id: string }) {
  const pages = usePages(
    ['trace tree', conversation_id],
    (cursor, signal) =>
      call.GET('/api/v1/conversations/{conversation_id}/trace-tree', {
        params: {
          path: { conversation_id },
          query: { limit: traces_max, observations: observations_max, cursor },
        },
        signal,
      }),
    (each) => each.tasks,
  )
  return (
    <Loaded query={pages} what="Reading traces">
      {() => (
        <>
          <h2 className={ui.visuallyHidden}>Traces</h2>
          {pages.rows.length === 0 && <Empty title="This conversation has no trace" />}
          <ul className={css.tree}>
            {pages.rows.map((task) => (
              // A task of many traces goes on on the next page.
              <TaskPart key={`${task.task_id} ${task.traces[0]?.trace_id}`} of={task} />
            ))}
          </ul>
          <MoreRows
            hasMore={pages.hasMore}
            isLoading={pages.isLoadingMore}
            loadMore={pages.loadMore}
          />
        </>
      )}
    </Loaded>
  )
}

function TaskPart({ of: { task_id, task, traces } }: { of: ConversationTask }) {
  const project_id = useProjectId()
  return (
    <li className={css.task}>
      <h3>
        {task_id === '' ? (
          'Without a task'
        ) : (
          <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
            <Plain>{task?.name || task_id}</Plain>
          </Link>
        )}
      </h3>
      {traces.map((trace) => (
        <TracePart key={trace.trace_id} of={trace} />
      ))}
    </li>
  )
}

function TracePart({ of: trace }: { of: ConversationTrace }) {
  const project_id = useProjectId()
  const [{ trace: opened = '' }, change] = useUrlState()
  const { trace_id, rollup, observations, duration_ms } = trace
  const ids = new Set(opened.split(',').filter(Boolean))
  const isOpen = ids.has(trace_id)
  const toggle = () => {
    if (!ids.delete(trace_id)) ids.add(trace_id)
    change({ trace: [...ids].join(',') })
  }
  const first = observations[0]?.name ?? ''
  return (
    <div className={css.trace}>
      <div className={css.node}>
        <Button small look="plain" aria-expanded={isOpen} onClick={toggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <Plain>{first || 'trace'}</Plain>
        </Button>
        <span className={ui.soft}>
          {formatDuration(duration_ms)} · {formatCount(rollup.observations)} observations ·{' '}
          {formatUsd(rollup.cost_usd)}
        </span>
        {rollup.errors > 0 && <Badge tone="bad">{formatCount(rollup.errors)} failed</Badge>}
        <Link to="/p/$project_id/traces/$trace_id" params={{ project_id, trace_id }}>
          Open the trace
        </Link>
      </div>
      {isOpen && (
        <>
          {observations.map((each) => (
            <Observation key={each.node_id} of={each} />
          ))}
          {rollup.observations > observations.length && (
            <p className={ui.soft}>
              {formatCount(rollup.observations - observations.length)} more observations are in the
              trace.
            </p>
          )}
        </>
      )}
    </div>
  )
}

function Observation({ of }: { of: ConversationObservation }) {
  const { depth, type, name, status, duration_ms, rollup } = of
  return (
    <div className={css.node} style={{ paddingLeft: (depth + 1) * indent_px }}>
      <Plain>{name}</Plain>
      <span className={ui.soft}>
        {type} · {formatDuration(duration_ms)}
        {Number(rollup.cost_usd) > 0 && ` · ${formatUsd(rollup.cost_usd)}`}
      </span>
      {status === 'error' && <Badge tone="bad">failed</Badge>}
    </div>
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
