import { describe, expect, test } from 'vitest'
import {
  at,
  ended,
  fired,
  IncidentLog,
  loudRule,
} from '../../../../test/support/incident-records.ts'
import { applyTimers, joinTimers } from './due.ts'
import type { Incident } from './incident.ts'
import { type Move, moveIncident } from './move.ts'
import { applyMuting, type Muting } from './notices.ts'
import { orphan } from './record-transition.ts'

const person = { type: 'user', id: 'ada' } as const
const muted = { suppressed_by: ['maintenance'], inhibited_by: [] }
const audible = { suppressed_by: [], inhibited_by: [] }

function move(log: IncidentLog, one: Move): IncidentLog {
  const moved = moveIncident(log.newest, one, person)
  if (moved.kind === 'refused') throw new Error(moved.detail)
  return moved.kind === 'moved' ? log.apply(moved) : log
}

function mute(log: IncidentLog, muting: Muting, minute: number): IncidentLog {
  const change = applyMuting(log.newest, muting, at(minute))
  return change === undefined ? log : log.apply(change)
}

/** Applies the timers at each of the minutes. */
function wait(log: IncidentLog, rule: ReturnType<typeof loudRule>, ...minutes: number[]) {
  for (const minute of minutes) log.apply(applyTimers(log.newest, joinTimers([rule]), at(minute)))
  return log
}

const opened = (rule = loudRule()) => new IncidentLog().add(fired(0), rule)
const delivered = (log: IncidentLog) => log.set({ opened_delivered: true })

describe('opening and resolving', () => {
  test('opened and resolved are notified', () => {
    const log = opened().add(ended(5))
    expect(log.newest).toMatchObject({ state: 'resolved', resolved_ms: at(5), version: 2 })
    expect(log.notices).toEqual(['0 opened on-call', '5 resolved on-call'])
  })

  test('within `reopen_within` of a resolve a firing reopens, later it opens a new incident', () => {
    const log = opened().add(ended(5)).add(fired(20))
    expect(log.incidents).toHaveLength(1)
    expect(log.newest).toMatchObject({ state: 'open', opened_ms: at(0), resolved_ms: null })
    log.add(ended(21)).add(fired(37))
    expect(log.incidents.map(({ state }) => state)).toEqual(['resolved', 'open'])
    expect(log.notices.at(-1)).toBe('37 opened on-call')
  })

  test('`reopen_within: 0s` never reopens', () => {
    const rule = loudRule({ reopen_within: '0s' })
    expect(opened(rule).add(ended(5), rule).add(fired(6), rule).incidents).toHaveLength(2)
  })

  test('`auto_resolve: false` leaves the incident to a person', () => {
    const rule = loudRule({ auto_resolve: false })
    const log = opened(rule).add(ended(5), rule)
    expect(log.newest).toMatchObject({ state: 'open', contributors: [] })
  })

  test('a late opening is notified once: opened, then resolved', () => {
    const log = new IncidentLog().add(fired(3, { late: true })).add(ended(8))
    expect(log.notices).toEqual(['3 opened on-call', '8 resolved on-call'])
    expect(log.newest.late).toBe(true)
  })

  test('a raised severity is notified, a shadow rule never is', () => {
    const raised = { type: 'raised', slot_ms: at(2), severity: 'critical', tier: 14.4 } as const
    expect(opened().add(raised).notices).toEqual(['0 opened on-call', '2 raised on-call'])
    const shadow = loudRule({ mode: 'shadow' })
    expect(opened(shadow).add(raised, shadow).add(ended(3), shadow).notices).toEqual([])
  })
})

test('an acknowledgement is known after the resolve, and ends with a reopening', () => {
  const acked = move(opened(), { type: 'ack', at_ms: at(3) })
  const byRule = acked.add(ended(5))
  expect(byRule.newest).toMatchObject({ state: 'resolved', acknowledged_ms: at(3) })
  expect(byRule.add(fired(6)).newest).toMatchObject({ state: 'open', acknowledged_ms: null })
  const byHand = move(move(opened(), { type: 'ack', at_ms: at(3) }), {
    type: 'resolve',
    at_ms: at(4),
  })
  expect(byHand.newest).toMatchObject({ state: 'resolved', acknowledged_ms: at(3) })
})

