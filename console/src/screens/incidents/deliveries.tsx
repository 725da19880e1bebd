import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { IncidentDetail, NotificationMessage } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

const page = 50

/** The messages of an incident, with what became of them. */
export function Deliveries({ incident }: { incident: IncidentDetail }) {
  const project_id = useProjectId()
  const { incident_id: id, version } = incident
  const messages = usePages(
    ['incidents', project_id, id, 'deliveries', version],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents/{id}/deliveries', {
        params: { path: { id }, query: { limit: page, cursor } },
        signal,
      }),
    (each) => each.messages,
  )
  return (
    <List
      label="Deliveries"
      pages={messages}
      columns={columns(() => void messages.refetch())}
      keyOf={({ message_id }) => message_id}
      empty={
        <p className={ui.soft}>
          {incident.shadow
            ? 'A shadow rule sends no messages.'
            : 'No message was sent: the rule names no channel, or the incident is muted.'}
        </p>
      }
    />
  )
}

const tones = { delivered: 'good', dead: 'bad', waiting: 'info', superseded: undefined } as const

const columns = (onSent: () => void): Column<NotificationMessage>[] => [
  { id: 'channel', head: 'Channel', cell: ({ channel }) => <Plain>{channel}</Plain> },
  { id: 'reason', head: 'Reason', cell: ({ reason }) => reason.replaceAll('_', ' ') },
  {
    id: 'state',
    head: 'State',
    cell: ({ state, error }) => (
      <>
        <Badge tone={tones[state]}>{state}</Badge>{' '}
        {error !== null && (
          <span className={ui.soft}>
            <Plain>{error}</Plain>
          </span>
        )}
      </>
    ),
  },
  { id: 'attempts', head: 'Attempts', number: true, wide: true, cell: ({ attempts }) => attempts },
  {
    id: 'created_at',
    head: 'Created',
    number: true,
    cell: ({ created_at }) => <Time at={created_at} ago />,
  },
  {
    id: 'resend',
    head: <span className={ui.visuallyHidden}>Resend</span>,
    cell: (message) => <Resend message={message} onSent={onSent} />,
  },
]

/** Sends a message again, which only editors may: it may wake people. */
export function Resend({
  message,
  onSent,
}: {
  message: Pick<NotificationMessage, 'message_id' | 'state' | 'channel'>
  onSent: () => void
}) {
  const isEditor = useHasRole('editor')
  const resend = useMutation({
    mutationFn: () =>
      call.POST('/api/v2/observability/incidents/deliveries/{message_id}/resend', {
        params: { path: { message_id: message.message_id } },
      }),
    onSuccess: () => {
      notify(`The message is sent again to ${message.channel}`)
      onSent()
    },
    onError: notifyFault,
  })
  if (!isEditor || message.state === 'waiting') return null
  return (
    <Button small disabled={resend.isPending} onClick={() => resend.mutate()}>
      {resend.isPending ? 'Sending…' : 'Send again'}
    </Button>
  )
}
