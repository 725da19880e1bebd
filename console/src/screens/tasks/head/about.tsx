import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../../../api/client.ts'
import type { Task } from '../../../api/schema.gen.d.ts'
import { quoteValue } from '../../../ui/filter-language.ts'
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatNumberOf,
  formatShare,
  formatUsd,
} from '../../../ui/format.ts'
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

/** The numbers of a task, each with what it is made of. */
export function Numbers({ task }: { task: Task }) {
  const { calls, merged_calls, errors, cancelled, unpriced_calls, trust_coverage } = task
  return (
    <dl className={css.numbers}>
      <Figure name="Cost" value={formatUsd(task.cost_usd)}>
        {[
          unpriced_calls > 0 && `${formatNumberOf(unpriced_calls, 'call')} without a price`,
          task.partially_priced_calls > 0 && `${task.partially_priced_calls} priced in part`,
        ]}
      </Figure>
      <Figure name="Tokens" value={formatCompact(task.tokens.total)}>
        {bucketsOf(task.tokens)}
      </Figure>
      <Figure name="Model calls" value={formatCount(calls)}>
        {[
          merged_calls > 0 && `${formatCount(merged_calls)} arrived again, counted once`,
          errors > 0 && `${formatCount(errors)} failed`,
          cancelled > 0 && `${formatCount(cancelled)} cancelled`,
        ]}
      </Figure>
      <Figure name="Duration" value={formatDuration(task.duration_ms)}>
        {[]}
      </Figure>
      <Figure name="Trust" value={trustOf(task)}>
        {[trust_coverage !== null && `${formatShare(trust_coverage)} of the claims checked`]}
      </Figure>
    </dl>
  )
}

function trustOf({ trust_score, verification_state }: Task): string {
  if (trust_score !== null) return formatShare(trust_score)
  return verification_state === 'verified' ? 'undecided' : verification_state.replace('_', ' ')
}

function bucketsOf(tokens: Task['tokens']): (string | false)[] {
  const buckets = [
    ['input', tokens.input_uncached],
    ['cache read', tokens.cache_read],
    ['cache write', tokens.cache_write],
    ['output', tokens.output_visible],
    ['reasoning', tokens.reasoning],
  ] as const
  return [
    ...buckets.map(([name, count]) => count > 0 && `${formatCompact(count)} ${name}`),
    tokens.estimated_calls > 0 && `${formatNumberOf(tokens.estimated_calls, 'call')} estimated`,
  ]
}

function Figure({
  name,
  value,
  children,
}: {
  name: string
  value: string
  children: readonly (string | false)[]
}) {
  const parts = children.filter((part) => part !== false)
  return (
    <div className={css.number}>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        {parts.length > 0 && <div className={ui.soft}>{parts.join(' · ')}</div>}
      </dd>
    </div>
  )
}
