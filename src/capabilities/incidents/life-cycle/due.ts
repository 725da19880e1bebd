import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import {
  type Actor,
  endSuppression,
  flappingQuietMs,
  type Incident,
  type IncidentEvent,
  isMuted,
  withoutSnooze,
} from './incident.ts'

/** The timers of an incident, joined from the rules that contributed to it. */
export type Timers = {
  /** The steps of all rules, by `after`; those of equal `after` are one step. */
  readonly escalation: readonly { readonly after_ms: number; readonly notify: readonly string[] }[]
  /** The shortest; null if no rule has one. */
  readonly ack_timeout_ms: number | null
  /** The shortest. */
  readonly repeat_ms: number
}

/**
 * Joins the timers of the rules that contributed to an incident (`Incident.rules`), so that a rule
 * with stricter ones has them whichever rule opened it. Shadow rules count only among themselves.
 */
export function joinTimers(
  rules: readonly Pick<Rule, 'escalation' | 'ack_timeout' | 'grouping' | 'mode'>[],
): Timers {
  const live = rules.filter(({ mode }) => mode === 'live')
  const counted = live.length > 0 ? live : rules
  const steps = new Map<number, string[]>()
  for (const { after, notify } of counted.flatMap(({ escalation }) => escalation)) {
    const after_ms = durationMs(after)
    steps.set(after_ms, [...new Set([...(steps.get(after_ms) ?? []), ...notify])])
  }
  const timeouts_ms = counted.flatMap(({ ack_timeout: text }) => (text ? [durationMs(text)] : []))
  return {
    escalation: [...steps]
      .toSorted(([one], [other]) => one - other)
      .map(([after_ms, notify]) => ({ after_ms, notify })),
    ack_timeout_ms: timeouts_ms.length === 0 ? null : Math.min(...timeouts_ms),
    repeat_ms: Math.min(...counted.map(({ grouping }) => durationMs(grouping.repeat))),
  }
}

/** An incident after its timers, and the time of the next one; null without any. */
export type Due = {
  incident: Incident
  events: readonly IncidentEvent[]
  next_ms: number | null
}

const timer: Actor = { type: 'timer', id: 'incidents' }

/**
 * Applies the timers of an incident that are due: the end of flapping, the end of a snooze, the
 * timeout of an acknowledgement, escalation steps, and reminders. Overdue reminders are one reminder.
 * Muted incidents have only the first three.
 */
export function applyTimers(before: Incident, timers: Timers, now_ms: number): Due {
  const closing = closeFlapping(before, now_ms)
  if (closing.incident.state === 'resolved') return closing
  // Before the timeout: both together would be two messages.
  const woken = endSnooze(closing.incident, now_ms)
  const { incident, ...reached } = timeOutAck(woken.incident, timers, now_ms)
  const first = [...woken.events, ...reached.events]
  const next_ms = earliest(closing.next_ms, woken.next_ms, reached.next_ms)
  if (incident.state !== 'open' || isMuted(incident)) return { incident, events: first, next_ms }
  const escalated = escalate(incident, timers, now_ms)
  const reminded = remind(escalated.incident, timers, now_ms)
  return {
    incident: reminded.incident,
    events: [...first, ...escalated.events, ...reminded.events],
    next_ms: earliest(next_ms, escalated.next_ms, reminded.next_ms),
  }
}

/** Closes a flapping incident after 30 quiet minutes. */
function closeFlapping(incident: Incident, now_ms: number): Due {
  const { flapping, contributors, openings_ms, auto_resolve } = incident
  const isWaiting = incident.state !== 'resolved' && flapping && contributors.length === 0
  if (!isWaiting) return { incident, events: [], next_ms: null }
  const quiet_since_ms = incident.quiet_since_ms ?? openings_ms.at(-1) ?? incident.opened_ms
  const at_ms = quiet_since_ms + flappingQuietMs
  if (now_ms < at_ms) return { incident, events: [], next_ms: at_ms }
  const calm = { ...incident, flapping: false, quiet_since_ms: null }
  if (!auto_resolve) return { incident: calm, events: [], next_ms: null }
  const resolved = {
    ...withoutSnooze(calm),
    state: 'resolved',
    version: incident.version + 1,
    resolved_ms: now_ms,
  } as const
  return {
    incident: resolved,
    events: [{ type: 'resolved', at_ms: now_ms, actor: timer }],
    next_ms: null,
  }
}

