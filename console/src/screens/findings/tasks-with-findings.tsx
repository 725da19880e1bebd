import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Task } from '../../api/schema.gen.d.ts'
import { shownNumber } from '../../browser/shown-number.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCompact, formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Severity, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column, Sorting } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { type FindingsFilter, windowOf } from './findings-query.ts'

const page = 50
const sorts = ['worst_severity', 'wasted_cost_usd', 'wasted_tokens', 'last_activity_at'] as const

/** The tasks that have findings of the filter, the worst first. */
export function TasksWithFindings({ filter }: { filter: FindingsFilter }) {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const { kind, type, severity } = filter
  const sort = sorts.find((each) => each === search['sort']) ?? 'worst_severity'
  const sorting: Sorting = { by: sort, order: search['order'] === 'asc' ? 'asc' : 'desc' }
  const query = {
    ...windowOf(filter),
    severity_min: severity ?? ('info' as const),
    ...(kind && { finding_kind: kind }),
    ...(type && { finding_type: type }),
    sort,
    order: sorting.order,
    limit: page,
  }
  const tasks = usePages(
    ['tasks', project_id, 'with findings', query],
    (cursor, signal) =>
      call.GET('/api/v1/tasks', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.tasks,
  )
  return (
    <List
      label="Tasks with findings"
      pages={tasks}
      columns={columns(project_id)}
      keyOf={({ task_id }) => task_id}
      sorting={sorting}
      onSort={({ by, order }) => change({ sort: by, order })}
      empty={<Empty title="No task with findings in this range" />}
    />
  )
}

const columns = (project_id: string): Column<Task>[] => [
  {
    id: 'worst_severity',
    head: 'Worst',
    sortable: true,
    cell: ({ verdict }) =>
      verdict?.worst_severity ? <Severity of={verdict.worst_severity} /> : '–',
  },
  {
    id: 'task',
    head: 'Task',
    cell: ({ task_id, name, verdict }) => {
      const step = verdict?.root_cause?.step
      const search = step === undefined || step === null ? {} : { step: shownNumber(step) }
      return (
        <Link
          to="/p/$project_id/tasks/$task_id"
          params={{ project_id, task_id }}
          search={search as never}
        >
          <Plain>{name === '' ? task_id : name}</Plain>
        </Link>
      )
    },
  },
  {
    id: 'verdict',
    head: 'Verdict',
    cell: ({ verdict }) => <Plain>{verdict?.summary ?? 'Not analysed yet'}</Plain>,
  },
  { id: 'state', head: 'State', wide: true, cell: ({ state }) => <State of={state} /> },
  {
    id: 'wasted_cost_usd',
    head: 'Wasted',
    number: true,
    sortable: true,
    cell: ({ verdict }) => formatUsd(verdict?.wasted_cost_usd ?? '0'),
  },
  {
    id: 'wasted_tokens',
    head: 'Tokens',
    number: true,
    wide: true,
    sortable: true,
    cell: ({ verdict }) => formatCompact(verdict?.wasted_tokens ?? 0),
  },
  {
    id: 'last_activity_at',
    head: 'Last activity',
    number: true,
    wide: true,
    sortable: true,
    cell: ({ last_activity_at }) => <Time at={last_activity_at} ago />,
  },
]
