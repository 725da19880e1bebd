import { Link, useNavigate } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Task } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { rangeOf } from '../../app/time-range.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatCompact, formatDuration, formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Heading, Severity, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column, Sorting } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'

const page = 50

/** The list of tasks: what each one did, what it cost, and what went wrong. */
export function Tasks() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const [search, change] = useUrlState()
  const sorting = sortingOf(search['sort'], search['order'])
  const query = {
    ...rangeOf(search, Date.now()),
    ...(search['q'] !== undefined && { q: search['q'] }),
    sort: sorting.by as 'last_activity_at',
    order: sorting.order,
    limit: page,
  }
  const tasks = usePages(
    ['tasks', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v1/tasks', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.tasks,
  )
  return (
    <>
      <Heading title="Tasks" />
      <List
        label="Tasks"
        pages={tasks}
        columns={columns(project_id)}
        keyOf={(task) => task.task_id}
        onOpen={({ task_id }) =>
          void navigate({
            to: '/p/$project_id/tasks/$task_id',
            params: { project_id, task_id },
          })
        }
        sorting={sorting}
        onSort={({ by, order }) => change({ sort: by, order })}
        empty={<Empty title="No tasks in this range" />}
      />
    </>
  )
}

function sortingOf(by = 'last_activity_at', order = 'desc'): Sorting {
  return { by, order: order === 'asc' ? 'asc' : 'desc' }
}

const columns = (project_id: string): Column<Task>[] => [
  {
    id: 'task',
    head: 'Task',
    cell: (task) => (
      <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id: task.task_id }}>
        <Plain>{task.name}</Plain>
      </Link>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'worst_severity',
    head: 'Verdict',
    sortable: true,
    cell: ({ verdict }) => {
      if (verdict === null) return 'Not analysed yet'
      return (
        <>
          {verdict.worst_severity !== null && <Severity of={verdict.worst_severity} />}{' '}
          <Plain>{verdict.summary}</Plain>
        </>
      )
    },
  },
  {
    id: 'cost_usd',
    head: 'Cost',
    number: true,
    sortable: true,
    cell: ({ cost_usd }) => formatUsd(cost_usd),
  },
  {
    id: 'total_tokens',
    head: 'Tokens',
    number: true,
    wide: true,
    sortable: true,
    cell: ({ tokens }) => formatCompact(tokens.total),
  },
  {
    id: 'duration_ms',
    head: 'Duration',
    number: true,
    wide: true,
    sortable: true,
    cell: ({ duration_ms }) => formatDuration(duration_ms),
  },
  {
    id: 'last_activity_at',
    head: 'Last activity',
    number: true,
    sortable: true,
    cell: ({ last_activity_at }) => <Time at={last_activity_at} ago />,
  },
]
