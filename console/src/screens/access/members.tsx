import { isOrganizationAdmin, useOrganization } from '../../app/organization.ts'
import { useHasRole } from '../../app/project.ts'
import { NeedsRole } from '../../ui/needs-role.tsx'
import ui from '../../ui/ui.module.css'
import { Invitations } from './invitations.tsx'
import { InviteForm } from './invite-form.tsx'
import { Leave, OrganizationMembers } from './organization-members.tsx'
import { ProjectMembers } from './project-members.tsx'

/** The people of the project and of its organization, and who is invited. */
export function Members() {
  const isAdmin = useHasRole('admin')
  const organization = useOrganization()
  const mayManage = isOrganizationAdmin(organization)
  return (
    <div className={ui.stack}>
      {isAdmin ? <InviteForm organization={mayManage ? organization : undefined} /> : null}
      <h2>Of the project</h2>
      {isAdmin ? (
        <ProjectMembers />
      ) : (
        <NeedsRole what="The list of members" needs="admin in the project" />
      )}
      <h2>Of the organization</h2>
      {organization !== undefined && mayManage ? (
        <>
          <OrganizationMembers organization={organization} />
          <h2>Invitations</h2>
          <Invitations organization_id={organization.id} />
        </>
      ) : (
        <NeedsRole
          what="The members and invitations of the organization"
          needs="admin in the organization"
        />
      )}
      {organization !== undefined && <Leave organization={organization} />}
    </div>
  )
}