describe('shared dedup keys', () => {
  const other = loudRule({ name: 'costs', notify: ['finance', 'on-call'], severity: 'low' })

  test('resolved when its last contributor ends', () => {
    const log = opened().add(fired(1), other).add(ended(2))
    expect(log.newest.state).toBe('open')
    expect(log.add(ended(3), other).newest.state).toBe('resolved')
    expect(log.incidents).toHaveLength(1)
  })

  test('two groups of one rule are two contributors', () => {
    const log = opened().add(fired(1), loudRule(), 'b').add(ended(2), loudRule(), 'b')
    expect(log.newest.state).toBe('open')
  })

  test('severity is never lowered', () => {
    const log = opened().add(fired(1, { severity: 'low' }), other)
    expect(log.newest.severity).toBe('high')
    expect(log.add(fired(2, { severity: 'critical' }), other, 'b').newest.severity).toBe('critical')
    expect(log.notices.at(-1)).toBe('2 raised on-call,finance')
  })

  test('the union of notify lists is notified: what a rule adds learns the incident, then its end', () => {
    const log = opened().add(fired(1), other).add(ended(2)).add(ended(3), other)
    expect(log.notices).toEqual([
      '0 opened on-call',
      '1 still_firing finance',
      '3 resolved on-call,finance',
    ])
  })

  test('a shadow rule cannot silence a live one that shares its key', () => {
    const log = opened(loudRule({ name: 'trial', mode: 'shadow' })).add(fired(1))
    expect(log.notices).toEqual(['1 still_firing on-call'])
  })
})

describe('moves', () => {
  const minute = at(9)
  const moves = ['ack', 'resolve', 'reopen', 'assign', 'suppress'] as const
  const moveOf = (type: (typeof moves)[number] | 'comment', more: object = {}): Move =>
    ({
      type,
      at_ms: minute,
      has_newer: false,
      quiet: [],
      assignee: 'bo',
      suppressed: true,
      ...more,
    }) as Move
  const resolved = () => move(opened(), moveOf('resolve'))

  test.each(moves)('the same move twice changes nothing: %s', (type) => {
    const log = type === 'reopen' ? resolved() : opened()
    const once = move(log, moveOf(type)).newest
    expect(moveIncident(once, moveOf(type), person)).toEqual({ kind: 'unchanged', incident: once })
  })

  test.each(['ack', 'assign', 'suppress'] as const)('%s of a resolved incident: 409', (type) => {
    expect(moveIncident(resolved().newest, moveOf(type), person)).toMatchObject({
      kind: 'refused',
      code: 'incident_state_conflict',
      detail: `the incident is resolved, so \`${type}\` is not possible. Reopen it first.`,
    })
  })

  test('reopening an old one while a newer one of its key is open: 409', () => {
    const { newest } = resolved()
    const refused = moveIncident(newest, moveOf('reopen', { has_newer: true }), person)
    expect(refused).toMatchObject({ kind: 'refused', code: 'incident_state_conflict' })
    expect(move(resolved(), moveOf('reopen')).newest.state).toBe('open')
  })

  test('an incident reopened by hand resolves when its quiet groups end', () => {
    const quiet = [{ rule: 'failures', group: '{}' }]
    const log = move(resolved(), moveOf('reopen', { quiet }))
    expect(log.newest.state).toBe('open')
    expect(log.add(ended(12)).newest.state).toBe('resolved')
  })

  test('`If-Match` is checked before the state', () => {
    const { newest } = resolved()
    const stale = moveIncident(newest, moveOf('ack', { if_match: newest.version - 1 }), person)
    expect(stale).toMatchObject({ kind: 'refused', code: 'precondition_failed' })
    const current = moveIncident(newest, moveOf('ack', { if_match: newest.version }), person)
    expect(current).toMatchObject({ kind: 'refused', code: 'incident_state_conflict' })
  })

  test('every move has actor, note, time and version', () => {
    const log = move(opened(), moveOf('ack', { note: 'on it' }))
    expect(log.events.at(-1)).toEqual({
      type: 'acknowledged',
      at_ms: minute,
      actor: person,
      note: 'on it',
    })
    expect(log.newest.version).toBe(2)
  })

  test('a comment is possible in every state, and moves nothing but the version', () => {
    const { newest } = move(resolved(), moveOf('comment', { note: 'cause found' }))
    expect(newest).toMatchObject({ state: 'resolved', version: 3 })
  })

  test('an acknowledged incident is assigned and resolved', () => {
    const log = move(move(opened(), moveOf('ack')), moveOf('assign', { assignee: 'bo' }))
    expect(log.newest).toMatchObject({ state: 'acknowledged', assignee: 'bo' })
    expect(move(log, moveOf('resolve')).newest.state).toBe('resolved')
  })
})

