import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { NotificationChannel } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { useNames } from '../incidents/people.ts'
import { ownerOf } from '../rules/rules.tsx'
import { ChannelPage } from './channel.tsx'
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

/** Whether messages reach a channel, and why not. */
export function ChannelState({ of }: { of: NotificationChannel }) {
  if (of.unusable_reason !== null) {
    return <Badge tone="bad">{of.unusable_reason.replaceAll('_', ' ')}</Badge>
  }
  if (of.disabled) return <Badge tone="warn">disabled</Badge>
  return <Badge tone="good">active</Badge>
}

/** Returns the receiver of a channel, as far as the API shows it. */
export function receiverOf(channel: NotificationChannel): string {
  const { slack, email, pagerduty, alertmanager, webhook } = channel
  if (slack !== undefined) return slack.channel ?? slack.webhook_host ?? 'incoming webhook'
  if (email !== undefined) return email.to.join(', ')
  return webhook?.url ?? pagerduty?.url ?? alertmanager?.url ?? '–'
}
