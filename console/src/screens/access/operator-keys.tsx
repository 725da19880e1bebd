import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { OperatorKey } from '../../api/schema.gen.d.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

/** The keys with which operators of Kubernetes reach this installation. */
export function OperatorKeys() {
  const client = useQueryClient()
  const [revoked, setRevoked] = useState<OperatorKey>()
  const keys = usePages(
    ['operator-keys'],
    (cursor, signal) =>
      call.GET('/api/v2/access/operator-keys', {
        params: { query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.operator_keys,
  )
  const revoke = api.useMutation('delete', '/api/v2/access/operator-keys/{operator_key_id}', {
    onSuccess: async () => {
      notify('The operator key is revoked.')
      setRevoked(undefined)
      await client.invalidateQueries({ queryKey: ['operator-keys'] })
    },
    onError: notifyFault,
  })
  return (
    <div className={ui.stack}>
      <List
        label="Operator keys"
        pages={keys}
        keyOf={({ id }) => id}
        columns={[
          { id: 'key', head: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
          {
            id: 'state',
            head: 'State',
            cell: ({ revoked_at }) =>
              revoked_at === null ? (
                <Badge tone="good">live</Badge>
              ) : (
                <>
                  <Badge tone="bad">revoked</Badge> <Time at={revoked_at} ago />
                </>
              ),
          },
          {
            id: 'used',
            head: 'Last used',
            cell: ({ last_used_at }) =>
              last_used_at === null ? 'never' : <Time at={last_used_at} ago />,
          },
          {
            id: 'created',
            head: 'Created',
            wide: true,
            cell: ({ created_at }) => <Time at={created_at} ago />,
          },
          {
            id: 'actions',
            head: 'Actions',
            cell: (key) =>
              key.revoked_at === null && (
                <Button
                  small
                  look="danger"
                  aria-label={`Revoke ${key.prefix}`}
                  onClick={() => setRevoked(key)}
                >
                  Revoke
                </Button>
              ),
          },
        ]}
        empty={
          <Empty title="No operator keys">
            <p>The chart creates one when the operator is installed.</p>
          </Empty>
        }
      />
      <Confirm
        title="Revoke the operator key"
        action="Revoke the key"
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        onConfirm={() =>
          revoked !== undefined &&
          revoke.mutate({ params: { path: { operator_key_id: revoked.id } } })
        }
        isRunning={revoke.isPending}
      >
        <p>
          The operator that uses <code>{revoked?.prefix}…</code> can change nothing until it has a
          new key. Its resources are not Ready until then.
        </p>
      </Confirm>
    </div>
  )
}
