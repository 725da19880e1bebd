import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ApiKey, ServiceAccount } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Empty } from '../../ui/states.tsx'
import { notify } from '../../ui/toasts.tsx'
import { KeyForm } from './key-form.tsx'
import { isEnded, KeyTable } from './key-table.tsx'
import { RevokeKey } from './revoke-key.tsx'

const path = '/api/v2/access/service-accounts/{service_account_id}/keys'

/** The keys of a service account. A resource that owns the account also owns its keys. */
export function AccountKeys({ account }: { account: ServiceAccount }) {
  const service_account_id = account.id
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey>()
  const [made, setMade] = useState<{ title: string; secret: string }>()
  const mayCreate = account.managed_by === null && account.suspended_at === null
  const keys = usePages(
    ['account-keys', service_account_id],
    (cursor, signal) =>
      call.GET(path, {
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
            const { data } = await call.POST(path, {
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
