import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { severities } from '../../../src/model/severity.ts'
import {
  isAcknowledged,
  minutes,
  modelIncidents,
  newestMark,
  rulesOf,
  snoozesOf,
  withTimers,
} from './incident-model.ts'
import type { KeyHistory, Mark, Message } from './key-history.ts'

/**
 * A message; `after` is that of its escalation step. One without channels is not sent. `to_added`: to
 * the channels that a rule adds to an announced incident, which moves no clock.
 */
type Sent = Message & { readonly after?: number | undefined; readonly to_added?: true }

/** A minute, the changes until then, and the messages before. */
type Now = {
  readonly history: KeyHistory
  readonly at: number
  readonly marks: readonly Mark[]
  readonly sent: readonly Sent[]
  /** The rules that contributed to the current incident. */
  readonly rules: readonly Rule[]
}

/** Returns the messages about all incidents of a key, minute by minute, from its whole history. */
export function modelMessages(history: KeyHistory): Message[] {
  const { marks } = modelIncidents(history)
  let sent: readonly Sent[] = []
  for (let at = 0; at <= history.until; at += 1) {
    const until = marks.filter((mark) => mark.at <= at)
    const changes = until.filter((mark) => mark.at === at)
    const isIdle = changes.length === 0 && newestMark(until)?.type === 'resolved'
    if (until.length === 0 || isIdle) continue
    const now = { history, at, marks: until, rules: rulesOf(history, until, at) }
    const byTime = changes.filter((mark) => isByTime(marks, mark))
    const byEntry = changes.filter((mark) => !byTime.includes(mark))
    const entryMarks = now.marks.slice(0, now.marks.length - byTime.length)
    const ofEntry = byEntry.flatMap((mark) => ofChange({ ...now, sent }, mark))
    const still = stillFiring({ ...now, sent, marks: entryMarks })
    // The other message says more.
    const isSaid = ofEntry.length > 0
    sent = [...sent, ...still.map((one) => (isSaid ? { ...one, channels: [] } : one)), ...ofEntry]
    for (const mark of byTime) sent = [...sent, ...ofChange({ ...now, sent }, mark)]
    sent = [...sent, ...escalations({ ...now, sent })]
    sent = [...sent, ...reminders({ ...now, sent })]
  }
  return sent
    .filter(({ channels }) => channels.length > 0)
    .map(({ after: _, to_added: __, ...message }) => message)
}

/** Returns whether time alone made a change: a timeout, or the end of flapping. */
function isByTime(marks: readonly Mark[], mark: Mark): boolean {
  if (mark.actor === 'user') return false
  if (mark.type === 'calmed' || mark.type === 'unacknowledged') return true
  const before = newestMark(marks.slice(0, marks.indexOf(mark)), mark.incident)
  return mark.type === 'resolved' && before?.is_flapping === true
}

function ofChange(now: Now, mark: Mark): Sent[] {
  const { type, is_flapping } = mark
  if (type === 'resolved') return ofResolve(now, mark)
  if (isByTime(now.marks, mark) ? isMuted(now, mark) : wasMutedAtEntry(now, mark)) return []
  if (type === 'raised') return [message(now, mark, 'severity_raised')]
  if (type === 'unacknowledged') return [ofUnacknowledged(now, mark)]
  if (type !== 'opened' && type !== 'reopened') return []
  return [message(now, mark, is_flapping ? 'flapping' : type)]
}

function ofUnacknowledged(now: Now, mark: Mark): Sent {
  if (mark.actor === 'user') return message(now, mark, 'reopened')
  const step = nextStep(now, mark) ?? stepsOf(now).at(-1)
  return step === undefined ? message(now, mark, 'reminder') : escalate(now, mark, step)
}

/** A resolve reaches the channels that had a message since the opening, and no other. */
function ofResolve(now: Now, mark: Mark): Sent[] {
  const told = sinceOpening(now, mark).flatMap(({ type, channels }) =>
    type === 'resolved' ? [] : channels,
  )
  return [{ ...message(now, mark, 'resolved'), channels: [...new Set(told)].sort() }]
}

/** Returns the messages since the last opening or reopening. */
function sinceOpening({ marks, sent }: Now, { incident }: Mark): Sent[] {
  const opened_at = openingOf(marks, incident)?.at ?? 0
  return sent.filter((one) => one.incident === incident && one.at >= opened_at)
}

