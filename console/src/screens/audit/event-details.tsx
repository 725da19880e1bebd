import type { AuditEvent } from '../../api/schema.gen.d.ts'
import { Copy } from '../../ui/copy.tsx'
import { Json } from '../../ui/json.tsx'
import { Facts, Time } from '../../ui/parts.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

/** All of one record: who, from where, what, and what it asked to change. */
export function EventDetails({ event }: { event: AuditEvent }) {
  const { origin, change } = event
  const mono = (text: string | null) => text && <code key={text}>{text}</code>
  return (
    <div className={ui.stack}>
      <Facts
        of={[
          ['Time', <Time key="time" at={event.recorded_at} />],
          ['Action', <Plain key="action">{event.action}</Plain>],
          ['Outcome', event.code === null ? event.outcome : `${event.outcome}: ${event.code}`],
          ['Who', `${event.actor_kind} ${event.actor_id ?? ''}`],
          ['Through', event.via],
          ['From', origin && <Plain key="from">{origin.address}</Plain>],
          ['Client', origin?.user_agent && <Plain key="agent">{origin.user_agent}</Plain>],
          [
            'Resource',
            <Plain key="what">{`${event.resource_type} ${event.resource_id ?? ''}`}</Plain>,
          ],
          ['Project', mono(event.project_id)],
          ['Request', mono(event.request_id)],
          ['Refused calls before', event.suppressed > 0 ? event.suppressed : null],
          ['Reads sealed', event.segment_count],
          ['Hash', mono(event.hash)],
        ]}
      />
      <h3>Requested change</h3>
      {change === null ? (
        <p className={ui.soft}>
          {event.change_hash === null
            ? 'The call has no body.'
            : 'The details were erased. Their hash is kept, so the chain can still be verified.'}
        </p>
      ) : (
        <Json value={change} open={3} />
      )}
      <div>
        <Copy text={() => JSON.stringify(event, null, 2)}>Copy as JSON</Copy>
      </div>
    </div>
  )
}
