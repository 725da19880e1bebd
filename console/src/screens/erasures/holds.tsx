import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { LegalHold } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { AreaField, CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Actor } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

const path = '/api/v2/observability/legal-holds'
const kinds = ['user', 'task', 'conversation', 'trace'] as const

/** The legal holds of the project. */
export function Holds() {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const isReleased = search['released'] === 'true'
  const holds = usePages(
    ['legal-holds', project_id, isReleased],
    (cursor, signal) =>
      call.GET(path, {
        params: { query: { limit: 50, cursor, ...(isReleased && { released: true }) } },
        signal,
      }),
    (each) => each.holds,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <PlaceHold />
        <CheckField
          label="Show released holds too"
          checked={isReleased}
          onChange={(event) => change({ released: event.target.checked ? 'true' : undefined })}
        />
      </div>
      <List
        label="Legal holds"
        pages={holds}
        columns={columns}
        keyOf={({ hold_id }) => hold_id}
        empty={
          <Empty title="No legal hold">
            <p>
              A hold keeps a user, task, conversation or trace from deletion, however old it is.
            </p>
          </Empty>
        }
      />
    </div>
  )
}

function PlaceHold() {
  const [isOpen, setOpen] = useState(false)
  const isAdmin = useHasRole('admin')
  return (
    <>
      <Button look="primary" disabled={!isAdmin} onClick={() => setOpen(true)}>
        Place a hold…
      </Button>
      {!isAdmin && <span className={ui.soft}>Administrators of the project place holds.</span>}
      <Dialog title="Place a legal hold" open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <HoldForm onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  )
}

function HoldForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient()
  const place = api.useMutation('post', path, {
    onSuccess: async () => {
      notify('The hold is placed. It applies from the next step of a run on.')
      await client.invalidateQueries({ queryKey: ['legal-holds'] })
      onDone()
    },
  })
  const faults = faultsOf(place.error)
  const submit = (form: FormData) => {
    const kind = kinds.find((each) => each === form.get('kind')) ?? 'user'
    const [value, reason] = [String(form.get('value')).trim(), String(form.get('reason')).trim()]
    place.mutate({ body: { kind, value, reason } })
  }
  return (
    <Form of={place} action="Place the hold" pending="Placing…" onSubmit={submit}>
      <SelectField
        label="What is held"
        name="kind"
        options={kinds.map((kind) => [kind, kind] as const)}
      />
      <TextField
        label="Id"
        name="value"
        required
        hint="The id of the user, or the id or the client's own id of the others."
        fault={faultAt(faults, '/value')}
      />
      <AreaField
        label="Reason"
        name="reason"
        rows={2}
        required
        fault={faultAt(faults, '/reason')}
      />
    </Form>
  )
}

const columns: Column<LegalHold>[] = [
  { id: 'kind', head: 'What', cell: ({ kind }) => kind },
  { id: 'value', head: 'Id', cell: ({ value }) => <Plain>{value}</Plain> },
  { id: 'reason', head: 'Reason', cell: ({ reason }) => <Plain>{reason}</Plain> },
  { id: 'by', head: 'Placed by', wide: true, cell: ({ created_by }) => <Actor of={created_by} /> },
  { id: 'at', head: 'Placed', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'state', head: 'State', cell: (hold) => <HoldState of={hold} /> },
]

function HoldState({ of }: { of: LegalHold }) {
  if (of.released_at !== null) {
    return (
      <>
        <Badge>released</Badge> <Time at={of.released_at} />{' '}
        {of.released_by !== null && <Actor of={of.released_by} />}
      </>
    )
  }
  if (of.managed_by !== null) {
    const { kind, namespace, name } = of.managed_by
    return (
      <span className={ui.soft}>
        managed by <Plain>{`${kind}/${namespace}/${name}`}</Plain>
      </span>
    )
  }
  return <ReleaseHold hold={of} />
}

function ReleaseHold({ hold }: { hold: LegalHold }) {
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const release = api.useMutation('delete', `${path}/{hold_id}`, {
    onSuccess: async () => {
      notify('The hold is released.')
      await client.invalidateQueries({ queryKey: ['legal-holds'] })
    },
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button small disabled={!isAdmin} onClick={() => setAsking(true)}>
        Release…
      </Button>
      <Confirm
        title="Release the hold?"
        action="Release the hold"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={release.isPending}
        onConfirm={() => release.mutate({ params: { path: { hold_id: hold.hold_id } } })}
      >
        <p>
          It was placed because: <Plain>{hold.reason}</Plain>
        </p>
        <p>The next retention run may delete what it protected. Your name is recorded.</p>
      </Confirm>
    </>
  )
}