function openingOf(marks: readonly Mark[], incident: number): Mark | undefined {
  return marks.findLast(
    (mark) => mark.incident === incident && ['opened', 'reopened'].includes(mark.type),
  )
}

/**
 * The incident is announced after a mute, once a live rule joins an incident of shadow rules, and to
 * the channels that a rule adds to it.
 */
function stillFiring(now: Now): Sent[] {
  const last = newestMark(now.marks)
  if (last === undefined || last.type === 'resolved' || isMuted(now, last)) return []
  const isUnmuted = wasMuted(now, last) && !isAcknowledged(now.marks, last.incident)
  const toAll = message(now, last, 'still_firing')
  if (isUnmuted) return [toAll]
  if (wasMutedAtEntry(now, last)) return []
  if (isFirstLive(now, now.at)) return [toAll]
  return [{ ...toAll, channels: addedChannels(now), to_added: true }]
}

/** Returns the channels of a rule that joins the incident in this minute. */
function addedChannels({ history, marks, at }: Now): string[] {
  const earlier = newestMark(marks.filter((mark) => mark.at < at))
  const isSame = earlier?.type !== 'resolved' && earlier?.incident === newestMark(marks)?.incident
  if (!firingTimes(history).includes(at) || !isSame) return []
  const channelsAt = (minute: number) =>
    rulesOf(history, marks, minute)
      .filter(isLive)
      .flatMap(({ notify }) => notify)
  const known = channelsAt(at - 1)
  return [...new Set(channelsAt(at))].filter((channel) => !known.includes(channel)).sort()
}

/** Returns whether a live rule joined in a minute, after shadow rules only. */
function isFirstLive({ history, marks }: Now, at: number): boolean {
  if (!firingTimes(history).includes(at)) return false
  const earlier = newestMark(marks.filter((mark) => mark.at < at))
  if (earlier === undefined || earlier.incident !== newestMark(marks)?.incident) return false
  if (earlier.type === 'resolved') return false
  const before = rulesOf(history, marks, at - 1)
  const after = rulesOf(history, marks, at)
  return !before.some(isLive) && after.some(isLive)
}

function firingTimes({ entries }: KeyHistory): number[] {
  return entries.filter(({ type }) => type === 'fired').map(({ at }) => at)
}

function isLive({ mode }: Rule): boolean {
  return mode === 'live'
}

/** Returns whether messages are muted at the end of a minute. */
function isMuted(now: Pick<Now, 'history' | 'at' | 'marks'>, mark: Mark): boolean {
  const { history, at, marks } = now
  const snoozes = snoozesOf(history, marks, mark.incident)
  return isSuppressed(now, mark) || snoozes.some(({ from, to }) => from <= at && at < to)
}

/** Time ends a snooze after the entries of the minute. */
function wasMutedAtEntry(now: Now, mark: Mark): boolean {
  const { history, at, marks } = now
  const snoozes = snoozesOf(history, marks, mark.incident)
  const unsnoozed = marks.some((one) => one.at === at && one.type === 'unsnoozed')
  return (
    isSuppressed(now, mark) ||
    snoozes.some(({ from, to }) => from <= at && (unsnoozed ? at < to : at <= to))
  )
}

function isSuppressed({ history, at }: Pick<Now, 'history' | 'at'>, { severity }: Mark): boolean {
  return history.mutes.some(({ from, to, up_to = 'critical' }) => {
    return from <= at && at < to && severities.indexOf(severity) <= severities.indexOf(up_to)
  })
}

/** Returns whether the incident was open and muted a minute ago. */
function wasMuted(now: Now, last: Mark): boolean {
  const earlier = now.marks.filter((mark) => mark.at < now.at)
  const then = newestMark(earlier, last.incident)
  if (then === undefined || then.type === 'resolved') return false
  return isMuted({ ...now, at: now.at - 1, marks: earlier }, then)
}

type Step = { readonly after: number; readonly notify: readonly string[] }

/** Returns the steps of all rules, by `after`; those of equal `after` are one step. */
function stepsOf({ rules }: Now): Step[] {
  const steps = withTimers(rules).flatMap(({ escalation }) => escalation)
  const afters = [...new Set(steps.map(({ after }) => minutes(after)))].sort((a, b) => a - b)
  return afters.map((after) => {
    const same = steps.filter((step) => minutes(step.after) === after)
    return { after, notify: [...new Set(same.flatMap(({ notify }) => notify))].sort() }
  })
}

