import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ApiKey, ServiceAccount } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { HereLink } from '../../ui/here-link.tsx'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Badge, Button, Facts, Time } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { KeyForm } from './key-form.tsx'
import { isEnded, KeyTable } from './key-table.tsx'
import { RevokeKey } from './revoke-key.tsx'

const path = '/api/v2/access/service-accounts/{service_account_id}'

/** One service account: its state, its keys, and what can be done with it. */
export function Account({ id }: { id: string }) {
  const account = api.useQuery('get', path, { params: { path: { service_account_id: id } } })
  return (
    <div className={ui.stack}>
      <HereLink change={{ account: undefined }}>All service accounts</HereLink>
      <Loaded query={account} what="Reading the account">
        {(read) => (
          <>
            <div className={ui.row}>
              <h2>
                <Plain>{read.name}</Plain>
              </h2>
              <AccountState of={read} />
            </div>
            <ManagedBy by={read.managed_by} />
            <Facts
              of={[
                ['Id', <code key="id">{read.id}</code>],
                ['Scopes', read.scopes.join(', ')],
                ['Created', <Time key="at" at={read.created_at} />],
                ['Suspended', read.suspended_at && <Time key="s" at={read.suspended_at} />],
                ['Reason', read.suspended_reason && <Plain key="r">{read.suspended_reason}</Plain>],
              ]}
            />
            <Actions account={read} />
            <h2>Its keys</h2>
            <AccountKeys account={read} />
          </>
        )}
      </Loaded>
    </div>
  )
}

/** The state of an account: suspended before disabled before active. */
export function AccountState({ of }: { of: ServiceAccount }) {
  if (of.suspended_at !== null) return <Badge tone="bad">suspended</Badge>
  if (of.disabled_at !== null) return <Badge tone="warn">disabled</Badge>
  return <Badge tone="good">active</Badge>
}

type Asked = 'disable' | 'enable' | 'resume' | 'delete'

const questions: Record<Asked, readonly [title: string, about: string]> = {
  disable: [
    'Disable the account',
    'All keys and tokens of the account are refused until you enable it.',
  ],
  enable: ['Enable the account', 'The live keys of the account are accepted again.'],
  resume: ['Resume the account', 'New keys can be created again. Do it when the leak is closed.'],
  delete: ['Delete the account', 'The account and all its keys end. This cannot be undone.'],
}

/** Carries out what was asked. */
function send(asked: Asked, service_account_id: string, reason: string): Promise<unknown> {
  const params = { path: { service_account_id } }
  if (asked === 'disable') return call.POST(`${path}/disable`, { params })
  if (asked === 'enable') return call.POST(`${path}/enable`, { params })
  if (asked === 'resume') return call.POST(`${path}/resume`, { params, body: { reason } })
  return call.DELETE(path, { params })
}

function Actions({ account }: { account: ServiceAccount }) {
  const client = useQueryClient()
  const [, change] = useUrlState()
  const [asked, setAsked] = useState<Asked>()
  const [reason, setReason] = useState('')
  const [isRunning, setRunning] = useState(false)
  const isManaged = account.managed_by !== null
  const run = async (what: Asked) => {
    setRunning(true)
    try {
      await send(what, account.id, reason)
      notify(`${questions[what][0]}: done.`)
      if (what === 'delete') change({ account: undefined })
      setAsked(undefined)
      await client.invalidateQueries()
    } catch (error) {
      notifyFault(error)
    }
    setRunning(false)
  }
  const button = (what: Asked, isDisabled = isManaged) => (
    <Button
      look={what === 'delete' || what === 'disable' ? 'danger' : undefined}
      disabled={isDisabled}
      onClick={() => setAsked(what)}
    >
      {questions[what][0]}
    </Button>
  )
  const [title, about] = questions[asked ?? 'disable']
  return (
    <div className={ui.row}>
      {account.disabled_at === null ? button('disable') : button('enable')}
      {account.suspended_at !== null && button('resume', false)}
      {button('delete')}
      <Confirm
        title={title}
        action={title}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={() => asked !== undefined && void run(asked)}
        isRunning={isRunning || (asked === 'resume' && reason.trim() === '')}
      >
        <p>{about}</p>
        {asked === 'resume' && (
          <TextField
            label="Reason"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            hint="It is kept on record."
          />
        )}
      </Confirm>
    </div>
  )
}

const keysPath = '/api/v2/access/service-accounts/{service_account_id}/keys'

/** The keys of a service account. A resource that owns the account also owns its keys. */
function AccountKeys({ account }: { account: ServiceAccount }) {
  const service_account_id = account.id
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey>()
  const [made, setMade] = useState<{ title: string; secret: string }>()
  const mayCreate = account.managed_by === null && account.suspended_at === null
  const keys = usePages(
    ['account-keys', service_account_id],
    (cursor, signal) =>
      call.GET(keysPath, {
        params: { path: { service_account_id }, query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.api_keys,
  )
  const done = async (title: string, secret?: string | null) => {
    setOpen(false)
    setRevoked(undefined)
    if (secret) setMade({ title, secret })
    else notify(title)
    await client.invalidateQueries()
  }
  return (
    <>
      <div>
        <Button disabled={!mayCreate} onClick={() => setOpen(true)}>
          Create a key
        </Button>
      </div>
      {made !== undefined && <ShownOnce {...made} />}
      <KeyTable
        label="Keys of the account"
        pages={keys}
        actions={(key) =>
          isEnded(key, serverNow()) ? null : (
            <Button
              small
              look="danger"
              aria-label={`Revoke ${key.name}`}
              onClick={() => setRevoked(key)}
            >
              Revoke
            </Button>
          )
        }
        empty={<Empty title="The account has no keys" />}
      />
      <Dialog title="Create a key of the account" open={isOpen} onClose={() => setOpen(false)}>
        <KeyForm
          allowed={account.scopes}
          onCreate={async ({ name, scopes, environment, expires_at }) => {
            const { data } = await call.POST(keysPath, {
              params: { path: { service_account_id } },
              body: { name, scopes, environment, expires_at },
            })
            await done(`The new key ${name}`, data?.key)
          }}
        />
      </Dialog>
      {revoked !== undefined && (
        <RevokeKey of={revoked} onClose={() => setRevoked(undefined)} onDone={done} />
      )}
    </>
  )
}
