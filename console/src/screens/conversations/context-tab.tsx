import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { ContextFailure, ContextHealth } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatShare } from '../../ui/format.ts'
import { classes, Severity, Tile, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './conversations.module.css'

/** The health of the context over the turns, and each statement that the agent forgot or broke. */
export function ContextTab({ conversation_id }: { conversation_id: string }) {
  const params = { path: { conversation_id } }
  const health = api.useQuery('get', '/api/v1/conversations/{conversation_id}/context-health', {
    params,
  })
  const failures = api.useQuery('get', '/api/v1/conversations/{conversation_id}/context-failures', {
    params,
  })
  return (
    <div className={ui.stack}>
      <h2>Context health</h2>
      <Loaded query={health} what="Reading the health">
        {(data) => <Health of={data} />}
      </Loaded>
      <h2>Context failures</h2>
      <Loaded query={failures} what="Reading failures">
        {({ failures: all, tasks_not_checked = 0 }) => (
          <>
            {tasks_not_checked > 0 && (
              <p className={ui.soft}>
                {formatCount(tasks_not_checked)} tasks are not included, because the conversation is
                too long.
              </p>
            )}
            {all.length === 0 && (
              <p>No statement was forgotten or contradicted, as far as checked.</p>
            )}
            <ul className={css.failures}>
              {all.map((failure) => (
                <Failure
                  key={`${failure.task_id} ${failure.type} ${failure.original_context} ${failure.violation}`}
                  of={failure}
                />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </div>
  )
}

type TaskHealth = ContextHealth['tasks'][number] & { from_turn: number }

function Health({
  of: { score, turns, window_fill, window_penalty, tasks },
}: {
  of: ContextHealth
}) {
  const project_id = useProjectId()
  let before = 0
  const rows = tasks.map((task): TaskHealth => {
    const from_turn = before + 1
    before += task.turns
    return { ...task, from_turn }
  })
  return (
    <>
      <div className={css.numbers}>
        <Tile name="Score">{score === null ? 'too short' : formatShare(score)}</Tile>
        <Tile name="Turns">{formatCount(turns)}</Tile>
        <Tile name="Fullest window">
          {window_fill === null ? 'not near full' : formatShare(window_fill)}
        </Tile>
        {window_penalty > 0 && (
          <Tile name="Penalty for the window">−{formatShare(window_penalty)}</Tile>
        )}
      </div>
      <Table
        label="Health over the turns"
        columns={healthColumns(project_id)}
        rows={rows}
        keyOf={({ task_id }) => task_id}
      />
    </>
  )
}

const healthColumns = (project_id: string): Column<TaskHealth>[] => [
  {
    id: 'turns',
    head: 'Turns',
    cell: ({ from_turn, turns }) =>
      turns > 1 ? `${from_turn}–${from_turn + turns - 1}` : String(from_turn),
  },
  {
    id: 'task',
    head: 'Task',
    cell: ({ task_id }) => (
      <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
        <Plain>{task_id}</Plain>
      </Link>
    ),
  },
  {
    id: 'started',
    head: 'Started',
    wide: true,
    cell: ({ started_at }) => <Time at={started_at} />,
  },
  { id: 'score', head: 'Health', cell: ({ score }) => <Meter score={score} /> },
  {
    id: 'window',
    head: 'Window',
    number: true,
    wide: true,
    cell: ({ window_fill }) => (window_fill === null ? '' : formatShare(window_fill)),
  },
  {
    id: 'findings',
    head: 'Findings',
    number: true,
    cell: ({ findings }) => formatCount(findings),
  },
]

function Meter({ score }: { score: number | null }) {
  if (score === null) return <span className={ui.soft}>too short</span>
  const level = score < 0.5 ? css.poor : score < 0.8 ? css.middling : undefined
  return (
    <span className={css.meter}>
      <span className={css.track} aria-hidden="true">
        <span className={classes(css.fill, level)} style={{ width: `${score * 100}%` }} />
      </span>
      {formatShare(score)}
    </span>
  )
}

function Failure({ of }: { of: ContextFailure }) {
  const project_id = useProjectId()
  const { severity, type, description, task_id, trace_id, original_trace_id } = of
  return (
    <li className={css.failure}>
      <div className={ui.row}>
        <Severity of={severity} />
        <code>{type}</code>
        <Plain>{description}</Plain>
      </div>
      <div className={css.quotes}>
        <div className={css.quote}>
          <h3>What was said</h3>
          <LongText text={of.original_context} />
          <Link
            to="/p/$project_id/traces/$trace_id"
            params={{ project_id, trace_id: original_trace_id }}
          >
            Its trace
          </Link>
        </div>
        <div className={css.quote}>
          <h3>What broke it</h3>
          <LongText text={of.violation} />
          <Link to="/p/$project_id/traces/$trace_id" params={{ project_id, trace_id }}>
            Its trace
          </Link>
        </div>
      </div>
      <p className={ui.soft}>
        Confidence {formatShare(of.confidence)} · <Time at={of.detected_at} ago /> ·{' '}
        <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
          Task <Plain>{task_id}</Plain>
        </Link>
      </p>
    </li>
  )
}
