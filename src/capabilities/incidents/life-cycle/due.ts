import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import {
  type Actor,
  flappingQuiet_ms,
  type Incident,
  type IncidentEvent,
  isMuted,
} from './incident.ts'

/** The timers of an incident, from the rule that opened it. */
export type Timers = Pick<Rule, 'escalation' | 'ack_timeout' | 'grouping'>

/** An incident after its timers, and the time of the next one; null without any. */
export type Due = {
  incident: Incident
  events: readonly IncidentEvent[]
  next_ms: number | null
}

const timer: Actor = { type: 'timer', id: 'incidents' }

/**
 * Applies the timers of an incident that are due: the end of flapping, the timeout of an
 * acknowledgement, escalation steps, and reminders. Overdue reminders are one reminder; overdue
 * steps are all taken, because unacknowledged incidents escalate by themselves. Muted incidents
 * have no timers but the end of flapping and the timeout.
 */
export function applyTimers(before: Incident, timers: Timers, now_ms: number): Due {
  const closing = closeFlapping(before, now_ms)
  if (closing.incident.state === 'resolved') return closing
  const { incident, ...reached } = timeOutAck(closing.incident, timers, now_ms)
  if (incident.state !== 'open' || isMuted(incident)) {
    return { incident, events: reached.events, next_ms: earliest(closing.next_ms, reached.next_ms) }
  }
  const escalated = escalate(incident, timers, now_ms)
  const reminded = remind(escalated.incident, timers, now_ms)
  return {
    incident: reminded.incident,
    events: [...reached.events, ...escalated.events, ...reminded.events],
    next_ms: earliest(closing.next_ms, escalated.next_ms, reminded.next_ms),
  }
}

/** Closes a flapping incident after 30 quiet minutes. */
function closeFlapping(incident: Incident, now_ms: number): Due {
  const { flapping, contributors, openings_ms, auto_resolve } = incident
  const isWaiting = incident.state !== 'resolved' && flapping && contributors.length === 0
  if (!isWaiting) return { incident, events: [], next_ms: null }
  const quiet_since_ms = incident.quiet_since_ms ?? openings_ms.at(-1) ?? incident.opened_ms
  const at_ms = quiet_since_ms + flappingQuiet_ms
  if (now_ms < at_ms) return { incident, events: [], next_ms: at_ms }
  const calm = { ...incident, flapping: false, quiet_since_ms: null, version: incident.version + 1 }
  if (!auto_resolve) return { incident: calm, events: [], next_ms: null }
  const resolved = {
    ...calm,
    state: 'resolved',
    resolved_ms: now_ms,
    acknowledged_ms: null,
  } as const
  return {
    incident: resolved,
    events: [{ type: 'resolved', at_ms: now_ms, actor: timer }],
    next_ms: null,
  }
}

/**
 * Opens an incident again that was acknowledged for `ack_timeout`, and takes the next escalation
 * step only: the steps after it keep their distance to that step.
 */
function timeOutAck(incident: Incident, { ack_timeout, escalation }: Timers, now_ms: number): Due {
  const { state, acknowledged_ms, version } = incident
  if (state !== 'acknowledged' || acknowledged_ms === null || ack_timeout === undefined) {
    return { incident, events: [], next_ms: null }
  }
  const at_ms = acknowledged_ms + durationMs(ack_timeout)
  if (now_ms < at_ms) return { incident, events: [], next_ms: at_ms }
  const { steps_taken, since_ms } = incident.escalation
  const next = escalation[steps_taken]
  const step = next ?? escalation.at(-1)
  const open: Incident = {
    ...incident,
    state: 'open',
    acknowledged_ms: null,
    version: version + 1,
    reminded_ms: now_ms,
    escalated_to: [...new Set([...incident.escalated_to, ...(step?.notify ?? [])])],
    escalation: {
      since_ms: next === undefined ? since_ms : now_ms - durationMs(next.after),
      steps_taken: Math.min(steps_taken + 1, escalation.length),
      last_step_ms: now_ms,
    },
  }
  const notify = step?.notify ?? incident.notify
  return {
    incident: open,
    events: [{ type: 'ack_timed_out', at_ms: now_ms, actor: timer, notify }],
    next_ms: null,
  }
}

/** Takes the steps whose `after` has passed; the last one is repeated every `repeat`. */
function escalate(incident: Incident, timers: Timers, now_ms: number): Due {
  const { escalation: steps, grouping } = timers
  const events: IncidentEvent[] = []
  let { steps_taken, last_step_ms } = incident.escalation
  const { since_ms } = incident.escalation
  const take = (notify: readonly string[]) => {
    events.push({ type: 'escalated', at_ms: now_ms, actor: timer, notify })
    last_step_ms = now_ms
  }
  let next = steps[steps_taken]
  while (next !== undefined && now_ms >= since_ms + durationMs(next.after)) {
    take(next.notify)
    steps_taken += 1
    next = steps[steps_taken]
  }
  const repeat_ms = durationMs(grouping.repeat)
  const last = steps.at(-1)
  if (next === undefined && last && now_ms >= (last_step_ms ?? since_ms) + repeat_ms) {
    take(last.notify)
  }
  const repeats_ms = last === undefined ? null : (last_step_ms ?? since_ms) + repeat_ms
  const next_ms = next === undefined ? repeats_ms : since_ms + durationMs(next.after)
  if (events.length === 0) return { incident, events, next_ms }
  const notified = events.flatMap(({ notify = [] }) => notify)
  const escalated: Incident = {
    ...incident,
    version: incident.version + 1,
    escalated_to: [...new Set([...incident.escalated_to, ...notified])],
    escalation: { since_ms, steps_taken, last_step_ms },
  }
  return { incident: escalated, events, next_ms }
}

/** Reminds the channels of the incident every `repeat`. */
function remind(incident: Incident, { grouping }: Timers, now_ms: number): Due {
  const repeat_ms = durationMs(grouping.repeat)
  const at_ms = incident.reminded_ms + repeat_ms
  if (now_ms < at_ms) return { incident, events: [], next_ms: at_ms }
  return {
    incident: { ...incident, reminded_ms: now_ms, version: incident.version + 1 },
    events: [{ type: 'reminder', at_ms: now_ms, actor: timer }],
    next_ms: now_ms + repeat_ms,
  }
}

function earliest(...times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.min(...known)
}
