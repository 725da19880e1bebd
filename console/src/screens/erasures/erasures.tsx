import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { Erasure } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, useRefetchWhile } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Heading, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { ErasurePage } from './erasure-page.tsx'
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