/** Ends a snooze that is over. An incident that is still open and unacknowledged is announced. */
function endSnooze(before: Incident, now_ms: number): Due {
  const at_ms = before.snoozed_until_ms
  if (at_ms === null) return { incident: before, events: [], next_ms: null }
  if (now_ms < at_ms) return { incident: before, events: [], next_ms: at_ms }
  const { incident, type } = endSuppression(before, now_ms)
  return { incident, events: [{ type, at_ms: now_ms, actor: timer }], next_ms: null }
}

/** Opens an incident again that was acknowledged for `ack_timeout`, and takes the next step only. */
function timeOutAck(incident: Incident, timers: Timers, now_ms: number): Due {
  const { state, acknowledged_ms, version } = incident
  if (state !== 'acknowledged' || acknowledged_ms === null || timers.ack_timeout_ms === null) {
    return { incident, events: [], next_ms: null }
  }
  const at_ms = acknowledged_ms + timers.ack_timeout_ms
  if (now_ms < at_ms) return { incident, events: [], next_ms: at_ms }
  const open: Incident = {
    ...incident,
    state: 'open',
    acknowledged_ms: null,
    version: version + 1,
    reminded_ms: now_ms,
  }
  // A muted step would be lost: it is due when the mute ends.
  const step = isMuted(incident)
    ? undefined
    : (nextStep(incident, timers) ?? timers.escalation.at(-1))
  const notify = step?.notify ?? incident.notify
  return {
    incident: step === undefined ? open : withStep(open, step, now_ms),
    events: [{ type: 'ack_timed_out', at_ms: now_ms, actor: timer, notify }],
    next_ms: null,
  }
}

type Step = Timers['escalation'][number]

/** Returns the first step after the last one that was taken. */
function nextStep({ escalation }: Incident, timers: Timers): Step | undefined {
  const { taken_ms } = escalation
  return timers.escalation.find(({ after_ms }) => taken_ms === null || after_ms > taken_ms)
}

function withStep(incident: Incident, { after_ms, notify }: Step, now_ms: number): Incident {
  return {
    ...incident,
    escalated_to: [...new Set([...incident.escalated_to, ...notify])],
    escalation: { ...incident.escalation, taken_ms: after_ms, last_step_ms: now_ms },
  }
}

/**
 * Takes the next step if it is due: `after` since the start, at the earliest as long after the step
 * before as both `after` differ. Overdue steps are not taken together, so that the people of each have time
 * to acknowledge. The last step is repeated every `repeat`.
 */
function escalate(before: Incident, timers: Timers, now_ms: number): Due {
  const due_ms = stepDue(before, timers)
  const step = nextStep(before, timers) ?? timers.escalation.at(-1)
  if (due_ms === null || step === undefined || now_ms < due_ms) {
    return { incident: before, events: [], next_ms: due_ms }
  }
  const incident = withStep(before, step, now_ms)
  const { notify } = step
  return {
    incident,
    events: [{ type: 'escalated', at_ms: now_ms, actor: timer, notify }],
    next_ms: stepDue(incident, timers),
  }
}

/** Returns the time of the next step, or of the next repetition of the last one. */
function stepDue(incident: Incident, timers: Timers): number | null {
  const { since_ms, taken_ms, last_step_ms } = incident.escalation
  if (timers.escalation.length === 0) return null
  const next = nextStep(incident, timers)
  if (next === undefined) return (last_step_ms ?? since_ms) + timers.repeat_ms
  const apart_ms = next.after_ms - (taken_ms ?? 0)
  return Math.max(since_ms + next.after_ms, (last_step_ms ?? since_ms) + apart_ms)
}

/** Reminds the channels of the incident every `repeat`. Flapping has one message only. */
function remind(incident: Incident, { repeat_ms }: Timers, now_ms: number): Due {
  const at_ms = incident.reminded_ms + repeat_ms
  if (incident.flapping) return { incident, events: [], next_ms: null }
  if (now_ms < at_ms) return { incident, events: [], next_ms: at_ms }
  return {
    incident: { ...incident, reminded_ms: now_ms },
    events: [{ type: 'reminder', at_ms: now_ms, actor: timer }],
    next_ms: now_ms + repeat_ms,
  }
}

function earliest(...times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.min(...known)
}
