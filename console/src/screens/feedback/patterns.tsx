import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { FeedbackPattern } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { SourceChoice, useSource } from './source.tsx'

/** Features whose tasks have more negative feedback than others, and how certain that is. */
export function Patterns() {
  const { source, ...range } = useSource()
  const query = api.useQuery('get', '/api/v1/feedback/patterns', {
    params: { query: { ...range, source } },
  })
  return (
    <div className={ui.stack}>
      <SourceChoice source={source} />
      <Loaded query={query} what="Comparing">
        {({ patterns, note, tasks, users, tested, minimums }) => (
          <>
            <p className={ui.soft}>
              {formatCount(tested)} features of {formatCount(tasks)} tasks and {formatCount(users)}{' '}
              users were compared. A pattern has at least {minimums.tasks} tasks, {minimums.users}{' '}
              users and {formatShare(minimums.difference)} more negative feedback. It does not prove
              a cause: open the tasks.
            </p>
            <Table
              label="Patterns"
              columns={columns}
              rows={patterns}
              keyOf={({ feature }) => feature}
              empty={
                <Empty title="No pattern">
                  <p>{note ?? 'No feature has clearly more negative feedback than others.'}</p>
                </Empty>
              }
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

const columns: Column<FeedbackPattern>[] = [
  {
    id: 'feature',
    head: 'Feature',
    cell: ({ kind, value }) => (
      <>
        <Plain>{value}</Plain> <div className={ui.soft}>{kind.replaceAll('_', ' ')}</div>
      </>
    ),
  },
  { id: 'rate', head: 'Negative', number: true, cell: ({ rate }) => formatShare(rate) },
  {
    id: 'without',
    head: 'Others',
    number: true,
    cell: ({ rate_without }) => formatShare(rate_without),
  },
  {
    id: 'difference',
    head: 'Difference',
    number: true,
    cell: ({ difference, interval }) => (
      <>
        +{formatShare(difference)}
        <div className={ui.soft}>{interval.map((each) => formatShare(each)).join(' to ')}</div>
      </>
    ),
  },
  {
    id: 'q',
    head: 'Error (q)',
    number: true,
    wide: true,
    cell: ({ q }) => (q < 0.0001 ? '< 0.0001' : q.toPrecision(2)),
  },
  { id: 'tasks', head: 'Tasks', number: true, wide: true, cell: ({ tasks }) => formatCount(tasks) },
  { id: 'users', head: 'Users', number: true, wide: true, cell: ({ users }) => formatCount(users) },
  { id: 'since', head: 'Since', wide: true, cell: ({ since }) => since && <Time at={since} /> },
  { id: 'examples', head: 'Tasks to open', cell: ({ examples }) => <Examples of={examples} /> },
]

function Examples({ of }: { of: FeedbackPattern['examples'] }) {
  const project_id = useProjectId()
  return of.map(({ task_id, findings, incidents }) => (
    <div key={task_id}>
      <Link
        to="/p/$project_id/tasks/$task_id"
        params={{ project_id, task_id }}
        style={{ display: 'inline-block', padding: '3px 0' }}
      >
        <Plain>{task_id}</Plain>
      </Link>
      {findings.length + incidents.length > 0 && (
        <span className={ui.soft}>
          {' '}
          {findings.length} findings, {incidents.length} incidents
        </span>
      )}
    </div>
  ))
}
