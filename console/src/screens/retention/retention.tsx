import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { RetentionPolicy, RetentionRun } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/fields.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Button, Heading, State, Tile, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { PolicyEditor } from './policy-editor.tsx'
import { progressOf, Run } from './run.tsx'

/** Returns the policy of a reply, which is a run only for a dry run. */
function policyOf(reply: RetentionPolicy | RetentionRun): RetentionPolicy {
  if ('days' in reply) return reply
  throw new Error('The server sent a run in place of the policy')
}

/** How long data is kept: the policy, what it would delete, and what its runs deleted. */
export function Retention() {
  const [{ run }] = useUrlState()
  const isAdmin = useHasRole('admin')
  const policy = api.useQuery(
    'get',
    '/api/v2/observability/retention-policy',
    {},
    { select: policyOf },
  )
  return (
    <div className={ui.stack}>
      <Heading title="Retention">
        {isAdmin && (policy.data?.version ?? 0) > 0 && <RunNow />}
      </Heading>
      <Loaded query={policy} what="Reading the policy">
        {(stored) => (
          <>
            <ManagedBy by={stored.managed_by} />
            <div className={ui.tiles}>
              <Tile name="Next daily run">
                {stored.next_run_at === null ? 'None' : <Time at={stored.next_run_at} />}
              </Tile>
              <Tile name="Last run">
                {stored.last_run === null ? (
                  'None yet'
                ) : (
                  <>
                    <Time at={stored.last_run.ended_at} ago /> <State of={stored.last_run.state} />
                  </>
                )}
              </Tile>
              <Tile name="Rows deleted so far">{formatCount(stored.deleted_rows)}</Tile>
              <Tile name="Bytes deleted so far">{formatBytes(stored.deleted_bytes)}</Tile>
              <Tile name="Legal holds">{formatCount(stored.held_count)}</Tile>
            </div>
            <Tabs
              label="Retention"
              tabs={[
                {
                  id: 'policy',
                  title: 'Policy',
                  render: () => (
                    <PolicyEditor key={stored.version} stored={stored} isAdmin={isAdmin} />
                  ),
                },
                {
                  id: 'runs',
                  title: 'Runs',
                  render: () => (run === undefined ? <Runs /> : <Run job_id={run} hasBack />),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

/** The runs of the project, newest first. */
function Runs() {
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
function RunNow() {
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
