import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api, call } from '../../api/client.ts'
import { type Pages, usePages } from '../../api/pages.ts'
import type { Task, TaskList } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useKeys } from '../../browser/keys.ts'
import { rememberList } from '../../browser/list-walk.ts'
import type { Search } from '../../browser/search.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { type NewRows, useNewRows } from '../../session/new-rows.ts'
import { useProjectId } from '../../session/project.ts'
import { FilterField } from '../../ui/filter-field.tsx'
import { type KnownValues, proposeFilter } from '../../ui/filter-language.ts'
import { formatCompact, formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { NewRowsButton } from '../../ui/new-rows-button.tsx'
import { Button, Facts, Heading, Severity } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Sorting } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { TaskState, taskColumns } from './list/columns.tsx'
import css from './list/list.module.css'
import { parseTaskFilter, taskFields } from './list/task-filter.ts'

/** Columns that have room beside the peek. */
const besidePeek = new Set(['task', 'state', 'worst_severity', 'cost_usd'])

/** The list of tasks: what each one did, what it cost, and what went wrong. */
export function Tasks() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const { href } = useLocation()
  const [search, change] = useUrlState()
  const { tasks, fresh } = useTaskList(project_id, search)
  const { rows } = tasks
  const peeked = rows.find(({ task_id }) => task_id === search['peek'])
  const columns = taskColumns(project_id, rows)
  const closePeek = () => change({ peek: undefined })
  useKeys(peeked === undefined ? {} : { escape: closePeek })
  const open = ({ task_id }: Task) => {
    rememberList('tasks', { ids: rows.map((row) => row.task_id), href })
    void navigate({ to: '/p/$project_id/tasks/$task_id', params: { project_id, task_id } })
  }
  return (
    <>
      <Heading title="Tasks">
        <NewRowsButton count={fresh.count} show={fresh.show} />
        {tasks.total !== undefined && (
          <span className={ui.soft}>{formatCount(tasks.total)} tasks</span>
        )}
      </Heading>
      <Filter rows={rows} />
      <div
        className={peeked === undefined ? css.page : css.withPeek}
        onClickCapture={() => rememberList('tasks', { ids: rows.map((row) => row.task_id), href })}
      >
        <List
          label="Tasks"
          pages={tasks}
          columns={peeked === undefined ? columns : columns.filter(({ id }) => besidePeek.has(id))}
          keyOf={(task) => task.task_id}
          onOpen={open}
          peek={{ at: peeked?.task_id, show: (row) => change({ peek: row?.task_id }) }}
          sorting={sortingOf(search)}
          onSort={({ by, order }) => change({ sort: by, order })}
          empty={<NoTasks project_id={project_id} isFiltered={(search['q'] ?? '') !== ''} />}
        />
        {peeked && <Peek project_id={project_id} task={peeked} onClose={closePeek} />}
      </div>
    </>
  )
}

function Filter({ rows }: { rows: readonly Task[] }) {
  const [{ q = '' }, change] = useUrlState()
  const known = useMemo(() => knownValues(rows), [rows])
  const { faults } = parseTaskFilter(q)
  return (
    <FilterField
      label="Filter tasks"
      placeholder="Filter: state:failed severity:high model:… cost>0.1 words"
      value={q}
      onApply={(text) => change({ q: text, peek: undefined }, { push: true })}
      propose={(text, cursor) => proposeFilter(taskFields, { text, cursor, known })}
      faults={faults}
    />
  )
}

/** Returns the values of the rows that a filter can name. */
function knownValues(rows: readonly Task[]): KnownValues {
  const distinct = (valuesOf: (task: Task) => readonly (string | null | undefined)[]) =>
    [...new Set(rows.flatMap(valuesOf))].filter((value) => typeof value === 'string').sort()
  return {
    model: distinct(({ models }) => models),
    user: distinct(({ user_id }) => [user_id]),
    conversation: distinct(({ conversation }) => [conversation?.external_id ?? conversation?.id]),
    release: distinct(({ release }) => [release]),
    environment: distinct(({ environment }) => [environment]),
    cluster: distinct(({ cluster_name }) => [cluster_name]),
    finding: distinct(({ verdict }) => [verdict?.root_cause?.type]),
  }
}

