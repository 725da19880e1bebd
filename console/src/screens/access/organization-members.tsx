import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Member, Organization } from '../../api/schema.gen.d.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import { Person, RoleSelect, useMemberChange } from './member-parts.tsx'

const path = '/api/v2/access/organizations/{organization_id}/members/{member_user_id}'
const roles = ['member', 'admin', 'owner'] as const
type Role = (typeof roles)[number]

/** The members of the organization and their roles in it. */
export function OrganizationMembers({ organization }: { organization: Organization }) {
  const organization_id = organization.id
  const [removed, setRemoved] = useState<Member>()
  const key = ['members', organization_id]
  const members = usePages(
    key,
    (cursor, signal) =>
      call.GET('/api/v2/access/organizations/{organization_id}/members', {
        params: { path: { organization_id }, query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.members,
  )
  const change = useMemberChange(key)
  const setRole = ({ user_id, email, version }: Member, role: Role) =>
    change(`${email} is ${role} of the organization now.`, () =>
      call.PUT(path, {
        params: {
          path: { organization_id, member_user_id: user_id },
          header: { 'If-Match': `"${version}"` },
        },
        body: { role },
      }),
    )
  const remove = async ({ user_id, email }: Member) => {
    setRemoved(undefined)
    await change(`${email} left the organization.`, () =>
      call.DELETE(path, { params: { path: { organization_id, member_user_id: user_id } } }),
    )
  }
  return (
    <>
      <List
        label="Members of the organization"
        pages={members}
        keyOf={({ user_id }) => user_id}
        columns={columns(setRole, setRemoved)}
      />
      <Confirm
        title="Remove the member from the organization"
        action="Remove the member"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => removed !== undefined && void remove(removed)}
      >
        <p>
          <Plain>{removed?.email ?? ''}</Plain> loses access to all projects of{' '}
          <Plain>{organization.name}</Plain>. The account stays.
        </p>
      </Confirm>
    </>
  )
}

const columns = (
  setRole: (member: Member, role: Role) => Promise<void>,
  askRemove: (member: Member) => void,
): Column<Member>[] => [
  {
    id: 'person',
    head: 'Person',
    cell: Person,
  },
  {
    id: 'role',
    head: 'Role in the organization',
    cell: (member) => (
      <RoleSelect
        label={`Role of ${member.email} in the organization`}
        role={member.role}
        roles={roles}
        onChoose={(role) => void setRole(member, role)}
      />
    ),
  },
  {
    id: 'since',
    head: 'Since',
    wide: true,
    cell: ({ created_at }) => <Time at={created_at} ago />,
  },
  {
    id: 'actions',
    head: 'Actions',
    cell: (member) => (
      <Button
        small
        look="danger"
        aria-label={`Remove ${member.email} from the organization`}
        onClick={() => askRemove(member)}
      >
        Remove
      </Button>
    ),
  },
]

/** Leaves the organization. The last owner cannot. */
export function Leave({ organization }: { organization: Organization }) {
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  const client = useQueryClient()
  const leave = api.useMutation('post', '/api/v2/access/organizations/{organization_id}/leave', {
    onSuccess: async () => {
      notify(`You left ${organization.name}.`)
      await client.invalidateQueries()
      await navigate({ to: '/' })
    },
    onError: notifyFault,
  })
  return (
    <div>
      <Button look="danger" onClick={() => setOpen(true)}>
        Leave the organization
      </Button>
      <Confirm
        title="Leave the organization"
        action="Leave the organization"
        open={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => leave.mutate({ params: { path: { organization_id: organization.id } } })}
        isRunning={leave.isPending}
      >
        <p>
          You lose access to all projects of <Plain>{organization.name}</Plain>. Only a new
          invitation brings you back.
        </p>
      </Confirm>
    </div>
  )
}
