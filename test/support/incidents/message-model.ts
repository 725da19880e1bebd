import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { severities } from '../../../src/model/severity.ts'
import { isAcknowledged, minutes, modelIncidents, newestMark, rulesOf } from './incident-model.ts'
import type { KeyHistory, Mark, Message } from './key-history.ts'

/** Returns the messages about all incidents of a key, minute by minute, from its whole history. */
export function modelMessages(history: KeyHistory): Message[] {
  const { marks } = modelIncidents(history)
  const sent: Message[] = []
  for (let at = 0; at <= history.until; at += 1) {
    const now: Now = { history, at, marks: marks.filter((mark) => mark.at <= at) }
    const changes = marks.filter((mark) => mark.at === at)
    sent.push(...changes.flatMap((mark) => messagesOfChange(now, sent, mark)))
    sent.push(...messagesOfTime(now, sent))
  }
  return sent.filter(({ channels }) => channels.length > 0)
}

/** A minute, and the changes until then. */
type Now = { readonly history: KeyHistory; readonly at: number; readonly marks: readonly Mark[] }

const announcements: readonly Message['type'][] = [
  ...(['opened', 'reopened', 'reminder', 'still_firing', 'flapping', 'severity_raised'] as const),
  'escalated',
]

function messagesOfChange(now: Now, sent: readonly Message[], mark: Mark): Message[] {
  const until: Now = { ...now, marks: now.marks.slice(0, now.marks.indexOf(mark) + 1) }
  const { type, is_flapping } = mark
  if (type === 'resolved') {
    const isKnown = !isMuted(now, mark) || wasAnnounced(until, sent, mark)
    return isKnown ? [message(until, mark, 'resolved')] : []
  }
  if (isMuted(now, mark)) return []
  if (type === 'raised') return [message(until, mark, 'severity_raised')]
  if (type === 'unacknowledged') {
    const next = nextStep(until, sent, mark)
    return [next ?? message(until, mark, 'reminder')]
  }
  if (type !== 'opened' && type !== 'reopened') return []
  return [message(until, mark, is_flapping ? 'flapping' : type)]
}

/** Returns whether a message after the last opening or reopening announced the incident. */
function wasAnnounced({ marks }: Now, sent: readonly Message[], { incident }: Mark): boolean {
  const opened_at = openingOf(marks, incident)?.at ?? 0
  return sent.some(
    (one) => one.incident === incident && one.at >= opened_at && announcements.includes(one.type),
  )
}

function openingOf(marks: readonly Mark[], incident: number): Mark | undefined {
  return marks.findLast(
    (mark) => mark.incident === incident && ['opened', 'reopened'].includes(mark.type),
  )
}

/** Reminders, escalations and the end of a mute, for an open incident. */
function messagesOfTime(now: Now, sent: readonly Message[]): Message[] {
  const { at, marks } = now
  const last = newestMark(marks)
  if (last === undefined || last.type === 'resolved') return []
  if (isMuted(now, last) || isAcknowledged(marks, last.incident)) return []
  const own = sent.filter(({ incident }) => incident === last.incident)
  if (own.some((one) => one.at === at)) return []
  if (wasMuted(now, last)) return [message(now, last, 'still_firing')]
  const escalated = escalations(now, sent, last)
  if (escalated.length > 0) return escalated
  const repeat = Math.min(
    ...rulesOf(now.history, marks, at).map((rule) => minutes(rule.grouping.repeat)),
  )
  const isDue = at - (own.at(-1)?.at ?? at) >= repeat
  return isDue && !last.is_flapping ? [message(now, last, 'reminder')] : []
}

function isMuted({ history, at }: Now, { severity }: Mark): boolean {
  return history.mutes.some(({ from, to, up_to = 'critical' }) => {
    return from <= at && at < to && severities.indexOf(severity) <= severities.indexOf(up_to)
  })
}

/** Returns whether the incident was open and muted a minute ago. */
function wasMuted(now: Now, last: Mark): boolean {
  const earlier = now.marks.filter((mark) => mark.at < now.at)
  const then = newestMark(earlier, last.incident)
  if (then === undefined || then.type === 'resolved') return false
  return isMuted({ ...now, at: now.at - 1 }, then)
}

/** Steps that are due since the last opening, and the last step again after `repeat`. */
function escalations(now: Now, sent: readonly Message[], last: Mark): Message[] {
  const opened_at = openingOf(now.marks, last.incident)?.at ?? 0
  return rulesOf(now.history, now.marks, now.at).flatMap((rule) => {
    const done = stepsSent(rule, sent, { incident: last.incident, opened_at })
    const due = rule.escalation
      .slice(done.length)
      .filter(({ after }) => opened_at + minutes(after) === now.at)
    const final = rule.escalation.at(-1)
    const repeats =
      final !== undefined &&
      done.at(-1)?.channels.join() === final.notify.join() &&
      now.at - (done.at(-1)?.at ?? 0) >= minutes(rule.grouping.repeat)
    const steps = due.length === 0 && repeats ? [final] : due
    return steps.map(({ notify }) => ({ ...message(now, last, 'escalated'), channels: notify }))
  })
}

type Opening = { readonly incident: number; readonly opened_at: number }

function stepsSent(rule: Rule, sent: readonly Message[], { incident, opened_at }: Opening) {
  const channels = rule.escalation.map(({ notify }) => notify.join())
  const own = sent.filter((one) => one.incident === incident && one.at >= opened_at)
  return own.filter((one) => one.type === 'escalated' && channels.includes(one.channels.join()))
}

/** Returns the message of the first step that was not sent, or of the last step. */
function nextStep(now: Now, sent: readonly Message[], mark: Mark): Message | undefined {
  const opened_at = openingOf(now.marks, mark.incident)?.at ?? 0
  const rule = rulesOf(now.history, now.marks, now.at).find(
    ({ escalation }) => escalation.length > 0,
  )
  if (rule === undefined) return undefined
  const done = stepsSent(rule, sent, { incident: mark.incident, opened_at })
  const step = rule.escalation[done.length] ?? rule.escalation.at(-1)
  return { ...message(now, mark, 'escalated'), channels: step?.notify ?? [] }
}

/** The union of the notify lists of all live rules that contributed is notified. */
function message({ history, marks, at }: Now, mark: Mark, type: Message['type']): Message {
  const live = rulesOf(history, marks, at).filter(({ mode }) => mode === 'live')
  const channels = [...new Set(live.flatMap(({ notify }) => notify))].sort()
  return { at, incident: mark.incident, type, severity: mark.severity, channels }
}
