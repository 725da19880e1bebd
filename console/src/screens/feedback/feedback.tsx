import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { serverNow } from '../../api/server-clock.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { downloadText } from '../../ui/download.ts'
import { CheckField } from '../../ui/fields.tsx'
import { formatCount } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Button, Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Patterns } from './patterns.tsx'
import { Rates } from './rates.tsx'

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