describe('flapping', () => {
  const flap = (times: number) => {
    const log = new IncidentLog()
    for (let i = 0; i < times; i++) log.add(fired(2 * i)).add(ended(2 * i + 1))
    return log
  }

  test('> 4 openings of one key in 1 h: stays open, with one message instead of the fifth', () => {
    expect(flap(4).newest).toMatchObject({ state: 'resolved', flapping: false })
    const log = flap(8)
    expect(log.newest).toMatchObject({ state: 'open', flapping: true })
    expect(log.notices.slice(8)).toEqual(['8 flapping on-call'])
  })

  test('reopenings and openings of new incidents count', () => {
    const rule = loudRule({ reopen_within: '1m' })
    const log = new IncidentLog()
    for (let i = 0; i < 5; i++) log.add(fired(3 * i), rule).add(ended(3 * i + 1 + (i % 2)), rule)
    expect(log.incidents.length).toBeGreaterThan(1)
    expect(log.newest.flapping).toBe(true)
  })

  test('four openings an hour are not flapping', () => {
    const log = new IncidentLog()
    for (let i = 0; i < 12; i++) log.add(fired(15 * i)).add(ended(15 * i + 1))
    expect(log.newest.flapping).toBe(false)
  })

  test('closes after 30 quiet minutes', () => {
    const log = wait(flap(5), loudRule(), 38)
    expect(log.newest.state).toBe('open')
    expect(applyTimers(log.newest, joinTimers([loudRule()]), at(38)).next_ms).toBe(at(39))
    expect(wait(log, loudRule(), 39).newest).toMatchObject({ state: 'resolved', flapping: false })
    expect(log.notices.at(-1)).toBe('39 resolved on-call')
  })

  test('a firing ends the quiet', () => {
    const log = wait(flap(5).add(fired(20)), loudRule(), 60)
    expect(log.newest).toMatchObject({ state: 'open', flapping: true })
    expect(wait(log.add(ended(61)), loudRule(), 90).newest.state).toBe('open')
    expect(wait(log, loudRule(), 91).newest.state).toBe('resolved')
  })

  test("a person's resolve ends it", () => {
    const log = move(flap(5), { type: 'resolve', at_ms: at(10) })
    expect(log.newest).toMatchObject({ state: 'resolved', flapping: false })
    expect(log.add(fired(11)).newest).toMatchObject({ state: 'open', flapping: false })
  })
})

