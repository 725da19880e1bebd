import { useSession } from '../../app/session.ts'
import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Grants } from './grants.tsx'
import { Keys } from './keys.tsx'
import { Members } from './members.tsx'
import { OperatorKeys } from './operator-keys.tsx'
import { ServiceAccounts } from './service-accounts.tsx'
import { Sessions } from './sessions.tsx'
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
