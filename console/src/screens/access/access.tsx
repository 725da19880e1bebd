import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { PasswordForm } from '../../app/password-form.tsx'
import { useSession } from '../../app/session.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { Button, Facts, Heading, Time } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Grants } from './grants.tsx'
import { Keys } from './keys.tsx'
import { Members } from './members.tsx'
import { OperatorKeys } from './operator-keys.tsx'
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
