import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { User } from '../../api/schema.gen.d.ts'
import { useSession } from '../../session/session.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

/** All accounts of the installation, for its administrators. */
export function Users() {
  const client = useQueryClient()
  const [link, setLink] = useState<{ email: string; link: string }>()
  const users = usePages(
    ['users'],
    (cursor, signal) =>
      call.GET('/api/v2/access/users', { params: { query: { limit: 50, cursor } }, signal }),
    (each) => each.users,
  )
  return (
    <div className={ui.stack}>
      <p className={ui.soft}>
        All people of the installation. Accounts are disabled and not deleted, because records name
        them.
      </p>
      {link !== undefined && (
        <ShownOnce title={`Pass this reset link on to ${link.email}`} secret={link.link} />
      )}
      <List
        label="Users"
        pages={users}
        keyOf={({ id }) => id}
        columns={[
          ...columns,
          {
            id: 'actions',
            head: 'Actions',
            cell: (user) => (
              <UserActions
                of={user}
                onLink={(made) => setLink({ email: user.email, link: made })}
                onChanged={() => client.invalidateQueries({ queryKey: ['users'] })}
              />
            ),
          },
        ]}
      />
    </div>
  )
}

const columns: Column<User>[] = [
  {
    id: 'person',
    head: 'Person',
    cell: ({ display_name, email, installation_admin }) => (
      <>
        <Plain>{display_name}</Plain>{' '}
        {installation_admin && <Badge tone="info">administrator</Badge>}
        <div>
          <Plain>{email}</Plain>
        </div>
      </>
    ),
  },
  {
    id: 'state',
    head: 'State',
    cell: ({ disabled_at, must_change_password }) => (
      <>
        {disabled_at === null ? (
          <Badge tone="good">active</Badge>
        ) : (
          <Badge tone="bad">disabled</Badge>
        )}{' '}
        {must_change_password && <Badge tone="warn">must set a password</Badge>}
      </>
    ),
  },
  {
    id: 'password',
    head: 'Password',
    wide: true,
    cell: ({ has_password, password_origin }) =>
      has_password ? `set by ${(password_origin ?? 'self').replace('self', 'the person')}` : 'none',
  },
  {
    id: 'created',
    head: 'Created',
    wide: true,
    cell: ({ created_at }) => <Time at={created_at} ago />,
  },
]

const path = '/api/v2/access/users/{user_id}'

type Asked = 'disable' | 'enable' | 'link' | 'sessions' | 'grant' | 'revoke'

/** The title of the button of each action, and the text of its question. */
const actions: Record<Asked, readonly [title: string, about: string]> = {
  disable: ['Disable', 'All sessions and tokens of the person end, and every sign-in is refused.'],
  enable: ['Enable', 'The person can sign in again.'],
  link: [
    'Reset link',
    'The link sets a new password, works once and for 30 minutes. It is logged.',
  ],
  sessions: ['End sessions', 'The person is signed out everywhere, and can sign in again.'],
  grant: ['Make administrator', 'The person can manage all accounts of the installation.'],
  revoke: ['Remove as administrator', 'The person can no longer manage accounts.'],
}

/** The actions of an administrator on an account. */
function UserActions({
  of: user,
  onLink,
  onChanged,
}: {
  of: User
  onLink: (link: string) => void
  onChanged: () => Promise<unknown>
}) {
  const { data: session } = useSession()
  const [asked, setAsked] = useState<Asked>()
  const [isRunning, setRunning] = useState(false)
  const isSelf = session?.user_id === user.id
  const run = async (what: Asked) => {
    setRunning(true)
    try {
      const link = await send(what, user.id)
      if (link === undefined) notify(`${user.email}: ${actions[what][0].toLowerCase()}, done.`)
      else onLink(link)
    } catch (error) {
      notifyFault(error)
    }
    setRunning(false)
    setAsked(undefined)
    await onChanged()
  }
  const offered: Asked[] = [
    ...(user.has_password ? (['link'] as const) : []),
    ...(isSelf
      ? []
      : ([
          'sessions',
          user.installation_admin ? 'revoke' : 'grant',
          user.disabled_at === null ? 'disable' : 'enable',
        ] as const)),
  ]
  return (
    <>
      {offered.map((what) => (
        <Button
          key={what}
          small
          look={what === 'disable' ? 'danger' : undefined}
          aria-label={`${actions[what][0]}: ${user.email}`}
          onClick={() => setAsked(what)}
        >
          {actions[what][0]}
        </Button>
      ))}
      {asked !== undefined && (
        <Confirm
          title={actions[asked][0]}
          action={actions[asked][0]}
          open
          onClose={() => setAsked(undefined)}
          onConfirm={() => void run(asked)}
          isRunning={isRunning}
        >
          <p>
            <Plain>{user.email}</Plain>: {actions[asked][1]}
          </p>
        </Confirm>
      )}
    </>
  )
}

/** Carries out an action. Returns the link of a reset. */
async function send(what: Asked, user_id: string): Promise<string | undefined> {
  const params = { path: { user_id } }
  if (what === 'disable') await call.POST(`${path}/disable`, { params })
  if (what === 'enable') await call.POST(`${path}/enable`, { params })
  if (what === 'sessions') await call.DELETE(`${path}/sessions`, { params })
  if (what === 'grant' || what === 'revoke') {
    await call.PUT(`${path}/administrator`, {
      params,
      body: { installation_admin: what === 'grant' },
    })
  }
  if (what !== 'link') return undefined
  const { data } = await call.POST(`${path}/password-reset`, { params })
  if (data === undefined) throw new Error('The server sent no link')
  return data.url ?? `${window.location.origin}/reset-password#token=${data.token}`
}
