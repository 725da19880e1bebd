import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { ArchiveRun } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { BackButton, HereLink } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, Progress, pollWhile, useRunPages } from '../../ui/job.tsx'
import { Json } from '../../ui/json.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Facts, State, Tile, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { archivedSpans } from './archived.ts'

const path = '/api/v2/observability/archive/runs'

/** The archive runs, and what verified archives contain; or one run, by the URL. */
export function ArchiveRuns() {
  const [{ run }] = useUrlState()
  return run === undefined ? <RunList /> : <RunPage job_id={run} />
}

function RunList() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const runs = useRunPages(
    ['archive-runs', project_id],
    (cursor, signal) => call.GET(path, { params: { query: { limit: 200, cursor } }, signal }),
    (each) => each.runs,
  )
  return (
    <div className={ui.stack}>
      <Coverage runs={runs.rows} />
      <List
        label="Archive runs"
        pages={runs}
        columns={columns}
        keyOf={({ job_id }) => job_id}
        onOpen={({ job_id }) => change({ run: job_id }, { push: true })}
        empty={
          <Empty title="Nothing is archived">
            <p>Archive some days here, or set a schedule in the policy of retention.</p>
            <Link to="/p/$project_id/retention" params={{ project_id }}>
              Open the policy
            </Link>
          </Empty>
        }
      />
    </div>
  )
}

/** Says what verified archives contain whole, and when the schedule archives again. */
function Coverage({ runs }: { runs: readonly ArchiveRun[] }) {
  const policy = api.useQuery('get', '/api/v2/observability/retention-policy')
  const spans = archivedSpans(runs)
  const last = spans.at(-1)
  const next = policy.data && 'next_archive_at' in policy.data ? policy.data.next_archive_at : null
  return (
    <>
      <div className={ui.tiles}>
        <Tile name="Archived whole until">{last ? last.to.slice(0, 10) : 'nothing'}</Tile>
        <Tile name="Next by the schedule">{next === null ? 'none' : <Time at={next} />}</Tile>
      </div>
      {spans.length > 0 && (
        <p className={ui.soft}>
          Whole in verified archives (UTC):{' '}
          {spans.map(({ from, to }) => `${from.slice(0, 10)} to ${to.slice(0, 10)}`).join(', ')}.
          Archives stay until you delete their files in the bucket.
        </p>
      )}
    </>
  )
}

const windowText = ({ from, to }: { from: string; to: string }) =>
  `${from.slice(0, 16).replace('T', ' ')} to ${to.slice(0, 16).replace('T', ' ')} UTC`

function progressOf({ state, progress }: ArchiveRun): string {
  if (state === 'queued') return 'Waiting for a worker'
  if (progress === null) return 'Waiting for inserts in progress'
  const place = progress.kind === null ? '' : `, now ${progress.kind} of ${progress.day}`
  return `${formatCount(progress.rows)} rows in ${formatCount(progress.files)} files${place}`
}

