import {
  type Actor,
  type Changed,
  type Contributor,
  endSuppression,
  type Incident,
  type IncidentEvent,
  openings_max,
  reopened,
  withoutSnooze,
} from './incident.ts'

/** A move of a person, a key or a channel. */
export type Move = {
  at_ms: number
  /** Version in `If-Match`. */
  if_match?: number | undefined
  note?: string | undefined
} & (
  | { type: 'ack' | 'resolve' | 'comment' }
  /**
   * `has_newer`: another incident of the key is unresolved. `openings_ms`: those of the newest
   * incident of the key, which count for flapping; left out, the incident is the newest. `quiet`: the
   * quiet groups of the key, which fire again (`afterReopen`), so that the incident resolves when
   * they end.
   */
  | {
      type: 'reopen'
      has_newer: boolean
      openings_ms?: readonly number[]
      quiet: readonly Contributor[]
    }
  | { type: 'assign'; assignee: string | null }
  /** With `until_ms` it is a snooze: the suppression ends at that time. */
  | { type: 'suppress'; suppressed: boolean; until_ms?: number | undefined }
)

/** The result of a move. An unchanged incident is a success (200). */
export type Moved =
  | ({ kind: 'moved' } & Changed)
  | { kind: 'unchanged'; incident: Incident }
  | {
      kind: 'refused'
      code: 'precondition_failed' | 'incident_state_conflict'
      detail: string
    }

/**
 * Moves an incident. The version of `If-Match` is compared first. The same move twice changes
 * nothing. A resolved incident accepts only `reopen`, `resolve` and comments.
 */
export function moveIncident(incident: Incident, move: Move, actor: Actor): Moved {
  if (move.if_match !== undefined && move.if_match !== incident.version) {
    const detail = `got version ${move.if_match}, the incident has version ${incident.version}. Read it again, then repeat the move.`
    return { kind: 'refused', code: 'precondition_failed', detail }
  }
  const conflict = conflictOf(incident, move)
  if (conflict !== undefined) {
    return { kind: 'refused', code: 'incident_state_conflict', detail: conflict }
  }
  const change = changeOf(incident, move)
  if (change === undefined) return { kind: 'unchanged', incident }
  const { after, type } = change
  const { at_ms } = move
  const note = noteOf(move)
  const event: IncidentEvent = { type, at_ms, actor, ...(note !== undefined && { note }) }
  return {
    kind: 'moved',
    incident: { ...after, version: incident.version + 1 },
    events: [event],
  }
}

function conflictOf({ state }: Incident, move: Move): string | undefined {
  if (state !== 'resolved' || move.type === 'resolve' || move.type === 'comment') return undefined
  if (move.type !== 'reopen') {
    return `the incident is resolved, so \`${move.type}\` is not possible. Reopen it first.`
  }
  if (!move.has_newer) return undefined
  return 'a newer incident with the same `dedup_key` is open. Use that incident.'
}

type Change = { after: Incident; type: IncidentEvent['type'] }

/** Returns the incident after the move; undefined if the move was made before. */
function changeOf(incident: Incident, move: Move): Change | undefined {
  const { at_ms } = move
  switch (move.type) {
    case 'ack':
      if (incident.state === 'acknowledged') return undefined
      return {
        after: { ...incident, state: 'acknowledged', acknowledged_ms: at_ms },
        type: 'acknowledged',
      }
    case 'resolve':
      return incident.state === 'resolved' ? undefined : resolved(incident, at_ms)
    case 'reopen':
      return reopen(incident, move)
    case 'assign':
      if (incident.assignee === move.assignee) return undefined
      return { after: { ...incident, assignee: move.assignee }, type: 'assigned' }
    case 'comment':
      return { after: incident, type: 'commented' }
    case 'suppress':
      return suppress(incident, move)
  }
}

/** A person's resolve ends flapping and a snooze, and its openings count no longer. */
function resolved(incident: Incident, at_ms: number): Change {
  const after: Incident = {
    ...withoutSnooze(incident),
    state: 'resolved',
    resolved_ms: at_ms,
    contributors: [],
    flapping: false,
    quiet_since_ms: null,
    openings_ms: [],
  }
  return { after, type: 'resolved' }
}

/** Reopens a resolved incident, or withdraws an acknowledgement. */
function reopen(
  incident: Incident,
  { quiet, openings_ms = incident.openings_ms, at_ms }: Extract<Move, { type: 'reopen' }>,
): Change | undefined {
  if (incident.state === 'open') return undefined
  if (incident.state === 'acknowledged') {
    const after = { ...incident, state: 'open', acknowledged_ms: null, reminded_ms: at_ms } as const
    return { after, type: 'reopened' }
  }
  const after = { ...reopened({ ...incident, openings_ms }, at_ms), contributors: quiet }
  return { after, type: after.openings_ms.length > openings_max ? 'flapping' : 'reopened' }
}

/** Mutes, snoozes or unmutes by hand; suppressions by rule are not changed. */
function suppress(
  incident: Incident,
  { suppressed, until_ms: until, at_ms }: Extract<Move, { type: 'suppress' }>,
): Change | undefined {
  const until_ms = until ?? null
  const isSuppressed = incident.suppressed_by.includes('person')
  const isSame = isSuppressed === suppressed
  if (isSame && (!suppressed || incident.snoozed_until_ms === until_ms)) return undefined
  if (!suppressed) {
    const { incident: after, type } = endSuppression(incident, at_ms)
    return { after, type }
  }
  const others = incident.suppressed_by.filter((one) => one !== 'person')
  const after = { ...incident, suppressed_by: [...others, 'person'], snoozed_until_ms: until_ms }
  return { after, type: until_ms === null ? 'muted' : 'snoozed' }
}

/** Returns the text of the timeline: a snooze says when it ends. */
function noteOf(move: Move): string | undefined {
  if (move.type !== 'suppress' || move.until_ms === undefined) return move.note
  const until = `until ${new Date(move.until_ms).toISOString()}`
  return move.note === undefined ? until : `${until}: ${move.note}`
}
