import { Link } from '@tanstack/react-router'
import type { Task } from '../../../api/schema.gen.d.ts'
import { formatCompact, formatDuration, formatShare, formatUsd } from '../../../ui/format.ts'
import { Badge, classes, Severity, State, Time } from '../../../ui/parts.tsx'
import type { Column } from '../../../ui/table.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import css from './list.module.css'

/** The columns of the list of tasks. Trust and votes have one only if a row has them. */
export function taskColumns(project_id: string, rows: readonly Task[]): Column<Task>[] {
  const hasTrust = rows.some(({ trust_score }) => trust_score !== null)
  const hasVotes = rows.some(({ feedback }) => feedback !== null)
  return [
    { id: 'task', head: 'Task', cell: (task) => <Name project_id={project_id} task={task} /> },
    { id: 'state', head: 'State', wide: true, cell: (task) => <TaskState task={task} /> },
    {
      id: 'worst_severity',
      head: 'Verdict',
      wide: true,
      sortable: true,
      cell: (task) => <Verdict task={task} />,
    },
    ...numbers,
    ...(hasTrust ? [trust] : []),
    ...(hasVotes ? [votes] : []),
    {
      id: 'last_activity_at',
      head: 'Active',
      number: true,
      wide: true,
      sortable: true,
      cell: ({ last_activity_at }) => <Time at={last_activity_at} ago />,
    },
  ]
}

const numbers: Column<Task>[] = [
  {
    id: 'cost_usd',
    head: 'Cost',
    number: true,
    wide: true,
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
    id: 'calls',
    head: 'Calls',
    number: true,
    wide: true,
    sortable: true,
    cell: ({ calls, errors }) => (
      <>
        {formatCompact(calls)}
        {errors > 0 && <div className={ui.fault}>{formatCompact(errors)} failed</div>}
      </>
    ),
  },
  {
    id: 'duration_ms',
    head: 'Duration',
    number: true,
    wide: true,
    sortable: true,
    cell: ({ duration_ms }) => formatDuration(duration_ms),
  },
]

const trust: Column<Task> = {
  id: 'trust_score',
  head: 'Trust',
  number: true,
  wide: true,
  sortable: true,
  cell: ({ trust_score, verification_state }) => {
    if (trust_score !== null) return formatShare(trust_score)
    return verification_state === 'pending' ? 'pending' : ''
  },
}

const votes: Column<Task> = {
  id: 'feedback',
  head: 'Votes',
  number: true,
  wide: true,
  cell: ({ feedback }) => feedback && <Votes of={feedback} />,
}

/** Votes of end users: `+3 −1`. */
function Votes({ of: { positive, negative } }: { of: NonNullable<Task['feedback']> }) {
  return (
    <>
      {positive > 0 && <span className={css.up}>+{positive}</span>}{' '}
      {negative > 0 && <span className={css.down}>−{negative}</span>}
    </>
  )
}

function Name({ project_id, task }: { project_id: string; task: Task }) {
  const { task_id, models, user_id, cost_usd, last_activity_at } = task
  return (
    <div className={css.name}>
      <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
        <Plain>{task.name || task_id}</Plain>
      </Link>
      <div className={classes(ui.soft, css.about)}>
        <Plain>{models.join(', ') || 'no model call'}</Plain>
        {user_id !== null && (
          <>
            {' · '}
            <Plain>{user_id}</Plain>
          </>
        )}
      </div>
      <div className={css.narrow}>
        <div className={ui.row}>
          <TaskState task={task} />
          <span>{formatUsd(cost_usd)}</span>
          {task.feedback && <Votes of={task.feedback} />}
          <span className={ui.soft}>
            <Time at={last_activity_at} ago />
          </span>
        </div>
        <Verdict task={task} />
      </div>
    </div>
  )
}

/** The state, and whether nothing has come for long. */
export function TaskState({ task: { state, stalled } }: { task: Task }) {
  return stalled ? <Badge tone="warn">stalled</Badge> : <State of={state} />
}

function Verdict({ task: { verdict } }: { task: Task }) {
  if (verdict === null) return <span className={ui.soft}>Not analysed yet</span>
  const { worst_severity, summary } = verdict
  if (worst_severity === null) return <span className={ui.soft}>Nothing wrong found</span>
  return (
    <div className={css.verdict}>
      <Severity of={worst_severity} /> <Plain>{summary}</Plain>
    </div>
  )
}
