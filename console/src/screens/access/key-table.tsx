import type { ReactNode } from 'react'
import type { Pages } from '../../api/pages.ts'
import type { ApiKey } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

/** Returns whether a key is refused. Its clock is the service's, so a minute is not certain. */
export function isEnded({ revoked_at, expires_at }: ApiKey, now_ms: number): boolean {
  return [revoked_at, expires_at].some((at) => at !== null && Date.parse(at) <= now_ms)
}

/** A list of keys without their secrets. */
export function KeyTable({
  label,
  pages,
  actions,
  empty,
}: {
  label: string
  pages: Pages<ApiKey>
  actions: (key: ApiKey) => ReactNode
  empty: ReactNode
}) {
  return (
    <List
      label={label}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[...columns, { id: 'actions', head: 'Actions', cell: actions }]}
      empty={empty}
    />
  )
}

const columns: Column<ApiKey>[] = [
  {
    id: 'name',
    head: 'Key',
    cell: ({ name, prefix, service_account_id }) => (
      <>
        <Plain>{name}</Plain>
        <div>
          <code>{prefix}…</code>{' '}
          {service_account_id !== null && <Badge>of a service account</Badge>}
        </div>
      </>
    ),
  },
  {
    id: 'scopes',
    head: 'Scopes',
    wide: true,
    cell: ({ scopes, origins }) => (
      <>
        {scopes.join(', ')}
        {origins !== null && (
          <div className={ui.soft}>
            pages of <Plain>{origins.join(', ')}</Plain>
          </div>
        )}
      </>
    ),
  },
  {
    id: 'environment',
    head: 'Environment',
    wide: true,
    cell: ({ environment }) => (environment === null ? 'any' : <Plain>{environment}</Plain>),
  },
  {
    id: 'used',
    head: 'Last used',
    cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} ago />),
  },
  {
    id: 'ends',
    head: 'State',
    cell: (key) => {
      if (key.revoked_at !== null && isEnded(key, serverNow())) {
        return (
          <>
            <Badge tone="bad">revoked</Badge> <Time at={key.revoked_at} ago />
          </>
        )
      }
      if (isEnded(key, serverNow())) return <Badge tone="warn">expired</Badge>
      const end = key.revoked_at ?? key.expires_at
      return (
        <>
          <Badge tone="good">live</Badge>{' '}
          {end !== null && (
            <>
              until <Time at={end} />
            </>
          )}
        </>
      )
    },
  },
]
