import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { NotificationChannel } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { queryClient } from '../../session/query-client.ts'
import { Changed } from '../../ui/changed.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Button } from '../../ui/parts.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { type Draft, draftOf, newDraft, requestOf } from './draft.ts'
import { ChannelFields } from './fields.tsx'

/** The dialog of a new channel. A generated secret is shown once, at its end. */
export function NewChannel({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (channel_id: string) => void
}) {
  const [draft, setDraft] = useState(newDraft)
  const [created, setCreated] = useState<NotificationChannel>()
  const create = useMutation({
    mutationFn: async () => {
      const body = requestOf(draft)
      const { data } = await call.POST('/api/v2/observability/incidents/channels', { body })
      return data
    },
    onSuccess: (data) => {
      void queryClient.invalidateQueries({ queryKey: ['channels'] })
      if (data === undefined) return
      notify(`The channel ${data.name} is created`)
      if (data.generated_secret === null) onCreated(data.channel_id)
      else setCreated(data)
    },
  })
  if (created?.generated_secret) {
    return <ShownOnce channel={created} onClose={() => onCreated(created.channel_id)} />
  }
  return (
    <Dialog title="New channel" open onClose={onClose} wide>
      <Form
        {...{ draft, setDraft }}
        isNew
        error={create.error}
        isRunning={create.isPending}
        onSubmit={() => create.mutate()}
      />
    </Dialog>
  )
}

function ShownOnce({ channel, onClose }: { channel: NotificationChannel; onClose: () => void }) {
  const secret = channel.generated_secret ?? ''
  return (
    <Dialog title="The signing secret" open onClose={onClose}>
      <p>Give it to the receiver now. It is not shown again.</p>
      <p>
        <code>{secret}</code>
      </p>
      <div className={ui.row}>
        <Copy text={() => secret}>Copy the secret</Copy>
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  )
}

/** The settings of a stored channel. */
export function ChannelEditor({ stored }: { stored: NotificationChannel }) {
  const isAdmin = useHasRole('admin')
  const [draft, setDraft] = useState(() => draftOf(stored))
  const { channel_id, version } = stored
  const refresh = () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [first, second] }) =>
        first === 'channels' ||
        String(second).startsWith('/api/v2/observability/incidents/channels'),
    })
  const save = useMutation({
    mutationFn: () =>
      call.PUT('/api/v2/observability/incidents/channels/{channel_id}', {
        params: { path: { channel_id }, header: { 'If-Match': `"${version}"` } },
        body: requestOf(draft),
      }),
    onSuccess: async () => {
      notify('The channel is changed')
      await refresh()
    },
  })
  return (
    <Form
      {...{ draft, setDraft }}
      isNew={false}
      isLocked={!isAdmin || stored.managed_by !== null}
      error={save.error}
      isRunning={save.isPending}
      onReload={() => void refresh()}
      onSubmit={() => save.mutate()}
    />
  )
}

function Form({
  draft,
  setDraft,
  isNew,
  isLocked = false,
  error,
  isRunning,
  onReload,
  onSubmit,
}: {
  draft: Draft
  setDraft: (draft: Draft) => void
  isNew: boolean
  isLocked?: boolean
  error: unknown
  isRunning: boolean
  onReload?: () => void
  onSubmit: () => void
}) {
  const faults = faultsOf(error)
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <ChannelFields {...{ draft, faults, isNew, isLocked }} onChange={setDraft} />
      {error !== null && <Changed error={error} onReload={onReload ?? (() => undefined)} />}
      <span>
        <Button type="submit" look="primary" disabled={isLocked || isRunning}>
          {isRunning ? 'Saving…' : isNew ? 'Create the channel' : 'Save'}
        </Button>
      </span>
    </form>
  )
}
