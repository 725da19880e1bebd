import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { RestoredSlice, RestoreRun } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, Progress, useRefetchWhile, useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Heading, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ArchiveRuns } from './archive-runs.tsx'

/** The archives of the project, and the slices that were restored from them. */
export function Archives() {
  return (
    <div className={ui.stack}>
      <Heading title="Archives">
        <StartArchive />
      </Heading>
      <Tabs
        label="Archives"
        tabs={[
          { id: 'archives', title: 'Archives', render: () => <ArchiveRuns /> },
          { id: 'slices', title: 'Restored slices', render: () => <Slices /> },
          { id: 'restores', title: 'Restores', render: () => <RestoreRuns /> },
        ]}
      />
    </div>
  )
}

/** The kinds of records that an archive can have. */
const kinds = ['observations', 'traces', 'events', 'links', 'correlations'] as const

/** Archives some days. */
function StartArchive() {
  const [isOpen, setOpen] = useState(false)
  const isAdmin = useHasRole('admin')
  return (
    <>
      {!isAdmin && <span className={ui.soft}>Administrators of the project archive.</span>}
      <Button look="primary" disabled={!isAdmin} onClick={() => setOpen(true)}>
        Archive days…
      </Button>
      <Dialog title="Archive days" open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <ArchiveForm onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  )
}

function ArchiveForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient()
  const [, change] = useUrlState()
  const start = api.useMutation('post', '/api/v2/observability/archive/run', {
    onSuccess: async ({ job_id }) => {
      await client.invalidateQueries({ queryKey: ['archive-runs'] })
      change({ tab: undefined, run: job_id }, { push: true })
      onDone()
    },
  })
  const faults = faultsOf(start.error)
  const submit = (form: FormData) => {
    const chosen = kinds.filter((kind) => form.get(kind) === 'on')
    const reason = String(form.get('reason') ?? '').trim()
    start.mutate({
      body: {
        window: { from: `${form.get('from')}T00:00:00Z`, to: `${form.get('to')}T00:00:00Z` },
        // An archive with a list of kinds does not count as whole, even if the list has all.
        ...(chosen.length < kinds.length && { kinds: chosen }),
        ...(reason !== '' && { reason }),
      },
    })
  }
  return (
    <Form of={start} action="Archive" pending="Starting…" onSubmit={submit}>
      <TextField
        label="From (UTC)"
        name="from"
        type="date"
        required
        fault={faultAt(faults, '/window/from')}
      />
      <TextField
        label="Before (UTC)"
        name="to"
        type="date"
        required
        hint="This day is not in the archive. At most 400 days."
        fault={faultAt(faults, '/window/to')}
      />
      <KindChoice />
      <TextField label="Reason" name="reason" fault={faultAt(faults, '/reason')} />
    </Form>
  )
}

/** The choice of kinds; all are chosen first. */
function KindChoice() {
  return (
    <fieldset className={ui.row} style={{ border: 0, padding: 0, margin: 0 }}>
      <legend>Kinds</legend>
      {kinds.map((kind) => (
        <CheckField key={kind} label={kind} name={kind} defaultChecked />
      ))}
    </fieldset>
  )
}

/** The restores, newest first, with their progress. */
function RestoreRuns() {
  const project_id = useProjectId()
  const runs = useRunPages(
    ['restore-runs', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/observability/restore/runs', {
        params: { query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.runs,
  )
  return (
    <List
      label="Restores"
      pages={runs}
      columns={columns}
      keyOf={({ job_id }) => job_id}
      empty={
        <Empty title="Nothing was restored">
          <p>Open an archive and choose “Restore”.</p>
        </Empty>
      }
    />
  )
}

const columns: Column<RestoreRun>[] = [
  { id: 'created', head: 'Asked', cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'archive',
    head: 'Archive',
    cell: ({ archive_run_id }) => (
      <HereLink change={{ tab: undefined, run: archive_run_id }}>open</HereLink>
    ),
  },
  { id: 'rows', head: 'Rows', cell: (run) => <Rows of={run} /> },
  {
    id: 'erased',
    head: 'Left out as erased',
    number: true,
    wide: true,
    cell: ({ result }) => result && formatCount(result.erased_rows),
  },
  { id: 'by', head: 'By', wide: true, cell: ({ requested_by }) => <Actor of={requested_by} /> },
]

function Rows({ of: { state, progress, result, error } }: { of: RestoreRun }) {
  if (result !== null) return formatCount(result.rows)
  if (error !== null) return <Plain>{error}</Plain>
  if (!isUnderWay(state)) return null
  if (progress === null) return <Progress label="Starting" />
  const { files, files_total, rows } = progress
  const label = `${files} of ${files_total} files, ${formatCount(rows)} rows`
  return <Progress label={label} done={files} of={files_total} />
}

const path = '/api/v2/observability/restore/slices'

/** The restored slices, with the time at which each expires. */
function Slices() {
  const project_id = useProjectId()
  const slices = usePages(
    ['slices', project_id],
    (cursor, signal) => call.GET(path, { params: { query: { limit: 100, cursor } }, signal }),
    (each) => each.slices,
  )
  useRefetchWhile(
    slices.rows.some(({ state }) => state === 'restoring'),
    slices.refetch,
  )
  return (
    <List
      label="Slices"
      pages={slices}
      columns={sliceColumns}
      keyOf={({ slice_id }) => slice_id}
      empty={
        <Empty title="No slice">
          <p>Open an archive and choose “Restore”.</p>
        </Empty>
      }
    />
  )
}

const sliceColumns: Column<RestoredSlice>[] = [
  { id: 'slice', head: 'Slice', cell: ({ slice }) => <Plain>{slice}</Plain> },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'window',
    head: 'Window (UTC)',
    wide: true,
    cell: ({ window }) =>
      window === null ? 'all days' : `${window.from.slice(0, 10)} to ${window.to.slice(0, 10)}`,
  },
  { id: 'rows', head: 'Rows', number: true, cell: ({ rows }) => formatCount(rows) },
  { id: 'bytes', head: 'Size', number: true, wide: true, cell: ({ bytes }) => formatBytes(bytes) },
  {
    id: 'expires',
    head: 'Expires',
    number: true,
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
  { id: 'delete', head: 'Actions', cell: (slice) => <DeleteSlice slice={slice} /> },
]

function DeleteSlice({ slice }: { slice: RestoredSlice }) {
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const remove = api.useMutation('delete', `${path}/{slice_id}`, {
    onSuccess: async () => {
      notify('The slice is deleted.')
      await client.invalidateQueries({ queryKey: ['slices'] })
    },
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button
        small
        look="danger"
        disabled={!isAdmin || slice.state === 'ended'}
        onClick={() => setAsking(true)}
      >
        Delete
      </Button>
      <Confirm
        title="Delete the slice?"
        action="Delete the slice"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={remove.isPending}
        onConfirm={() => remove.mutate({ params: { path: { slice_id: slice.slice_id } } })}
      >
        <p>
          No query sees <Plain>{slice.slice}</Plain> any longer. The archive stays, so it can be
          restored again.
        </p>
      </Confirm>
    </>
  )
}
