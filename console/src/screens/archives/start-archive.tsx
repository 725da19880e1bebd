import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { useHasRole } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

/** The kinds of records that an archive can have. */
const kinds = ['observations', 'traces', 'events', 'links', 'correlations'] as const

/** Archives some days. */
export function StartArchive() {
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
  const faults = start.error instanceof Problem ? start.error.faults : undefined
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
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
    <form className={ui.stack} onSubmit={submit}>
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
      {start.error !== null && <Fault error={start.error} />}
      <div>
        <Button type="submit" look="primary" disabled={start.isPending}>
          {start.isPending ? 'Starting…' : 'Archive'}
        </Button>
      </div>
    </form>
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
