import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import type { ArchiveRun } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

/** Restores days of an archive into a slice. */
export function StartRestore({ archive }: { archive: ArchiveRun }) {
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
  const faults = start.error instanceof Problem ? start.error.faults : undefined
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
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
    <form className={ui.stack} onSubmit={submit}>
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
      {start.error !== null && <Fault error={start.error} />}
      <div>
        <Button type="submit" look="primary" disabled={start.isPending}>
          {start.isPending ? 'Starting…' : 'Restore'}
        </Button>
      </div>
    </form>
  )
}
