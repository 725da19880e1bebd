import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ApiKey, OperatorKey } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { PasswordForm } from '../../session/password-form.tsx'
import { useHasRole, useProject, useProjectId } from '../../session/project.ts'
import { useSession } from '../../session/session.ts'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Badge, Button, Facts, Heading, Time } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Empty } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Grants } from './grants.tsx'
import { KeyForm } from './key-form.tsx'
import { isEnded, KeyTable } from './key-table.tsx'
import { Members } from './members.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'
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

const path = '/api/v2/access/projects/{project_id}/api-keys'

/** The keys of the project: create, rotate, revoke. */
function Keys() {
  const isAdmin = useHasRole('admin')
  return isAdmin ? <KeyList /> : <NeedsRole what="Reading keys" needs="admin in the project" />
}

type Opened = { what: 'create' } | { what: 'rotate' | 'revoke'; key: ApiKey }

function KeyList() {
  const project_id = useProjectId()
  const allowed = useProject()?.key_scopes ?? null
  const client = useQueryClient()
  const [opened, setOpened] = useState<Opened>()
  const [made, setMade] = useState<{ title: string; secret: string }>()
  const keys = usePages(
    ['api-keys', project_id],
    (cursor, signal) =>
      call.GET(path, { params: { path: { project_id }, query: { limit: 50, cursor } }, signal }),
    (each) => each.api_keys,
  )
  const close = () => setOpened(undefined)
  const done = async (title: string, secret?: string | null) => {
    close()
    if (secret) setMade({ title, secret })
    else notify(title)
    await client.invalidateQueries({ queryKey: ['api-keys', project_id] })
  }
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <Button look="primary" onClick={() => setOpened({ what: 'create' })}>
          Create a key
        </Button>
        <span className={ui.soft}>Applications send traces and model calls with a key.</span>
      </div>
      {made !== undefined && <ShownOnce {...made} />}
      <KeyTable
        label="Keys"
        pages={keys}
        actions={(key) =>
          isEnded(key, serverNow()) ? null : (
            <>
              <Button
                small
                aria-label={`Rotate ${key.name}`}
                onClick={() => setOpened({ what: 'rotate', key })}
              >
                Rotate
              </Button>{' '}
              <Button
                small
                look="danger"
                aria-label={`Revoke ${key.name}`}
                onClick={() => setOpened({ what: 'revoke', key })}
              >
                Revoke
              </Button>
            </>
          )
        }
        empty={
          <Empty title="No keys yet">
            <p>Create one, or let the page Connect create one together with the lines to paste.</p>
          </Empty>
        }
      />
      <Dialog title="Create a key" open={opened?.what === 'create'} onClose={close}>
        <KeyForm
          hasOrigins
          allowed={allowed}
          onCreate={async (body) => {
            const { data } = await call.POST(path, { params: { path: { project_id } }, body })
            await done(`The new key ${body.name}`, data?.key)
          }}
        />
      </Dialog>
      {opened?.what === 'rotate' && <RotateKey of={opened.key} onClose={close} onDone={done} />}
      {opened?.what === 'revoke' && <RevokeKey of={opened.key} onClose={close} onDone={done} />}
    </div>
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
