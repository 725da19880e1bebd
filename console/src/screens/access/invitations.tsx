import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Invitation } from '../../api/schema.gen.d.ts'
import { List } from '../../ui/list.tsx'
import { Button, State, Time } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import { linkOf } from './invitation-link.ts'

const path = '/api/v2/access/organizations/{organization_id}/invitations'

/** The invitations of the organization: a new link for one, or its end. */
export function Invitations({ organization_id }: { organization_id: string }) {
  const client = useQueryClient()
  const [link, setLink] = useState<{ email: string; link: string }>()
  const key = ['invitations', organization_id]
  const invitations = usePages(
    key,
    (cursor, signal) =>
      call.GET(path, {
        params: { path: { organization_id }, query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.invitations,
  )
  const at = (invitation_id: string) => ({ params: { path: { organization_id, invitation_id } } })
  const change = async (write: () => Promise<void>) => {
    try {
      await write()
    } catch (error) {
      notifyFault(error)
    }
    await client.invalidateQueries({ queryKey: key })
  }
  const resend = ({ id, email }: Invitation) =>
    change(async () => {
      const { data } = await call.POST(`${path}/{invitation_id}/resend`, at(id))
      const made = linkOf(data ?? {}, window.location.origin)
      setLink(made === undefined ? undefined : { email, link: made })
      if (made === undefined) notify(`A new link was mailed to ${email}.`)
    })
  const revoke = ({ id, email }: Invitation) =>
    change(async () => {
      await call.DELETE(`${path}/{invitation_id}`, at(id))
      notify(`The invitation of ${email} has ended.`)
    })
  return (
    <>
      {link !== undefined && (
        <ShownOnce
          title={`The new link for ${link.email}. The earlier one has ended.`}
          secret={link.link}
        />
      )}
      <List
        label="Invitations"
        pages={invitations}
        keyOf={({ id }) => id}
        columns={columns(resend, revoke)}
        empty={
          <Empty title="No invitations">
            <p>Invite a person with the form above.</p>
          </Empty>
        }
      />
    </>
  )
}

type Act = (invitation: Invitation) => Promise<void>

const columns = (resend: Act, revoke: Act): Column<Invitation>[] => [
  { id: 'email', head: 'E-mail', cell: ({ email }) => <Plain>{email}</Plain> },
  { id: 'status', head: 'Status', cell: ({ status }) => <State of={status} /> },
  { id: 'role', head: 'Role', wide: true, cell: ({ role }) => role },
  {
    id: 'delivery',
    head: 'Sent',
    wide: true,
    cell: ({ delivery, created_at }) => (
      <>
        {delivery === 'email' ? 'by mail' : 'as a link'} <Time at={created_at} ago />
      </>
    ),
  },
  { id: 'expires', head: 'Ends', wide: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
  {
    id: 'actions',
    head: 'Actions',
    cell: (invitation) =>
      invitation.status === 'accepted' ? null : (
        <>
          <Button
            small
            aria-label={`New link for ${invitation.email}`}
            onClick={() => void resend(invitation)}
          >
            New link
          </Button>{' '}
          {invitation.status === 'pending' && (
            <Button
              small
              look="danger"
              aria-label={`Revoke the invitation of ${invitation.email}`}
              onClick={() => void revoke(invitation)}
            >
              Revoke
            </Button>
          )}
        </>
      ),
  },
]
