import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueSlots } from '../../../../test/support/incidents/due-slots.ts'
import { type Places, placesAfter } from '../../../../test/support/incidents/group-places.ts'
import { durationMs } from '../../../kernel/duration.ts'
import { admitGroups } from '../rules/groups.ts'
import { ruleShape } from '../rules/rule.ts'
import { planSlots } from './slots.ts'

const evaluations = 2_000

const timings = fc.record({
  interval: fc.constantFrom('10s', '45s', '1m', '7m', '15m', '1h'),
  delay: fc.constantFrom('0s', '30s', '1m', '1h'),
  for: fc.constantFrom('0s', '10m', '15m', '16m', '1h'),
  /** The number of the last slot, and the time since then: whole slots and a rest. */
  last: fc.nat(50),
  missed: fc.oneof(fc.nat(5), fc.nat(120)),
  rest_s: fc.nat(3_599),
})

test('planSlots plans the slots that the model lists as due', () => {
  fc.assert(
    fc.property(timings, ({ last, missed, rest_s, ...timing }) => {
      const rule = ruleShape.parse({
        ...{ name: 'rule', severity: 'high', ...timing },
        condition: { signal: 'cost', window: '10m', threshold: 5 },
      })
      const interval_ms = durationMs(rule.interval)
      const slot_ms = last * interval_ms
      const rest_ms = (rest_s * 1000) % interval_ms
      const now_ms = slot_ms + missed * interval_ms + durationMs(rule.delay) + rest_ms
      const plan = planSlots(rule, slot_ms, now_ms)
      const due = dueSlots(rule, { now_ms, slot_ms })
      const evaluated = due.filter(({ is_gap }) => !is_gap)
      const gaps = due.filter(({ is_gap }) => is_gap).map(({ end_ms }) => end_ms)
      expect(plan.first).toEqual(
        evaluated.map(({ end_ms, is_last_attempt }) => ({ end_ms, is_last_attempt })),
      )
      const [from_ms = 0, to_ms = 0] = [gaps.at(0), gaps.at(-1)]
      expect(plan.gap).toEqual(gaps.length === 0 ? null : { from_ms, to_ms })
    }),
    { numRuns: evaluations },
  )
})

const names: string[] = ['a', 'b', 'c', 'd', 'e']

const sightings = fc.array(
  fc.record({
    wait_ms: fc.integer({ min: 1, max: 3 }),
    groups: fc.subarray(names),
    /** Groups with an open incident, if they have a place. */
    open: fc.subarray(names, { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 8 },
)

test('admitGroups gives the places that the model gives', () => {
  fc.assert(
    fc.property(sightings, fc.integer({ min: 1, max: 4 }), (waits, groups_max) => {
      const bounds = { groups_max, forget_after_ms: 3 }
      let at_ms = 0
      let places: Places = { live: [], overflow: 0 }
      const seen_ms = new Map<string, number>()
      const timed = waits.map(({ wait_ms, groups, open }) => {
        at_ms += wait_ms
        return { at_ms, groups, open }
      })
      for (const [index, now] of timed.entries()) {
        for (const group of now.groups) seen_ms.set(group, now.at_ms)
        const known = places.live.filter((group) => {
          const age_ms = now.at_ms - (seen_ms.get(group) ?? 0)
          return age_ms < bounds.forget_after_ms || now.open.includes(group)
        })
        const { admitted, overflow } = admitGroups(known, now.groups, groups_max)
        places = { live: admitted, overflow }
        expect(places).toEqual(placesAfter(timed.slice(0, index + 1), bounds))
      }
    }),
    { numRuns: evaluations },
  )
})