function NoTasks({ project_id, isFiltered }: { project_id: string; isFiltered: boolean }) {
  const [, change] = useUrlState()
  if (isFiltered) {
    return (
      <Empty title="No task matches the filter in this range">
        <p>Remove a part of the filter, or choose a longer range.</p>
        <Button onClick={() => change({ q: undefined })}>Clear the filter</Button>
      </Empty>
    )
  }
  return (
    <Empty title="No tasks in this range">
      <p>A task appears here seconds after the first call of your agent.</p>
      <p>
        <Link to="/p/$project_id/connect" params={{ project_id }}>
          Connect your agent
        </Link>
        , or choose a longer range.
      </p>
      <Button onClick={() => change({ from: '-30d', to: undefined })}>Last 30 days</Button>
    </Empty>
  )
}

const page_max = 50

/** Returns the sorting of a URL. */
function sortingOf({ sort = 'last_activity_at', order = 'desc' }: Search): Sorting {
  return { by: sort, order: order === 'asc' ? 'asc' : 'desc' }
}

/**
 * Reads the tasks of a URL: range, filter, sorting. The key has the range as it is written, so that
 * the list does not start again as time goes on; new tasks wait.
 */
function useTaskList(project_id: string, search: Search): { tasks: Pages<Task>; fresh: NewRows } {
  const { from, to, q = '' } = search
  const sorting = sortingOf(search)
  const key = ['tasks', project_id, { from, to, q, ...sorting }]
  const read = (cursor?: string, signal?: AbortSignal) => {
    const query = {
      ...rangeOf(search, serverNow()),
      ...parseTaskFilter(q).query,
      sort: sorting.by as 'last_activity_at',
      order: sorting.order,
      limit: page_max,
    }
    const rest = signal === undefined ? {} : { signal }
    return call.GET('/api/v1/tasks', { params: { query: { ...query, cursor } }, ...rest })
  }
  const tasks = usePages(key, read, tasksIn, { isStill: true })
  const fresh = useNewRows<TaskList, Task>({
    topic: 'tasks',
    key,
    rowsOf: tasksIn,
    readFirst: async () => (await read()).data,
    withRows: (each, rows) => ({ ...each, tasks: rows }),
    keyOf: ({ task_id }) => task_id,
  })
  return { tasks, fresh }
}

const tasksIn = (each: TaskList): Task[] => each.tasks

const findings_max = 8

/** A look at one task of the list: verdict, numbers and findings. Space and Escape close it. */
function Peek({
  project_id,
  task,
  onClose,
}: {
  project_id: string
  task: Task
  onClose: () => void
}) {
  const { task_id, verdict } = task
  const params = { project_id, task_id }
  return (
    <section className={css.peek} aria-label="Peek at the task">
      <div className={ui.row}>
        <h2 className={ui.grow}>
          <Plain>{task.name || task_id}</Plain>
        </h2>
        <Button small look="plain" aria-label="Close the peek" onClick={onClose}>
          ×
        </Button>
      </div>
      <p>
        <TaskState task={task} /> <Plain>{verdict?.summary ?? 'Not analysed yet'}</Plain>
      </p>
      <Facts
        of={[
          ['Cost', formatUsd(task.cost_usd)],
          ['Tokens', formatCompact(task.tokens.total)],
          ['Duration', formatDuration(task.duration_ms)],
          ['Release', task.release && <Plain>{task.release}</Plain>],
        ]}
      />
      <Findings task_id={task_id} project_id={project_id} />
      <Link to="/p/$project_id/tasks/$task_id" params={params}>
        Open the task
      </Link>
    </section>
  )
}

function Findings({ task_id, project_id }: { task_id: string; project_id: string }) {
  const query = api.useQuery('get', '/api/v1/tasks/{task_id}/findings', {
    params: { path: { task_id } },
  })
  return (
    <Loaded query={query} what="Reading findings">
      {({ findings }) => {
        const shown = findings.filter(({ state }) => state !== 'withdrawn')
        return (
          <ul className={css.findings}>
            {shown.slice(0, findings_max).map(({ finding_id, severity, summary }) => (
              <li key={finding_id}>
                <Severity of={severity} /> <Plain>{summary}</Plain>{' '}
                <Link
                  to="/p/$project_id/tasks/$task_id"
                  params={{ project_id, task_id }}
                  search={{ finding: finding_id } as never}
                >
                  Show the step
                </Link>
              </li>
            ))}
            {shown.length > findings_max && <li>{shown.length - findings_max} more findings</li>}
          </ul>
        )
      }}
    </Loaded>
  )
}