function lastStep(now: Now, mark: Mark): Sent | undefined {
  const restarted_at = restartOf(now, mark)
  const steps = sinceOpening(now, mark).filter(
    ({ at, channels }) => channels.length > 0 && at >= restarted_at,
  )
  return steps.findLast(({ after }) => after !== undefined)
}

function nextStep(now: Now, mark: Mark): Step | undefined {
  const done = lastStep(now, mark)?.after ?? 0
  return stepsOf(now).find(({ after }) => after > done)
}

/**
 * The next step is due `after` the start, at the earliest as long after the step before as both
 * `after` differ.
 * The last step is due again after `repeat`.
 */
function escalations(now: Now): Sent[] {
  const last = newestMark(now.marks)
  if (last === undefined || !isHeard(now, last)) return []
  const done = lastStep(now, last)
  const next = nextStep(now, last)
  const step = next ?? stepsOf(now).at(-1)
  if (step === undefined) return []
  const start = startOf(now, last)
  const wait = next === undefined ? repeatOf(now) : next.after - (done?.after ?? 0)
  const isLong = next === undefined || now.at >= start + next.after
  const isDue = isLong && now.at >= (done?.at ?? start) + wait
  return isDue ? [escalate(now, last, step)] : []
}

/** `after` counts from the opening, or from the first message if that is "still firing". */
function startOf(now: Now, last: Mark): number {
  const own = sinceOpening(now, last)
  const first = own.findIndex(({ channels }) => channels.length > 0)
  const until = first === -1 ? own : own.slice(0, first + 1)
  const opened_at = openingOf(now.marks, last.incident)?.at ?? 0
  const times = firingTimes(now.history).filter((at) => opened_at < at && at <= now.at)
  const joined_at = times.find((at) => isFirstLive(now, at)) ?? 0
  const clocks = until.filter(({ to_added }) => to_added !== true)
  const announced_at = clocks.findLast(({ type }) => type === 'still_firing')?.at ?? 0
  return Math.max(opened_at, joined_at, announced_at, restartOf(now, last))
}

/** The escalation of an open incident starts again when a snooze ends; 0 without such an end. */
function restartOf({ history, marks, at }: Now, { incident }: Mark): number {
  const ends = snoozesOf(history, marks, incident).filter(({ to, isReplaced }) => {
    const until = marks.filter((mark) => mark.at < to || (mark.at === to && !isByTime(marks, mark)))
    return to <= at && !isReplaced && !isAcknowledged(until, incident)
  })
  return Math.max(0, ...ends.map(({ to }) => to))
}

/** Reminders are due `repeat` after the last message to the channels of the incident. */
function reminders(now: Now): Sent[] {
  const last = newestMark(now.marks)
  if (last === undefined || !isHeard(now, last) || last.is_flapping) return []
  const own = sinceOpening(now, last).filter(
    ({ type, to_added }) => type === 'reminder' || (type === 'still_firing' && to_added !== true),
  )
  const changes = now.marks.filter(
    ({ incident, type }) => incident === last.incident && isNews.has(type),
  )
  const since = Math.max(startOf(now, last), ...[...own, ...changes].map(({ at }) => at))
  return now.at - since >= repeatOf(now) ? [message(now, last, 'reminder')] : []
}

const isNews: ReadonlySet<Mark['type']> = new Set([
  ...(['opened', 'reopened', 'raised', 'unacknowledged'] as const),
])

function repeatOf({ rules }: Now): number {
  return Math.min(...withTimers(rules).map(({ grouping }) => minutes(grouping.repeat)))
}

/** Returns whether timers have messages: the incident is open, and neither muted nor shadow. */
function isHeard(now: Now, last: Mark): boolean {
  const isOpen = last.type !== 'resolved' && !isAcknowledged(now.marks, last.incident)
  return isOpen && !isMuted(now, last) && !isShadow(now)
}

function isShadow({ rules }: Now): boolean {
  return !rules.some(isLive)
}

function escalate(now: Now, mark: Mark, { after, notify }: Step): Sent {
  const channels = isShadow(now) ? [] : notify
  return { ...message(now, mark, 'escalated'), channels, after }
}

/** The union of the notify lists of all live rules that contributed is notified. */
function message({ rules, at }: Now, mark: Mark, type: Message['type']): Sent {
  const live = rules.filter(isLive)
  const channels = [...new Set(live.flatMap(({ notify }) => notify))].sort()
  return { at, incident: mark.incident, type, severity: mark.severity, channels }
}
