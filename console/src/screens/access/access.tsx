import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { OperatorKey } from '../../api/schema.gen.d.ts'
import { PasswordForm } from '../../session/password-form.tsx'
import { useSession } from '../../session/session.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Facts, Heading, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Grants } from './grants.tsx'
import { Keys } from './keys.tsx'
import { Members } from './members.tsx'
import { ServiceAccounts } from './service-accounts.tsx'
import { Users } from './users.tsx'

/** Who and what may use the project: people, keys, service accounts, namespaces of clusters. */
export function Access() {
  const { data: session } = useSession()
  const isAdministrator = session?.installation_admin === true
  return (
    <>
      <Heading title="Access" />
      <Tabs
        label="Access"
        tabs={[
          { id: 'members', title: 'Members', render: () => <Members /> },
          { id: 'keys', title: 'Keys', render: () => <Keys /> },
          { id: 'accounts', title: 'Service accounts', render: () => <ServiceAccounts /> },
          { id: 'grants', title: 'Grants', render: () => <Grants /> },
          { id: 'sessions', title: 'My sessions', render: () => <Sessions /> },
          ...(isAdministrator
            ? [
                { id: 'users', title: 'Users', render: () => <Users /> },
                { id: 'operators', title: 'Operator keys', render: () => <OperatorKeys /> },
              ]
            : []),
        ]}
      />
    </>
  )
}

/** The person's own sign-ins and password. */
function Sessions() {
  const { data: session } = useSession()
  if (session === undefined || session === null) return null
  const { email, display_name, by_issuer, idle_expires_at, expires_at } = session
  return (
    <div className={ui.stack}>
      <h2>This browser</h2>
      <Facts
        of={[
          ['Signed in as', <Plain key="name">{`${display_name} <${email}>`}</Plain>],
          ['By', by_issuer ? 'your organization’s sign-in' : 'password'],
          ['Ends without use', <Time key="idle" at={idle_expires_at} />],
          ['Ends at the latest', <Time key="end" at={expires_at} />],
        ]}
      />
      <EndAll />
      <h2>Password</h2>
      {by_issuer ? (
        <p>Your organization’s sign-in keeps your password. Change it there.</p>
      ) : (
        <div style={{ maxWidth: 420 }}>
          <PasswordForm />
        </div>
      )}
    </div>
  )
}

function EndAll() {
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const end = api.useMutation('delete', '/api/v1/auth/sessions', {
    onSuccess: () => client.resetQueries(),
    onError: notifyFault,
  })
  return (
    <div>
      <Button look="danger" onClick={() => setOpen(true)}>
        End all my sessions
      </Button>
      <Confirm
        title="End all your sessions"
        action="End all sessions"
        open={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => end.mutate({})}
        isRunning={end.isPending}
      >
        <p>
          This ends your sign-ins in all browsers and all your access tokens, this one too. You sign
          in again afterwards. Project keys keep working.
        </p>
      </Confirm>
    </div>
  )
}

/** The keys with which operators of Kubernetes reach this installation. */
function OperatorKeys() {
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
