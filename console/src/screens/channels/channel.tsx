import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { NotificationChannel, NotificationDelivery } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { queryClient } from '../../session/query-client.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatDuration } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Badge, Button, Facts, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Fault, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Resend } from '../incidents/deliveries.tsx'
import { ChannelEditor } from './editor.tsx'

const one = '/api/v2/observability/incidents/channels/{channel_id}'

/** One channel: a test message, its attempts, and its settings. */
export function ChannelPage({ channel_id, onBack }: { channel_id: string; onBack: () => void }) {
  const channel = api.useQuery('get', one, { params: { path: { channel_id } } })
  return (
    <>
      <nav aria-label="Channels">
        <Button small look="plain" onClick={onBack}>
          ← Channels
        </Button>
      </nav>
      <Loaded query={channel} what="Reading the channel">
        {(data) => (
          <>
            <Heading title={<Plain>{data.name}</Plain>}>
              <Delete channel={data} onDone={onBack} />
              <Test channel_id={channel_id} />
            </Heading>
            <ManagedBy by={data.managed_by} />
            <ChannelFacts of={data} />
            <Tabs
              label="Parts of the channel"
              tabs={[
                {
                  id: 'attempts',
                  title: 'Attempts',
                  render: () => <Attempts channel_id={channel_id} />,
                },
                {
                  id: 'settings',
                  title: 'Settings',
                  render: () => <ChannelEditor key={data.version} stored={data} />,
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </>
  )
}

function ChannelFacts({ of }: { of: NotificationChannel }) {
  const secrets = Object.entries(of.secrets).filter(([, { set }]) => set)
  return (
    <Facts
      of={[
        ['Type', of.type],
        ['Receiver', <Plain key="to">{receiverOf(of)}</Plain>],
        ['State', <ChannelState key="state" of={of} />],
        ['Disabled', of.disabled_at && <Time at={of.disabled_at} />],
        ['Because', of.disabled_reason && <Plain>{of.disabled_reason}</Plain>],
        [
          'Secrets',
          secrets.length === 0 ? 'none' : secrets.map(([name]) => `${name} is set`).join(', '),
        ],
        ['Fallback', of.fallback && <Plain>{of.fallback}</Plain>],
      ]}
    />
  )
}

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

/** Sends a test message and shows what the receiver answered. */
function Test({ channel_id }: { channel_id: string }) {
  const isAdmin = useHasRole('admin')
  const [isOpen, setOpen] = useState(false)
  const test = useMutation({
    mutationFn: async () => {
      const { data } = await call.POST(`${one}/test`, { params: { path: { channel_id } } })
      return data
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['channels'] }),
  })
  const { data, error } = test
  return (
    <>
      <Button
        disabled={!isAdmin || test.isPending}
        title={isAdmin ? undefined : 'Only admins of the project can send test messages'}
        onClick={() => {
          setOpen(true)
          test.mutate()
        }}
      >
        {test.isPending ? 'Sending…' : 'Send a test message'}
      </Button>
      {isOpen && error !== null && <Fault error={error} />}
      {isOpen && data !== undefined && (
        <div className={ui.notice} style={{ flexBasis: '100%' }} role="status">
          <div className={ui.grow}>
            <Badge tone={data.delivered ? 'good' : 'bad'}>
              {data.delivered ? 'delivered' : 'not delivered'}
            </Badge>{' '}
            {data.status !== null && <>status {data.status}, </>}
            {data.duration_ms} ms
            {data.error !== null && <LongText text={data.error} />}
            {data.response !== null && data.response !== '' && (
              <LongText mono text={data.response} />
            )}
          </div>
          <Button small look="plain" aria-label="Close the result" onClick={() => setOpen(false)}>
            ×
          </Button>
        </div>
      )}
    </>
  )
}

function Delete({ channel, onDone }: { channel: NotificationChannel; onDone: () => void }) {
  const isAdmin = useHasRole('admin')
  const [isAsked, setAsked] = useState(false)
  const { channel_id, version, name } = channel
  const remove = useMutation({
    mutationFn: () =>
      call.DELETE(one, {
        params: { path: { channel_id }, header: { 'If-Match': `"${version}"` } },
      }),
    onSuccess: async () => {
      notify(`The channel ${name} is deleted`)
      await queryClient.invalidateQueries({ queryKey: ['channels'] })
      onDone()
    },
    onError: notifyFault,
  })
  return (
    <>
      <Button
        look="danger"
        disabled={!isAdmin || channel.managed_by !== null}
        onClick={() => setAsked(true)}
      >
        Delete…
      </Button>
      <Confirm
        title={`Delete ${name}`}
        action="Delete the channel"
        open={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => remove.mutate()}
        isRunning={remove.isPending}
      >
        <p>Rules that name this channel send it no messages any more, and warn about it.</p>
      </Confirm>
    </>
  )
}

const page = 50

/** The attempts of a channel, newest first, with what the receiver answered. */
function Attempts({ channel_id }: { channel_id: string }) {
  const project_id = useProjectId()
  const attempts = usePages(
    ['channels', project_id, channel_id, 'attempts'],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents/channels/{channel_id}/deliveries', {
        params: { path: { channel_id }, query: { limit: page, cursor } },
        signal,
      }),
    (each) => each.deliveries,
  )
  return (
    <List
      label="Attempts"
      pages={attempts}
      columns={columns(project_id, () => void attempts.refetch())}
      keyOf={({ delivery_id }) => delivery_id}
      empty={
        <Empty title="No attempts in the last 30 days">
          <p>Send a test message to see whether the receiver answers.</p>
        </Empty>
      }
    />
  )
}

const columns = (project_id: string, onSent: () => void): Column<NotificationDelivery>[] => [
  { id: 'at', head: 'At', cell: ({ started_at }) => <Time at={started_at} /> },
  {
    id: 'reason',
    head: 'Message',
    cell: ({ reason, incident_id }) =>
      incident_id === null ? (
        'test message'
      ) : (
        <Link to="/p/$project_id/incidents/$incident_id" params={{ project_id, incident_id }}>
          {(reason ?? 'message').replaceAll('_', ' ')}
        </Link>
      ),
  },
  {
    id: 'status',
    head: 'Answer',
    cell: ({ status, error, response }) => (
      <>
        <Badge tone={error === null ? 'good' : 'bad'}>{status ?? 'no answer'}</Badge>
        {error !== null && <LongText text={error} />}
        {response !== null && response !== '' && <LongText mono text={response} />}
      </>
    ),
  },
  { id: 'attempt', head: 'Attempt', number: true, wide: true, cell: ({ attempt }) => attempt },
  {
    id: 'duration',
    head: 'Duration',
    number: true,
    wide: true,
    cell: ({ duration_ms }) => formatDuration(duration_ms),
  },
  {
    id: 'resend',
    head: 'Again',
    wide: true,
    cell: ({ message_id, error }) =>
      message_id === null ? null : (
        <Resend
          message={{
            message_id,
            channel: 'the channel',
            state: error === null ? 'delivered' : 'dead',
          }}
          onSent={onSent}
        />
      ),
  },
]
