import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { faultsOf } from '../../../api/problem.ts'
import type { Task } from '../../../api/schema.gen.d.ts'
import { useHasRole } from '../../../session/project.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { AreaField, faultAt } from '../../../ui/fields.tsx'
import { Form } from '../../../ui/form.tsx'
import { Button } from '../../../ui/parts.tsx'
import { notify } from '../../../ui/toasts.tsx'

type End = 'complete' | 'fail'

const titles = { complete: 'Complete the task', fail: 'Mark the task as failed' } as const

/** Buttons that end a running task. Calls that come later are still recorded. */
export function EndTask({ task: { task_id, state } }: { task: Task }) {
  const [asked, setAsked] = useState<End>()
  const canEnd = useHasRole('editor')
  if (state !== 'running') return null
  const reason = canEnd ? undefined : 'Needs the role editor'
  return (
    <>
      <Button small disabled={!canEnd} title={reason} onClick={() => setAsked('complete')}>
        Complete
      </Button>
      <Button small disabled={!canEnd} title={reason} onClick={() => setAsked('fail')}>
        Fail
      </Button>
      {asked !== undefined && (
        <EndDialog task_id={task_id} end={asked} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

function EndDialog({ task_id, end, onClose }: { task_id: string; end: End; onClose: () => void }) {
  const client = useQueryClient()
  const onSuccess = () => {
    notify(end === 'complete' ? 'Task completed' : 'Task marked as failed')
    onClose()
    void client.invalidateQueries({ queryKey: ['get', '/api/v1/tasks/{task_id}'] })
    void client.invalidateQueries({ queryKey: ['tasks'] })
  }
  const complete = api.useMutation('put', '/api/v1/tasks/{task_id}/complete', { onSuccess })
  const fail = api.useMutation('put', '/api/v1/tasks/{task_id}/fail', { onSuccess })
  const run = end === 'complete' ? complete : fail
  const submit = (form: FormData) => {
    const note = String(form.get('note') ?? '').trim()
    run.mutate({ params: { path: { task_id } }, body: note === '' ? {} : { note } })
  }
  return (
    <Dialog title={titles[end]} open onClose={onClose}>
      <Form
        of={run}
        action={titles[end]}
        onSubmit={submit}
        beside={<Button onClick={onClose}>Cancel</Button>}
      >
        <p>An ended task does not run again. Calls that come later are recorded and marked late.</p>
        <AreaField
          label="Note (optional)"
          name="note"
          rows={3}
          maxLength={2_000}
          fault={faultAt(faultsOf(run.error), '/note')}
        />
      </Form>
    </Dialog>
  )
}
