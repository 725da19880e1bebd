import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type {
  ConversationObservation,
  ConversationTask,
  ConversationTrace,
} from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { Badge, Button } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { MoreRows } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './conversations.module.css'

const traces_max = 20
const observations_max = 50
const indent_px = 18

/** The traces of a conversation, by task, each with the observations near its top. */
export function TraceTree({ conversation_id }: { conversation_id: string }) {
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