describe('suppression', () => {
  /** An incident that opened in a maintenance window. */
  const suppressed = () => {
    const { newest, events } = opened()
    const change = applyMuting(newest, muted, at(0))
    if (change === undefined) throw new Error('the suppression changed nothing')
    const incident = { ...change.incident, announced_to: [] }
    return new IncidentLog().apply({ incident, events: [...events, ...change.events] })
  }

  test('a suppressed incident has no messages, and is recorded', () => {
    const log = suppressed().add({ type: 'raised', slot_ms: at(1), severity: 'critical', tier: 6 })
    expect(log.notices).toEqual([])
    expect(log.newest).toMatchObject({ severity: 'critical', state: 'open' })
  })

  test('still firing when a suppression ends: notified', () => {
    expect(mute(suppressed(), audible, 7).notices).toEqual(['7 still_firing on-call'])
  })

  test('ending while acknowledged: silent', () => {
    const log = move(suppressed(), { type: 'ack', at_ms: at(1) })
    expect(mute(log, audible, 7).notices).toEqual([])
  })

  test('raised beyond the matcher: notified, also while acknowledged', () => {
    const log = move(suppressed(), { type: 'ack', at_ms: at(1) })
    const raised = { ...log.newest, severity: 'critical' } as Incident
    const change = applyMuting(raised, audible, at(2))
    const actor = { type: 'rule', id: 'failures' } as const
    const event = { type: 'raised', at_ms: at(2), actor } as const
    log.apply({ incident: change?.incident ?? raised, events: [event, ...(change?.events ?? [])] })
    expect(log.notices).toEqual(['2 raised on-call'])
  })

  test('raised beyond the matcher while open: one message', () => {
    const { newest } = suppressed()
    const change = applyMuting({ ...newest, severity: 'critical' }, audible, at(2))
    const event = { type: 'raised', at_ms: at(2), actor: { type: 'rule', id: 'a' } } as const
    const incident = change?.incident ?? newest
    const log = new IncidentLog().apply({ incident, events: [event, ...(change?.events ?? [])] })
    expect(log.notices).toEqual(['2 raised on-call'])
  })

  test('resolved while suppressed: notified if and only if it was announced', () => {
    expect(suppressed().add(ended(5)).notices).toEqual([])
    const announced = mute(opened(), muted, 1).add(ended(5))
    expect(announced.notices).toEqual(['0 opened on-call', '5 resolved on-call'])
  })

  test('suppressed, acknowledged, ended: the end has no message, as the opening', () => {
    const acked = move(suppressed(), { type: 'ack', at_ms: at(1) })
    expect(mute(acked, audible, 3).add(ended(5)).notices).toEqual([])
  })

  test('one by hand remains when other suppressions end', () => {
    const log = move(suppressed(), { type: 'suppress', suppressed: true, at_ms: at(1) })
    expect(mute(log, audible, 2).newest.suppressed_by).toEqual(['person'])
    expect(log.notices).toEqual([])
    move(log, { type: 'suppress', suppressed: false, at_ms: at(3) })
    expect(log.notices).toEqual(['3 still_firing on-call'])
  })

  test('a muted incident that outlives its source is announced as still firing', () => {
    const log = mute(opened(), { suppressed_by: [], inhibited_by: ['outage'] }, 1)
    expect(mute(log, audible, 5).notices.at(-1)).toBe('5 still_firing on-call')
  })
})

