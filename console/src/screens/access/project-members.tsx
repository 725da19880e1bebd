import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ProjectMember } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Button } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { Person, RoleSelect, useMemberChange } from './member-parts.tsx'

const listPath = '/api/v2/access/projects/{project_id}/members'
const path = '/api/v2/access/projects/{project_id}/members/{member_user_id}'
const roles = ['viewer', 'editor', 'admin'] as const
type Role = (typeof roles)[number]

/** The people who can see the project: their role in it, and where it comes from. */
export function ProjectMembers() {
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
