import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { NotificationChannel } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../app/project.ts'
import { queryClient } from '../../app/query-client.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Badge, Button, Facts, Heading, Time } from '../../ui/parts.tsx'
import { Fault, Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Attempts } from './attempts.tsx'
import { ChannelState, receiverOf } from './channels.tsx'
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
