import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { KeyScope, ServiceAccount } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProject, useProjectId } from '../../session/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { HereLink } from '../../ui/here-link.tsx'
import { List } from '../../ui/list.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { firstScopes, ScopeBoxes } from './scope-boxes.tsx'
import { Account, AccountState } from './service-account.tsx'

/** The service accounts of the project, or the one that the URL names. */
export function ServiceAccounts() {
  const isAdmin = useHasRole('admin')
  const [{ account }] = useUrlState()
  if (!isAdmin) return <NeedsRole what="Reading service accounts" needs="admin in the project" />
  return account === undefined ? <AccountList /> : <Account id={account} />
}

function AccountList() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const [isOpen, setOpen] = useState(false)
  const accounts = usePages(
    ['service-accounts', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/access/service-accounts', {
        params: { query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.service_accounts,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <Button look="primary" onClick={() => setOpen(true)}>
          Create a service account
        </Button>
        <span className={ui.soft}>
          An application with several keys, which are rotated together.
        </span>
      </div>
      <List
        label="Service accounts"
        pages={accounts}
        keyOf={({ id }) => id}
        columns={columns}
        onOpen={({ id }) => change({ account: id }, { push: true })}
        empty={
          <Empty title="No service accounts">
            <p>
              Create one here, or declare a <code>LooptraceServiceAccount</code> in your cluster.
            </p>
          </Empty>
        }
      />
      {isOpen && (
        <CreateAccount
          onClose={() => setOpen(false)}
          onCreated={({ id }) => {
            setOpen(false)
            change({ account: id }, { push: true })
          }}
        />
      )}
    </div>
  )
}

const columns: Column<ServiceAccount>[] = [
  {
    id: 'name',
    head: 'Account',
    cell: ({ id, name }) => (
      <HereLink change={{ account: id }}>
        <Plain>{name}</Plain>
      </HereLink>
    ),
  },
  { id: 'state', head: 'State', cell: (account) => <AccountState of={account} /> },
  { id: 'scopes', head: 'Scopes', wide: true, cell: ({ scopes }) => scopes.join(', ') },
  {
    id: 'managed',
    head: 'Managed by',
    wide: true,
    cell: ({ managed_by }) =>
      managed_by === null ? (
        'people'
      ) : (
        <code>
          <Plain>{`${managed_by.kind}/${managed_by.namespace}/${managed_by.name}`}</Plain>
        </code>
      ),
  },
  { id: 'created', head: 'Created', cell: ({ created_at }) => <Time at={created_at} ago /> },
]

/** Creates a service account. Its keys are created afterwards. */
function CreateAccount({
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
  const submit = () => {
    create.mutate({ body: { name, scopes: chosen } })
  }
  return (
    <Dialog title="Create a service account" open onClose={onClose}>
      <Form of={create} action="Create the account" pending="Creating…" onSubmit={submit}>
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
      </Form>
    </Dialog>
  )
}
