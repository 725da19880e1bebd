import { isOrganizationAdmin, useOrganization } from '../../app/organization.ts'
import { useSession } from '../../app/session.ts'
import { useUrlState } from '../../app/use-search.ts'
import { SelectField } from '../../ui/fields.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Checkpoints } from './checkpoints.tsx'
import { Events } from './events.tsx'
import { Export } from './export.tsx'
import { Reads } from './reads.tsx'
import { Verify } from './verify.tsx'

/** The audit trail: records of calls, reads of contents, and the check that no record was changed. */
export function Audit() {
  const [search, change] = useUrlState()
  const { data: session } = useSession()
  const organization = useOrganization()
  const isAdministrator = session?.installation_admin === true
  const mayRead = isOrganizationAdmin(organization)
  const chain = mayRead && search['chain'] !== 'installation' ? 'organization' : 'installation'
  if (!mayRead && !isAdministrator) {
    return (
      <>
        <Heading title="Audit" />
        <NeedsRole what="Reading what others did" needs="admin in the organization" />
      </>
    )
  }
  return (
    <>
      <Heading title="Audit">
        {isAdministrator && mayRead && (
          <SelectField
            label="Records of"
            value={chain}
            options={[
              ['organization', 'this organization'],
              ['installation', 'the installation: sign-ins and accounts'],
            ]}
            onChange={({ target }) =>
              change({ chain: target.value === 'installation' ? 'installation' : undefined })
            }
          />
        )}
      </Heading>
      <Tabs
        label="Audit"
        tabs={[
          { id: 'events', title: 'Events', render: () => <Events chain={chain} /> },
          { id: 'reads', title: 'Reads of contents', render: () => <Reads chain={chain} /> },
          { id: 'verify', title: 'Verify', render: () => <Verify key={chain} chain={chain} /> },
          { id: 'checkpoints', title: 'Checkpoints', render: () => <Checkpoints chain={chain} /> },
          { id: 'export', title: 'Export', render: () => <Export key={chain} chain={chain} /> },
        ]}
      />
    </>
  )
}
