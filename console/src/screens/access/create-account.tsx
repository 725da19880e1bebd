import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { KeyScope, ServiceAccount } from '../../api/schema.gen.d.ts'
import { useProject } from '../../app/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { ScopeBoxes } from './scope-boxes.tsx'
import { firstScopes } from './scopes.ts'

/** Creates a service account. Its keys are created afterwards. */
export function CreateAccount({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (account: ServiceAccount) => void
}) {
  const allowed = useProject()?.key_scopes ?? null
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<KeyScope[]>(
    firstScopes.filter((each) => allowed?.includes(each) ?? true),
  )
  const create = api.useMutation('post', '/api/v2/access/service-accounts', {
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['service-accounts'] })
      onCreated(made)
    },
  })
  const faults = faultsOf(create.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ body: { name, scopes: chosen } })
  }
  return (
    <Dialog title="Create a service account" open onClose={onClose}>
      <form className={ui.stack} onSubmit={submit}>
        <TextField
          label="Name"
          value={name}
          required
          onChange={(event) => setName(event.target.value)}
          fault={faultAt(faults, '/name')}
        />
        <ScopeBoxes
          chosen={chosen}
          onChange={setChosen}
          allowed={allowed}
          fault={faultAt(faults, '/scopes')}
        />
        {create.error !== null && <Fault error={create.error} />}
        <Button type="submit" look="primary" disabled={create.isPending}>
          {create.isPending ? 'Creating…' : 'Create the account'}
        </Button>
      </form>
    </Dialog>
  )
}
