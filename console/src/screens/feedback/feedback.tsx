import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { FeedbackPattern } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { downloadText } from '../../ui/download.ts'
import { CheckField } from '../../ui/fields.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Rates } from './rates.tsx'
import { SourceChoice, useSource } from './source.tsx'

/** The feedback on the work of the agents, and the features with more negative feedback. */
export function Feedback() {
  return (
    <div className={ui.stack}>
      <Heading title="Feedback" />
      <Tabs
        label="Feedback"
        tabs={[
          { id: 'rates', title: 'Rates', render: () => <Rates /> },
          { id: 'patterns', title: 'Patterns', render: () => <Patterns /> },
          { id: 'export', title: 'Export', render: () => <ExportTab /> },
        ]}
      />
    </div>
  )
}

/** Features whose tasks have more negative feedback than others, and how certain that is. */
function Patterns() {
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
              columns={patternColumns}
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

const patternColumns: Column<FeedbackPattern>[] = [
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

/** Tasks that the browser holds in memory; more are exported with the API. */
const tasks_max = 20_000

/** Saves tasks with their feedback, findings and labels as a file, one task a line. */
function ExportTab() {
  const [search, change] = useUrlState()
  const [read, setRead] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  const labelled = search['labelled'] === 'true'
  const run = async () => {
    const control = new AbortController()
    const { signal } = control
    stop.current = control
    const lines: string[] = []
    let cursor: string | undefined
    setRead(0)
    do {
      const query = {
        ...rangeOf(search, serverNow()),
        labelled,
        limit: 500,
        ...(cursor && { cursor }),
      }
      const { data } = await call.GET('/api/v1/feedback/export', { params: { query }, signal })
      if (typeof data !== 'object') throw new Error('The server sent no page of tasks')
      for (const task of data.tasks) lines.push(JSON.stringify(task))
      cursor = data.next_cursor ?? undefined
      setRead(lines.length)
    } while (cursor !== undefined && lines.length < tasks_max)
    downloadText('feedback.ndjson', `${lines.join('\n')}\n`, 'application/x-ndjson')
    const isPart = cursor !== undefined
    notify(`${formatCount(lines.length)} tasks are saved${isPart ? '; more are left out' : ''}.`)
  }
  const start = () =>
    void run()
      .catch((error) => stop.current?.signal.aborted || notifyFault(error))
      .finally(() => setRead(undefined))
  return (
    <div className={ui.stack}>
      <p>
        The file has a task on each line, with its feedback, findings, traces and labels. It has the
        comments of users.
      </p>
      <CheckField
        label="Only tasks that a reviewer has labelled"
        checked={labelled}
        onChange={(event) => change({ labelled: event.target.checked ? 'true' : undefined })}
      />
      <div className={ui.row}>
        <Button look="primary" onClick={start} disabled={read !== undefined}>
          Save the file
        </Button>
        {read !== undefined && (
          <>
            <Progress label={`${formatCount(read)} tasks read`} />
            <Button small onClick={() => stop.current?.abort()}>
              Stop
            </Button>
          </>
        )}
      </div>
      <p className={ui.soft}>
        At most {formatCount(tasks_max)} tasks. More: <code>GET /api/v1/feedback/export</code> with
        its cursor.
      </p>
    </div>
  )
}
