import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../../../api/client.ts'
import type { Task } from '../../../api/schema.gen.d.ts'
import { quoteValue } from '../../../ui/filter-language.ts'
import { Badge, classes, Severity, Time } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { TaskState } from '../list/columns.tsx'
import css from './head.module.css'

const chips_max = 3

/** Who ran the task, with what and when, each as a link to the tasks like it. */
export function About({ task, project_id }: { task: Task; project_id: string }) {
  const { conversation, user_id, models, release, environment, cluster_name, started_at } = task
  return (
    <div className={css.about}>
      <TaskState task={task} />
      {task.late_activity && <Badge tone="warn">calls after its end</Badge>}
      <IncidentChips task_id={task.task_id} project_id={project_id} />
      <code>
        <Plain>{task.task_id}</Plain>
      </code>
      {user_id !== null && (
        <LikeThis project_id={project_id} field="user" value={user_id}>
          User{' '}
        </LikeThis>
      )}
      {conversation !== null && (
        <Link
          to="/p/$project_id/conversations/$conversation_id"
          params={{ project_id, conversation_id: conversation.id }}
        >
          Conversation <Plain>{conversation.external_id ?? conversation.id}</Plain>
        </Link>
      )}
      {models.map((model) => (
        <LikeThis key={model} project_id={project_id} field="model" value={model} />
      ))}
      {release !== null && (
        <LikeThis project_id={project_id} field="release" value={release}>
          Release{' '}
        </LikeThis>
      )}
      {environment !== null && <Plain>{environment}</Plain>}
      {cluster_name && <LikeThis project_id={project_id} field="cluster" value={cluster_name} />}
      <span className={ui.soft}>
        started <Time at={started_at} />
      </span>
      <Ended task={task} />
    </div>
  )
}

function Ended({ task: { ended_at, ended_by, end_note } }: { task: Task }) {
  if (ended_at === null) return null
  return (
    <span className={ui.soft}>
      ended <Time at={ended_at} />
      {ended_by !== null && ` by ${ended_by.split(':')[0]}`}
      {end_note !== null && (
        <>
          : <Plain>{end_note}</Plain>
        </>
      )}
    </span>
  )
}

/** A value as a link to the tasks that have it too. */
function LikeThis({
  project_id,
  field,
  value,
  children,
}: {
  project_id: string
  field: string
  value: string
  children?: ReactNode
}) {
  const q = `${field}:${quoteValue(value)}`
  return (
    <Link to="/p/$project_id/tasks" params={{ project_id }} search={{ q } as never}>
      {children}
      <Plain>{value}</Plain>
    </Link>
  )
}

/** Incidents whose evidence names the task. People without access to incidents see none. */
function IncidentChips({ task_id, project_id }: { task_id: string; project_id: string }) {
  const { data } = api.useQuery('get', '/api/v2/observability/incidents', {
    params: { query: { task_id, limit: chips_max, sort: 'opened_at', order: 'desc' } },
  })
  if (data === undefined) return null
  return data.incidents.map(({ incident_id, number, severity, state, title }) => (
    <Link
      key={incident_id}
      className={classes(ui.badge, css.chip)}
      to="/p/$project_id/incidents/$incident_id"
      params={{ project_id, incident_id }}
      title={title}
    >
      Incident {number} ({state}) <Severity of={severity} />
    </Link>
  ))
}
