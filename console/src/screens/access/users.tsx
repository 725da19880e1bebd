import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { User } from '../../api/schema.gen.d.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { UserActions } from './user-actions.tsx'

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
