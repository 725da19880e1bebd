import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { NewInvitation, Organization, ProjectMember } from '../../api/schema.gen.d.ts'
import { isOrganizationAdmin, useOrganization } from '../../session/organization.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { List } from '../../ui/list.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Button } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Empty, Fault } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { linkOf } from './invitation-link.ts'
import { Invitations } from './invitations.tsx'
import { Person, RoleSelect, useMemberChange } from './member-parts.tsx'
import { Leave, OrganizationMembers } from './organization-members.tsx'

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

const listPath = '/api/v2/access/projects/{project_id}/members'
const path = '/api/v2/access/projects/{project_id}/members/{member_user_id}'
const roles = ['viewer', 'editor', 'admin'] as const
type Role = (typeof roles)[number]

/** The people who can see the project: their role in it, and where it comes from. */
function ProjectMembers() {
  const project_id = useProjectId()
  const [removed, setRemoved] = useState<ProjectMember>()
  const key = ['project-members', project_id]
  const members = usePages(
    key,
    (cursor, signal) =>
      call.GET(listPath, {
        params: { path: { project_id }, query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.members,
  )
  const change = useMemberChange(key)
  const setRole = (member: ProjectMember, role: Role) =>
    change(`${member.email} is ${role} of the project now.`, () =>
      call.PUT(path, {
        params: {
          path: { project_id, member_user_id: member.user_id },
          header: { 'If-Match': `"${member.version}"` },
        },
        body: { role },
      }),
    )
  const remove = async ({ user_id, email }: ProjectMember) => {
    setRemoved(undefined)
    await change(`${email} has no role of the project's own any more.`, () =>
      call.DELETE(path, { params: { path: { project_id, member_user_id: user_id } } }),
    )
  }
  return (
    <>
      <List
        label="Members of the project"
        pages={members}
        keyOf={({ user_id }) => user_id}
        columns={columns(setRole, setRemoved)}
        empty={<Empty title="No person has a role in this project yet" />}
      />
      <Confirm
        title="Remove the member"
        action="Remove the member"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => removed !== undefined && void remove(removed)}
      >
        <p>
          <Plain>{removed?.email ?? ''}</Plain> loses the role of this project. The person stays a
          member of the organization.
        </p>
      </Confirm>
    </>
  )
}

const columns = (
  setRole: (member: ProjectMember, role: Role) => Promise<void>,
  askRemove: (member: ProjectMember) => void,
): Column<ProjectMember>[] => [
  {
    id: 'person',
    head: 'Person',
    cell: Person,
  },
  {
    id: 'role',
    head: 'Role in the project',
    cell: (member) => (
      <RoleSelect
        label={`Role of ${member.email} in the project`}
        role={member.role}
        roles={roles}
        disabled={member.project_role === null && member.organization_role !== 'member'}
        onChoose={(role) => void setRole(member, role)}
      />
    ),
  },
  {
    id: 'from',
    head: 'From',
    wide: true,
    cell: ({ project_role, organization_role }) =>
      project_role === null ? `${organization_role} of the organization` : 'a role in this project',
  },
  {
    id: 'actions',
    head: 'Actions',
    cell: (member) =>
      member.project_role !== null && (
        <Button
          small
          look="danger"
          aria-label={`Remove ${member.email}`}
          onClick={() => askRemove(member)}
        >
          Remove
        </Button>
      ),
  },
]

const projectRoles = [
  ['viewer', 'viewer: reads'],
  ['editor', 'editor: reads, and answers incidents'],
  ['admin', 'admin: everything in the project'],
] as const
const organizationRoles = [
  ['member', 'member: sees projects with a role'],
  ['admin', 'admin: all projects and members'],
  ['owner', 'owner: admin who can delete the organization'],
] as const

type Asked = { email: string; role: string; inOrganization: string }

/** Invites a person to the project; administrators of the organization choose a role there too. */
function InviteForm({ organization }: { organization: Organization | undefined }) {
  const project_id = useProjectId()
  const client = useQueryClient()
  const [link, setLink] = useState<{ email: string; link: string }>()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const send = async ({ email, role, inOrganization }: Asked) => {
    if (organization === undefined) {
      const params = { path: { project_id } }
      return call.POST('/api/v2/access/projects/{project_id}/members', {
        params,
        body: { email, role: role as 'viewer' },
      })
    }
    return call.POST('/api/v2/access/organizations/{organization_id}/members', {
      params: { path: { organization_id: organization.id } },
      body: {
        email,
        role: inOrganization as 'member',
        projects: [{ project_id, role: role as 'viewer' }],
      },
    })
  }
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const values = new FormData(form)
    const text = (name: string) => String(values.get(name) ?? '')
    setRunning(true)
    setError(undefined)
    try {
      const { data } = await send({
        email: text('email'),
        role: text('role'),
        inOrganization: text('organization'),
      })
      setLink(data === undefined ? undefined : toLink(data as NewInvitation))
      form.reset()
      await client.invalidateQueries()
    } catch (fault) {
      setError(fault)
    }
    setRunning(false)
  }
  const faults = faultsOf(error)
  return (
    <section className={ui.stack} aria-label="Invite a person">
      <form
        className={ui.row}
        style={{ alignItems: 'end' }}
        onSubmit={(event) => void submit(event)}
      >
        <TextField
          label="E-mail to invite"
          name="email"
          type="email"
          required
          fault={faultAt(faults, '/email')}
        />
        <SelectField label="Role in the project" name="role" options={projectRoles} />
        {organization !== undefined && (
          <SelectField
            label="Role in the organization"
            name="organization"
            options={organizationRoles}
          />
        )}
        <Button type="submit" look="primary" disabled={isRunning}>
          {isRunning ? 'Inviting…' : 'Invite'}
        </Button>
      </form>
      {error !== undefined && <Fault error={error} />}
      {link !== undefined && (
        <ShownOnce title={`Pass this link on to ${link.email}`} secret={link.link} />
      )}
    </section>
  )
}

/** Returns the link to pass on; none if it was mailed, or if the person is a member already. */
function toLink(
  reply: NewInvitation | { email: string },
): { email: string; link: string } | undefined {
  const link = linkOf(reply, window.location.origin)
  if (link !== undefined) return { email: reply.email, link }
  if ('delivery' in reply) notify(`The invitation was mailed to ${reply.email}.`)
  else notify(`${reply.email} is a member already. The role was changed.`)
  return undefined
}
