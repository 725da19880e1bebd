import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { NotificationChannel } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { List } from '../../ui/list.tsx'
import { Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { ownerOf, useNames } from '../shared/people.ts'
import { ChannelPage } from './channel.tsx'
import { ChannelState, receiverOf } from './channel-state.tsx'
import { DefaultRoute } from './default-route.tsx'
import { channelTypes } from './draft.ts'
import { NewChannel } from './editor.tsx'

const page = 100

/** The receivers of messages, and who hears of rules that name none. */
export function Channels() {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const nameOf = useNames()
  const [{ channel }, change] = useUrlState()
  const open = (id: string | undefined) => change({ channel: id, tab: undefined }, { push: true })
  const channels = usePages(
    ['channels', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents/channels', {
        params: { query: { limit: page, cursor } },
        signal,
      }),
    (each) => each.channels,
  )
  if (channel !== undefined && channel !== 'new') {
    return <ChannelPage key={channel} channel_id={channel} onBack={() => open(undefined)} />
  }
  return (
    <>
      <Heading title="Channels">
        <Button look="primary" disabled={!isAdmin} onClick={() => open('new')}>
          New channel
        </Button>
      </Heading>
      {!isAdmin && <p className={ui.soft}>Only admins of the project can change channels.</p>}
      {channel === 'new' && <NewChannel onClose={() => open(undefined)} onCreated={open} />}
      <List
        label="Channels"
        pages={channels}
        columns={columns(project_id, nameOf)}
        keyOf={({ channel_id }) => channel_id}
        onOpen={({ channel_id }) => open(channel_id)}
        empty={
          <Empty title="No channels">
            <p>
              A channel receives the messages of incidents: Slack, PagerDuty, mail or your own
              service.
            </p>
          </Empty>
        }
      />
      <DefaultRoute channels={channels.rows.map(({ name }) => name)} />
    </>
  )
}

const columns = (
  project_id: string,
  nameOf: (by: string) => string,
): Column<NotificationChannel>[] => [
  {
    id: 'name',
    head: 'Channel',
    cell: ({ channel_id, name }) => (
      <Link
        to="/p/$project_id/channels"
        params={{ project_id }}
        search={{ channel: channel_id } as never}
      >
        <Plain>{name}</Plain>
      </Link>
    ),
  },
  {
    id: 'type',
    head: 'Type',
    cell: ({ type }) => channelTypes.find(([each]) => each === type)?.[1] ?? type,
  },
  { id: 'to', head: 'Receiver', wide: true, cell: (row) => <Plain>{receiverOf(row)}</Plain> },
  { id: 'state', head: 'State', cell: (row) => <ChannelState of={row} /> },
  {
    id: 'fallback',
    head: 'Fallback',
    wide: true,
    cell: ({ fallback }) => (fallback === null ? '–' : <Plain>{fallback}</Plain>),
  },
  {
    id: 'managed_by',
    head: 'Owner',
    wide: true,
    cell: (channel) => <Plain>{ownerOf(channel, nameOf)}</Plain>,
  },
  {
    id: 'updated_at',
    head: 'Changed',
    number: true,
    cell: ({ updated_at }) => <Time at={updated_at} ago />,
  },
]
