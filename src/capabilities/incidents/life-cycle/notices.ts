import {
  type Changed,
  type Incident,
  type IncidentEvent,
  isMuted,
  withStillFiring,
} from './incident.ts'

/** Why a message is sent. */
export type NoticeReason =
  | 'opened'
  | 'flapping'
  | 'raised'
  | 'reopened'
  | 'reminder'
  | 'escalated'
  | 'ack_timed_out'
  | 'resolved'
  | 'still_firing'

/** A message about an incident to some channels. */
export type Notice = { reason: NoticeReason; channels: readonly string[]; at_ms: number }

const reasons = new Set<string>([
  'opened',
  'flapping',
  'raised',
  'reopened',
  'reminder',
  'escalated',
  'ack_timed_out',
  'resolved',
  'still_firing',
] satisfies NoticeReason[])

/** Changes the suppressions and inhibitions of an incident; see `isMuted`. */
export type Muting = Pick<Incident, 'suppressed_by' | 'inhibited_by'>

/**
 * Applies the suppressions and inhibitions in effect. One by hand remains. An open incident that is
 * no longer muted is still firing; an acknowledged one is silent. Returns undefined without change.
 */
export function applyMuting(before: Incident, muting: Muting, at_ms: number): Changed | undefined {
  const byHand = before.suppressed_by.filter((one) => one === 'person')
  const suppressed_by = [...new Set([...byHand, ...muting.suppressed_by])].toSorted()
  const inhibited_by = [...new Set(muting.inhibited_by)].toSorted()
  const isSame =
    isEqual(suppressed_by, before.suppressed_by) && isEqual(inhibited_by, before.inhibited_by)
  if (isSame) return undefined
  const incident = { ...before, suppressed_by, inhibited_by }
  const [was, is] = [isMuted(before), isMuted(incident)]
  if (was === is) return { incident, events: [] }
  const event = (type: IncidentEvent['type']): IncidentEvent => ({
    type,
    at_ms,
    actor: { type: 'timer', id: 'suppressions' },
  })
  if (is) return { incident, events: [event('muted')] }
  if (incident.state !== 'open') return { incident, events: [event('unmuted')] }
  return { incident: withStillFiring(incident, at_ms), events: [event('still_firing')] }
}

/**
 * Returns the messages of a change: `incident` is the incident after all `events` of it. Only
 * openings, raised severities, reminders, escalations, resolves and the end of a mute are messages.
 * A resolve goes to the channels that had another message since the opening, also when it is muted;
 * the outbox drops it if none of them was attempted.
 */
export function noticesOf({ incident, events }: Changed): Notice[] {
  if (incident.shadow) return []
  const audible = events.filter(({ type }) => reasons.has(type))
  // The other message of the same change says more.
  const isAnnounced = audible.some(({ type }) =>
    ['opened', 'reopened', 'flapping', 'raised'].includes(type),
  )
  const firing = audible.filter(({ type }) => type === 'still_firing')
  const widest = firing.find(({ notify }) => notify === undefined) ?? firing[0]
  return audible.flatMap((event): Notice[] => {
    if (event.type === 'still_firing' && (isAnnounced || event !== widest)) return []
    if (isMuted(incident) && event.type !== 'resolved') return []
    const channels = channelsOf(incident, event)
    const { at_ms } = event
    return channels.length === 0 ? [] : [{ reason: event.type as NoticeReason, channels, at_ms }]
  })
}

/** Returns a change whose incident knows the channels that its messages announce it to. */
export function announced<C extends Changed>(change: C): C {
  const told = noticesOf(change).filter(({ reason }) => reason !== 'resolved')
  if (told.length === 0) return change
  const { incident } = change
  const all = [...incident.announced_to, ...told.flatMap(({ channels }) => channels)]
  return { ...change, incident: { ...incident, announced_to: [...new Set(all)] } }
}

function channelsOf({ notify, announced_to }: Incident, event: IncidentEvent): readonly string[] {
  return event.notify ?? (event.type === 'resolved' ? announced_to : notify)
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, at) => value === other[at])
}
