import fc from 'fast-check'
import { expect, test } from 'vitest'
import { at, ended, fired, loudRule } from '../../../../test/support/incident-records.ts'
import { applyTimers, joinTimers } from './due.ts'
import { type Changed, type Incident, isMuted, openings_max } from './incident.ts'
import { type Move, moveIncident } from './move.ts'
import { announced, applyMuting, noticesOf } from './notices.ts'
import { orphan, recordTransition } from './record-transition.ts'

const rules = [
  loudRule({ name: 'a', ack_timeout: '7m', grouping: { repeat: '20m' } }),
  loudRule({ name: 'b', notify: ['b'], severity: 'low', reopen_within: '0s' }),
  loudRule({ name: 'c', notify: ['c'], auto_resolve: false }),
].map((rule) => ({
  ...rule,
  escalation: [
    { after: '3m', notify: ['second'] },
    { after: '9m', notify: ['third'] },
  ],
}))

const action = fc.record({
  /** Minutes since the action before. */
  wait: fc.constantFrom(0, 1, 1, 1, 2, 15),
  rule: fc.constantFrom(0, 0, 0, 1, 2),
  type: fc.constantFrom(
    ...([
      'fired',
      'fired',
      'fired',
      'fired',
      'ended',
      'ended',
      'ended',
      'ended',
      'timers',
      'timers',
      'mute',
      'orphan',
    ] as const),
    ...(['ack', 'resolve', 'reopen', 'assign', 'comment', 'suppress', 'snooze'] as const),
  ),
  flag: fc.constantFrom(true, true, true, false),
})
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never

/** Five openings in ten minutes: the incident is flapping. */
const flaps: Action[] = Array.from({ length: 10 }, (_, i) => {
  return { wait: 1, rule: 0, type: i % 2 === 0 ? 'fired' : 'ended', flag: true }
})

const sequences = fc
  .tuple(fc.boolean(), fc.array(action, { maxLength: 30 }))
  .map(([isFlapping, all]) => (isFlapping ? [...flaps, ...all] : all))

const person = { type: 'user', id: 'ada' } as const

function apply(
  newest: Incident | undefined,
  { type, rule: index, flag }: Action,
  minute: number,
): Changed | undefined {
  const rule = rules[index] ?? loudRule()
  const at_ms = at(minute)
  const contribution = { rule, group: flag ? 'x' : 'y', dedup_key: 'key', at_ms }
  if (type === 'fired') {
    return recordTransition(newest, { ...contribution, transition: fired(minute) })
  }
  if (newest === undefined) return undefined
  switch (type) {
    case 'ended':
      return recordTransition(newest, { ...contribution, transition: ended(minute) })
    case 'timers':
      return applyTimers(newest, joinTimers([rule]), at_ms)
    case 'mute':
      return applyMuting(newest, { suppressed_by: flag ? ['s'] : [], inhibited_by: [] }, at_ms)
    case 'snooze': {
      const until_ms = at(minute + (flag ? 3 : 12))
      const move = { type: 'suppress', suppressed: true, until_ms, at_ms } as const
      const moved = moveIncident(newest, move, person)
      return moved.kind === 'moved' ? moved : undefined
    }
    case 'orphan':
      return orphan(newest, rule.name, at_ms)
    default: {
      const more = { has_newer: false, quiet: [], assignee: 'bo', suppressed: flag }
      const moved = moveIncident(newest, { type, at_ms, ...more } as Move, person)
      return moved.kind === 'moved' ? moved : undefined
    }
  }
}

function checkIncident(incident: Incident): void {
  if (incident.state !== 'resolved') {
    expect(incident.acknowledged_ms !== null).toBe(incident.state === 'acknowledged')
  }
  expect(incident.resolved_ms !== null).toBe(incident.state === 'resolved')
  expect(incident.openings_ms.length).toBeLessThanOrEqual(openings_max + 1)
  expect(JSON.parse(JSON.stringify(incident))).toEqual(incident)
  if (incident.contributors.length > 0) expect(incident.quiet_since_ms).toBeNull()
  if (incident.snoozed_until_ms !== null) expect(incident.suppressed_by).toContain('person')
  if (incident.state === 'resolved') {
    expect(incident.snoozed_until_ms).toBeNull()
    expect(incident).toMatchObject({ contributors: [], flapping: false, quiet_since_ms: null })
  }
}

function checkChange(before: Incident | undefined, change: Changed): void {
  const { incident, events, is_new } = change
  const isSame = before === incident
  if (is_new !== true && before !== undefined && !isSame) {
    expect(incident.version - before.version).toBe(isVersioned(before, change) ? 1 : 0)
    expect(incident.opened_ms).toBe(before.opened_ms)
  }
  for (const { reason, channels } of noticesOf(change)) {
    expect(channels.length).toBeGreaterThan(0)
    if (isMuted(incident)) {
      expect(reason).toBe('resolved')
    }
    if (reason === 'resolved') expect(incident.announced_to).toEqual(channels)
  }
  if (isSame) expect(events).toEqual([])
}

/** Returns whether a change is one that the `If-Match` of a person must not miss. */
function isVersioned(before: Incident, { incident, events }: Changed): boolean {
  const seen = ({ state, severity, assignee, contributors }: Incident) =>
    JSON.stringify([state, severity, assignee, contributors])
  return seen(before) !== seen(incident) || events.some(({ actor }) => actor.type !== 'timer')
}

test('an incident is consistent after any sequence of changes', () => {
  fc.assert(
    fc.property(sequences, (actions) => {
      let newest: Incident | undefined
      let minute = 0
      for (const one of actions) {
        minute += one.wait
        const change = apply(newest, one, minute)
        if (change === undefined) continue
        checkChange(newest, change)
        checkIncident(change.incident)
        newest = announced(change).incident
        if (noticesOf(change).some(({ reason }) => reason === 'opened')) {
          newest = { ...newest, opened_delivered: true }
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('timers that were applied are not due again, and the next one is later', () => {
  fc.assert(
    fc.property(sequences, fc.nat(100), (actions, wait) => {
      let newest: Incident | undefined
      let minute = 0
      for (const one of actions) {
        minute += one.wait
        newest = apply(newest, one, minute)?.incident ?? newest
      }
      if (newest === undefined) return
      const timers = joinTimers([rules[0] ?? loudRule()])
      const now_ms = at(minute + wait)
      const once = applyTimers(newest, timers, now_ms)
      const twice = applyTimers(once.incident, timers, now_ms)
      expect(twice.events).toEqual([])
      expect(twice.incident).toEqual(once.incident)
      if (once.next_ms !== null) expect(once.next_ms).toBeGreaterThan(now_ms)
      expect(twice.next_ms).toBe(once.next_ms)
    }),
    { numRuns: 500 },
  )
})
