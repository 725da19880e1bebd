import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { RetentionRun } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/fields.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { progressOf } from './run.tsx'

/** The runs of the project, newest first. */
export function Runs() {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const isDry = search['dry'] === 'true'
  const runs = useRunPages(
    ['retention-runs', project_id, isDry],
    (cursor, signal) =>
      call.GET('/api/v2/observability/retention/runs', {
        params: { query: { limit: 50, cursor, ...(isDry && { dry_run: true }) } },
        signal,
      }),
    (each) => each.runs,
  )
  return (
    <div className={ui.stack}>
      <CheckField
        label="Show dry runs"
        checked={isDry}
        onChange={(event) => change({ dry: event.target.checked ? 'true' : undefined })}
      />
      <List
        label="Runs"
        pages={runs}
        columns={columns}
        keyOf={({ job_id }) => job_id}
        onOpen={({ job_id }) => change({ run: job_id }, { push: true })}
        empty={
          <Empty title={isDry ? 'No dry runs' : 'No runs'}>
            <p>A run takes place once a day while the project has a policy.</p>
          </Empty>
        }
      />
    </div>
  )
}

/** Starts a run of the stored policy, after a question. */
export function RunNow() {
  const [isAsking, setAsking] = useState(false)
  const [, change] = useUrlState()
  const client = useQueryClient()
  const start = api.useMutation('post', '/api/v2/observability/retention/run', {
    onSuccess: async (run) => {
      notify('The run is started.')
      await client.invalidateQueries({ queryKey: ['retention-runs'] })
      change({ tab: 'runs', run: run.job_id }, { push: true })
    },
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button onClick={() => setAsking(true)}>Run now…</Button>
      <Confirm
        title="Delete by the stored policy now?"
        action="Start the run"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={start.isPending}
        onConfirm={() => start.mutate({})}
      >
        <p>The run deletes what the stored policy no longer keeps. This cannot be undone.</p>
        <p>To see first what would go, use “See what would go” in the tab Policy.</p>
      </Confirm>
    </>
  )
}

const columns: Column<RetentionRun>[] = [
  {
    id: 'created',
    head: 'Started',
    cell: ({ job_id, started_at, created_at }) => (
      <HereLink change={{ run: job_id }}>
        <Time at={started_at ?? created_at} />
      </HereLink>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  { id: 'late', head: 'Late', wide: true, cell: ({ is_late }) => (is_late ? 'yes' : '') },
  {
    id: 'by',
    head: 'Asked by',
    wide: true,
    cell: ({ requested_by }) => <Actor of={requested_by} />,
  },
  {
    id: 'rows',
    head: 'Rows',
    number: true,
    cell: (run) =>
      run.result === null
        ? isUnderWay(run.state) && progressOf(run)
        : formatCount(run.result.deleted_rows),
  },
  {
    id: 'bytes',
    head: 'Bytes, about',
    number: true,
    wide: true,
    cell: ({ result }) => result && formatBytes(result.deleted_bytes),
  },
  {
    id: 'held',
    head: 'Held rows',
    number: true,
    wide: true,
    cell: ({ result }) => result && formatCount(result.held_rows),
  },
]