describe('reminders and escalation', () => {
  const steps = [
    { after: '10m', notify: ['second'] },
    { after: '30m', notify: ['third'] },
  ]
  const rule = loudRule({ escalation: steps, grouping: { repeat: '2h' }, ack_timeout: '1h' })
  const later = (log: IncidentLog) => log.notices.slice(1)

  test('a reminder every `repeat`, and overdue ones are one', () => {
    const plain = loudRule({ grouping: { repeat: '2h' } })
    const log = wait(opened(plain), plain, 119, 120, 121, 600)
    expect(later(log)).toEqual(['120 reminder on-call', '600 reminder on-call'])
    expect(applyTimers(log.newest, joinTimers([plain]), at(600)).next_ms).toBe(at(720))
  })

  test('not while acknowledged', () => {
    const plain = loudRule({ grouping: { repeat: '2h' } })
    const log = move(opened(plain), { type: 'ack', at_ms: at(1) })
    expect(later(wait(log, plain, 500))).toEqual([])
  })

  test('`after` counts from the opening; unacknowledged incidents escalate by themselves', () => {
    expect(applyTimers(opened(rule).newest, joinTimers([rule]), at(1)).next_ms).toBe(at(10))
    const log = wait(opened(rule), rule, 9, 10, 11, 30)
    expect(later(log)).toEqual(['10 escalated second', '30 escalated third'])
  })

  test('when steps run out the last one repeats at `repeat`', () => {
    const log = wait(opened(rule), rule, 10, 30, 149, 150)
    expect(later(log)).toEqual([
      '10 escalated second',
      '30 escalated third',
      '149 reminder on-call',
      '150 escalated third',
    ])
  })

  test('acknowledged: no step until `ack_timeout`, then open again and the next step only', () => {
    const log = move(wait(opened(rule), rule, 10), { type: 'ack', at_ms: at(12) })
    wait(log, rule, 71)
    expect(log.newest.state).toBe('acknowledged')
    wait(log, rule, 72, 73)
    expect(log.newest).toMatchObject({ state: 'open', acknowledged_ms: null })
    expect(later(log)).toEqual(['10 escalated second', '72 ack_timed_out third'])
  })

  test('without steps, the timeout of an acknowledgement notifies the channels of the rule', () => {
    const plain = loudRule({ ack_timeout: '1h' })
    const log = move(opened(plain), { type: 'ack', at_ms: at(1) })
    expect(later(wait(log, plain, 60, 61))).toEqual(['61 ack_timed_out on-call'])
  })

  test('after `ack_timeout` the later steps keep their distance', () => {
    const log = move(opened(rule), { type: 'ack', at_ms: at(1) })
    expect(later(wait(log, rule, 61, 80, 81))).toEqual([
      '61 ack_timed_out second',
      '81 escalated third',
    ])
  })

  test('a reopening starts the escalation again', () => {
    const log = wait(opened(rule), rule, 10).add(ended(12), rule).add(fired(20), rule)
    expect(later(wait(log, rule, 29, 30)).slice(2)).toEqual([
      '20 reopened on-call',
      '30 escalated second',
    ])
  })

  test('a resolve reaches the channels of the steps that were taken', () => {
    const log = wait(opened(rule), rule, 10).add(ended(12), rule)
    expect(log.notices.at(-1)).toBe('12 resolved on-call,second')
  })

  test('a mute after the opening was delivered does not delay the steps', () => {
    const log = mute(mute(delivered(opened(rule)), muted, 1), audible, 5)
    expect(later(wait(log, rule, 9, 10))).toEqual(['5 still_firing on-call', '10 escalated second'])
  })

  test('the steps count from the end of a mute by hand as well', () => {
    const log = move(opened(rule), { type: 'suppress', suppressed: true, at_ms: at(0) })
    move(log, { type: 'suppress', suppressed: false, at_ms: at(60) })
    expect(later(wait(log, rule, 69, 70))).toEqual([
      '60 still_firing on-call',
      '70 escalated second',
    ])
  })

  test('a muted incident neither reminds nor escalates; the steps count from the end', () => {
    const log = wait(mute(opened(rule), muted, 1), rule, 500)
    expect(later(log)).toEqual([])
    mute(log, audible, 500)
    expect(later(wait(log, rule, 509, 510))).toEqual([
      '500 still_firing on-call',
      '510 escalated second',
    ])
  })
})

describe('rule changes', () => {
  test('suspending, editing or deleting a rule leaves its incidents open, marked `orphaned`', () => {
    const change = orphan(opened().newest, 'failures', at(3))
    expect(change?.incident).toMatchObject({ state: 'open', orphaned: true, contributors: [] })
    const log = opened().apply(change ?? { incident: opened().newest, events: [] })
    expect(log.notices).toHaveLength(1)
    expect(move(log, { type: 'resolve', at_ms: at(4) }).newest.state).toBe('resolved')
  })

  test('an incident that waits for a person is orphaned as well, once', () => {
    const resolved = move(opened(), { type: 'resolve', at_ms: at(1) })
    const log = move(resolved, { type: 'reopen', at_ms: at(2), has_newer: false, quiet: [] })
    expect(log.newest.contributors).toEqual([])
    const change = orphan(log.newest, 'failures', at(3))
    expect(change).toMatchObject({ incident: { orphaned: true }, events: [{ type: 'orphaned' }] })
    if (change !== undefined) log.apply(change)
    expect(orphan(log.newest, 'failures', at(4))).toBeUndefined()
    expect(orphan(log.newest, 'other', at(4))).toBeUndefined()
  })

  test('an incident with another contributor is not orphaned', () => {
    const log = opened().add(fired(1), loudRule({ name: 'costs' }))
    expect(orphan(log.newest, 'failures', at(3))?.incident.orphaned).toBe(false)
  })

  test('a firing of the changed rule attaches to the orphaned incident', () => {
    const log = opened()
    const change = orphan(log.newest, 'failures', at(3))
    if (change !== undefined) log.apply(change)
    expect(log.add(fired(5)).newest).toMatchObject({ orphaned: false, opened_ms: at(0) })
  })
})
