import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { NotificationDelivery } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { formatDuration } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { LongText } from '../../ui/text.tsx'
import { Resend } from '../incidents/deliveries.tsx'

const page = 50

/** The attempts of a channel, newest first, with what the receiver answered. */
export function Attempts({ channel_id }: { channel_id: string }) {
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
