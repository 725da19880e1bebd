import { useState } from 'react'
import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Checks } from './checks.tsx'
import { ClientSetup } from './client-setup.tsx'
import { Scenario } from './scenario.tsx'

/** The first minutes: point a client here, see its first call, and try what detection finds. */
export function Connect() {
  // The key lives as long as the screen: it is shown once, and its tab may be left and opened again.
  const [key, setKey] = useState<string>()
  return (
    <>
      <Heading title="Connect" />
      <Tabs
        label="Ways to begin"
        tabs={[
          {
            id: 'client',
            title: 'Your client',
            render: () => <ClientSetup createdKey={key} onCreated={setKey} />,
          },
          { id: 'scenario', title: 'Try with sample agents', render: () => <Scenario /> },
          { id: 'checks', title: 'Checks', render: () => <Checks /> },
        ]}
      />
    </>
  )
}