const columns: Column<ArchiveRun>[] = [
  {
    id: 'window',
    head: 'Window (UTC)',
    cell: ({ job_id, window }) => (
      <HereLink change={{ run: job_id }}>{windowText(window)}</HereLink>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'what',
    head: 'What',
    wide: true,
    cell: ({ kinds, where }) => (kinds.length === 5 && where === null ? 'all' : 'a part'),
  },
  {
    id: 'rows',
    head: 'Rows',
    number: true,
    cell: (run) =>
      run.result === null ? isUnderWay(run.state) && progressOf(run) : formatCount(run.result.rows),
  },
  {
    id: 'bytes',
    head: 'Size',
    number: true,
    wide: true,
    cell: ({ result }) => result && formatBytes(result.bytes),
  },
  {
    id: 'reason',
    head: 'Reason',
    wide: true,
    cell: ({ reason }) => reason !== null && <Plain>{reason}</Plain>,
  },
  {
    id: 'created',
    head: 'Asked',
    number: true,
    cell: ({ created_at }) => <Time at={created_at} ago />,
  },
]

function RunPage({ job_id }: { job_id: string }) {
  const query = api.useQuery(
    'get',
    `${path}/{job_id}`,
    { params: { path: { job_id } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <div className={ui.stack}>
      <BackButton all="archives" change={{ run: undefined }} />
      <Loaded query={query} what="Reading the run">
        {(run) => (
          <>
            <div className={ui.row}>
              <h2>{windowText(run.window)}</h2>
              <State of={run.state} />
              {run.result !== null && <StartRestore archive={run} />}
            </div>
            {isUnderWay(run.state) && <Progress label={progressOf(run)} />}
            <Facts
              of={[
                ['Kinds', run.kinds.join(', ')],
                ['Filter', run.where && <Json key="w" value={run.where} />],
                ['Reason', run.reason && <Plain key="r">{run.reason}</Plain>],
                ['Rows', run.result && formatCount(run.result.rows)],
                ['Files', run.result && formatCount(run.result.files)],
                ['Size', run.result && formatBytes(run.result.bytes)],
                ['Verified', run.result && 'each file was read back, byte for byte'],
                ['Manifest', run.result && <Plain key="m">{run.result.manifest}</Plain>],
                ['SHA-256', run.result && <code key="s">{run.result.manifest_sha256}</code>],
                ['Stored before', run.result && <Time key="b" at={run.result.stored_before} />],
                ['Asked by', <Actor key="a" of={run.requested_by} />],
                ['Asked', <Time key="c" at={run.created_at} />],
                ['Ended', run.ended_at && <Time key="e" at={run.ended_at} />],
                ['Error', run.error && <Plain key="x">{run.error}</Plain>],
              ]}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

/** Restores days of an archive into a slice. */
function StartRestore({ archive }: { archive: ArchiveRun }) {
  const [isOpen, setOpen] = useState(false)
  const isAdmin = useHasRole('admin')
  return (
    <>
      <Button disabled={!isAdmin} onClick={() => setOpen(true)}>
        Restore…
      </Button>
      <Dialog title="Restore into a slice" open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <RestoreForm archive={archive} />}
      </Dialog>
    </>
  )
}

function RestoreForm({ archive }: { archive: ArchiveRun }) {
  const client = useQueryClient()
  const [, change] = useUrlState()
  const start = api.useMutation('post', '/api/v2/observability/restore', {
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['slices'] })
      await client.invalidateQueries({ queryKey: ['restore-runs'] })
      change({ tab: 'slices', run: undefined }, { push: true })
    },
  })
  const faults = faultsOf(start.error)
  const submit = (form: FormData) => {
    const [from, to] = [String(form.get('from')), String(form.get('to'))]
    const window = { from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` }
    start.mutate({
      body: {
        archive_run_id: archive.job_id,
        slice: String(form.get('slice')).trim(),
        ...(from !== '' && to !== '' && { window }),
        expires_in_days: Number(form.get('days')),
      },
    })
  }
  return (
    <Form of={start} action="Restore" pending="Starting…" onSubmit={submit}>
      <p>
        Rows come into a slice of their own, never among the live rows. Queries see it with{' '}
        <code>"include_restored": true</code>.
      </p>
      <TextField
        label="Name of the slice"
        name="slice"
        placeholder="incident-42"
        required
        fault={faultAt(faults, '/slice')}
      />
      <TextField
        label="From (UTC)"
        name="from"
        type="date"
        hint="Empty: all days of the archive."
        fault={faultAt(faults, '/window/from')}
      />
      <TextField label="Before (UTC)" name="to" type="date" fault={faultAt(faults, '/window/to')} />
      <TextField
        label="Days until it expires"
        name="days"
        inputMode="numeric"
        defaultValue="7"
        required
        fault={faultAt(faults, '/expires_in_days')}
      />
    </Form>
  )
}
