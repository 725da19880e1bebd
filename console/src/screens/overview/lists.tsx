import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { Incident, Task } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { resolveInstant } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Severity, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './overview.module.css'

const rows = 5

/** The open incidents, the most severe first. */
export function OpenIncidents() {
  const project_id = useProjectId()
  const query = api.useQuery('get', '/api/v2/observability/incidents', {
    params: { query: { state: 'open', sort: 'severity', order: 'desc', limit: rows } },
  })
  useLive('incidents', () => void query.refetch())
  return (
    <section className={css.panel} aria-label="Open incidents">
      <div className={ui.row}>
        <h2 className={ui.grow}>Open incidents</h2>
        <Link to={`/p/${project_id}/incidents` as '/'}>
          {query.data === undefined ? 'All' : `All ${formatCount(query.data.total)}`}
          <span className={ui.visuallyHidden}> open incidents</span>
        </Link>
      </div>
      <Loaded query={query} what="Reading incidents">
        {({ incidents }) =>
          incidents.length === 0 ? (
            <p className={css.nothing}>No incident is open.</p>
          ) : (
            <ul className={css.list}>
              {(incidents as Incident[]).map((incident) => (
                <li key={incident.incident_id}>
                  <Severity of={incident.severity} />
                  <Link
                    className={ui.grow}
                    to={`/p/${project_id}/incidents/${incident.incident_id}` as '/'}
                  >
                    <Plain>{incident.title}</Plain>
                  </Link>
                  <Time at={incident.opened_at} ago />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

/** Returns the worst tasks of the range: by the severity of their findings. */
export function useWorstTasks({ from }: { from: string }) {
  const [{ to }] = useUrlState()
  const end = resolveInstant(to, serverNow())
  const query = api.useQuery('get', '/api/v1/tasks', {
    params: {
      query: {
        from,
        sort: 'worst_severity',
        order: 'desc',
        limit: rows,
        ...(end !== undefined && { to: end }),
      },
    },
  })
  useLive('tasks', () => void query.refetch())
  return query
}

/** The worst tasks of the range, with what their verdicts say. */
export function WorstTasks({ query }: { query: ReturnType<typeof useWorstTasks> }) {
  const project_id = useProjectId()
  const [{ from, to }] = useUrlState()
  const search = { from, to, sort: 'worst_severity', order: 'desc' }
  return (
    <section className={css.panel} aria-label="Worst tasks">
      <div className={ui.row}>
        <h2 className={ui.grow}>Worst tasks</h2>
        <Link to={`/p/${project_id}/tasks` as '/'} search={search as never}>
          {query.data === undefined ? 'All' : `All ${formatCount(query.data.total)}`}
          <span className={ui.visuallyHidden}> tasks</span>
        </Link>
      </div>
      <Loaded query={query} what="Reading tasks">
        {({ tasks }) => {
          const worst = (tasks as Task[]).filter(({ verdict }) => verdict?.worst_severity)
          if (worst.length === 0) return <p className={css.nothing}>No task has a finding.</p>
          return (
            <ul className={css.list}>
              {worst.map((task) => (
                <li key={task.task_id}>
                  <WorstTask task={task} />
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}

function WorstTask({ task }: { task: Task }) {
  const project_id = useProjectId()
  const { task_id, name, state, verdict, cost_usd } = task
  return (
    <>
      {verdict?.worst_severity && <Severity of={verdict.worst_severity} />}
      <Link to={`/p/${project_id}/tasks/${encodeURIComponent(task_id)}` as '/'}>
        <Plain>{name}</Plain>
      </Link>
      <State of={state} />
      <span className={ui.grow} />
      <span>{formatUsd(cost_usd)}</span>
      {verdict !== null && (
        <span className={ui.soft} style={{ flexBasis: '100%' }}>
          <Plain>{verdict.summary}</Plain>
        </span>
      )}
    </>
  )
}
