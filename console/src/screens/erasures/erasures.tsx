import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { Erasure } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { downloadText } from '../../ui/download.ts'
import { AreaField, CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatCount } from '../../ui/format.ts'
import { BackButton, HereLink } from '../../ui/here-link.tsx'
import { Actor, Progress, pollWhile, useRefetchWhile } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Facts, Heading, State, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Holds } from './holds.tsx'

/** Legal holds, which keep data from deletion, and erasures of the data of a user. */
export function Erasures() {
  return (
    <div className={ui.stack}>
      <Heading title="Holds and erasures" />
      <Tabs
        label="Holds and erasures"
        tabs={[
          { id: 'holds', title: 'Legal holds', render: () => <Holds /> },
          { id: 'erasures', title: 'Erasures', render: () => <ErasureList /> },
        ]}
      />
    </div>
  )
}

const path = '/api/v2/observability/erasures'

/** The erasures of the project; one of them is opened by the URL. */
function ErasureList() {
  const [{ erasure }] = useUrlState()
  return erasure === undefined ? <AllErasures /> : <ErasurePage erasure_id={erasure} />
}

function AllErasures() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const erasures = usePages(
    ['erasures', project_id],
    (cursor, signal) => call.GET(path, { params: { query: { limit: 50, cursor } }, signal }),
    (each) => each.erasures,
  )
  useRefetchWhile(
    erasures.rows.some(({ state }) => state === 'running'),
    erasures.refetch,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <StartErasure />
      </div>
      <List
        label="Erasures"
        pages={erasures}
        columns={columns}
        keyOf={({ erasure_id }) => erasure_id}
        onOpen={({ erasure_id }) => change({ erasure: erasure_id }, { push: true })}
        empty={
          <Empty title="No erasure">
            <p>An erasure deletes the data of one user in every store.</p>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<Erasure>[] = [
  {
    id: 'created',
    head: 'Asked',
    cell: ({ erasure_id, created_at }) => (
      <HereLink change={{ erasure: erasure_id }}>
        <Time at={created_at} />
      </HereLink>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'digest',
    head: 'Digest of the user',
    wide: true,
    cell: ({ user_id_digest }) => <code title={user_id_digest}>{user_id_digest.slice(0, 16)}</code>,
  },
  { id: 'reason', head: 'Reason', cell: ({ reason }) => <Plain>{reason}</Plain> },
  {
    id: 'rows',
    head: 'Rows',
    number: true,
    cell: ({ receipt }) =>
      receipt && formatCount(Object.values(receipt.counts).reduce((sum, each) => sum + each, 0)),
  },
  { id: 'by', head: 'By', wide: true, cell: ({ requested_by }) => <Actor of={requested_by} /> },
]

function StartErasure() {
  const [isOpen, setOpen] = useState(false)
  const isAdmin = useHasRole('admin')
  return (
    <>
      <Button look="danger" disabled={!isAdmin} onClick={() => setOpen(true)}>
        Erase a user…
      </Button>
      {!isAdmin && <span className={ui.soft}>Administrators of the project erase.</span>}
      <Dialog title="Erase the data of a user" open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <EraseForm />}
      </Dialog>
    </>
  )
}

function EraseForm() {
  const client = useQueryClient()
  const [, change] = useUrlState()
  const [[user_id, again], setIds] = useState(['', ''])
  const start = api.useMutation('post', path, {
    onSuccess: async ({ erasure_id }) => {
      await client.invalidateQueries({ queryKey: ['erasures'] })
      change({ erasure: erasure_id }, { push: true })
    },
  })
  const faults = faultsOf(start.error)
  const isSame = user_id !== '' && user_id === again
  const submit = (form: FormData) => {
    const reason = String(form.get('reason')).trim()
    start.mutate({ body: { user_id: user_id ?? '', reason, purge: form.get('purge') === 'on' } })
  }
  return (
    <Form
      of={start}
      action="Erase the data of this user"
      pending="Starting…"
      look="danger"
      disabled={!isSame}
      onSubmit={submit}
    >
      <p>
        All records of the user go: observations, traces, tasks, conversations, findings, feedback,
        and restored slices. This cannot be undone. Archives and backups keep their copies.
      </p>
      <TextField
        label="Id of the user"
        required
        value={user_id}
        fault={faultAt(faults, '/user_id')}
        onChange={(event) => setIds([event.target.value, again ?? ''])}
      />
      <TextField
        label="The same id again"
        required
        value={again}
        fault={again !== '' && !isSame ? 'The two ids are not equal.' : undefined}
        onChange={(event) => setIds([user_id ?? '', event.target.value])}
      />
      <AreaField
        label="Reason"
        name="reason"
        rows={2}
        required
        fault={faultAt(faults, '/reason')}
      />
      <CheckField label="Free the space on disk at once" name="purge" defaultChecked />
    </Form>
  )
}

const itemPath = '/api/v2/observability/erasures/{erasure_id}'

/** One erasure: how far it is, and its report. */
function ErasurePage({ erasure_id }: { erasure_id: string }) {
  const query = api.useQuery(
    'get',
    itemPath,
    { params: { path: { erasure_id } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <div className={ui.stack}>
      <BackButton all="erasures" change={{ erasure: undefined }} />
      <Loaded query={query} what="Reading the erasure">
        {(erasure) => (
          <>
            <div className={ui.row}>
              <h2>Report of an erasure</h2>
              <State of={erasure.state} />
              {erasure.receipt !== null && (
                <Button
                  small
                  onClick={() =>
                    downloadText(`erasure-${erasure_id}.json`, JSON.stringify(erasure, null, 2))
                  }
                >
                  Save the report
                </Button>
              )}
            </div>
            {erasure.state === 'running' && <Progress label={stepOf(erasure)} />}
            <AboutErasure of={erasure} />
            {erasure.receipt !== null && <Receipt of={erasure.receipt} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

function stepOf({ unreadable_at }: Erasure): string {
  if (unreadable_at === null) return 'Step 1 of 2: the stores hide the rows'
  return 'Step 2 of 2: the space is freed. No query finds the rows any longer'
}

function AboutErasure({ of }: { of: Erasure }) {
  return (
    <Facts
      of={[
        ['Digest of the user', <code key="d">{of.user_id_digest}</code>],
        ['Reason', <Plain key="r">{of.reason}</Plain>],
        ['Asked by', <Actor key="a" of={of.requested_by} />],
        ['Asked', <Time key="c" at={of.created_at} />],
        ['Unreadable since', of.unreadable_at && <Time key="u" at={of.unreadable_at} />],
        ['Ended', of.ended_at && <Time key="e" at={of.ended_at} />],
      ]}
    />
  )
}

function Receipt({ of }: { of: NonNullable<Erasure['receipt']> }) {
  const project_id = useProjectId()
  return (
    <>
      <h3>What was deleted</h3>
      <Table
        label="Deleted rows"
        rows={Object.entries(of.counts)}
        keyOf={([kind]) => kind}
        columns={[
          { id: 'kind', head: 'Kind', cell: ([kind]) => kind.replaceAll('_', ' ') },
          { id: 'rows', head: 'Rows', number: true, cell: ([, rows]) => formatCount(rows) },
        ]}
      />
      <p>
        {of.purged
          ? 'No such row is left in a table.'
          : 'The space is freed when files are merged.'}
        {of.held_rows > 0 && ` ${formatCount(of.held_rows)} rows stay under a legal hold.`}
      </p>
      {of.remaining.length > 0 && (
        <>
          <h3>Where data of the user is left</h3>
          <ul>
            {of.remaining.map(({ what, detail, until }) => (
              <li key={what}>
                <strong>{what.replaceAll('_', ' ')}</strong>: <Plain>{detail}</Plain>{' '}
                {until !== null && (
                  <>
                    Until about <Time at={until} />.
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {of.archives.length > 0 && (
        <ul aria-label="Archives with data of the user">
          {of.archives.map((job_id) => (
            <li key={job_id}>
              <Link
                to="/p/$project_id/archives"
                params={{ project_id }}
                search={{ run: job_id } as never}
              >
                Archive {job_id.slice(-8)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
