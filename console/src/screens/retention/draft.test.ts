import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RetentionPolicy } from '../../api/schema.gen.d.ts'
import { draftOf, requestOf } from './draft.ts'

const days = fc.option(fc.integer({ min: 1, max: 36_500 }))
const policy = fc.record({
  days: fc.record({ content: days, observations: days, events: days, traces: days }),
  environments: fc.uniqueArray(
    fc.record({
      environment: fc.stringMatching(/^[a-z]{1,8}$/),
      days: fc.record(
        { content: days, observations: days, events: days, traces: days },
        { requiredKeys: [] },
      ),
    }),
    { selector: ({ environment }) => environment, maxLength: 4 },
  ),
  archive_before_delete: fc.boolean(),
  archive: fc.option(
    fc.record({
      enabled: fc.boolean(),
      after_days: fc.integer({ min: 1, max: 99 }),
      schedule: fc.constant('0 4 * * *'),
    }),
  ),
}) as unknown as fc.Arbitrary<RetentionPolicy>

const withoutEvents = ({ events: _events, ...days }: RetentionPolicy['days']) => days

test('a policy that is opened and saved unchanged keeps its meaning', () => {
  fc.assert(
    fc.property(policy, (stored) => {
      const { request, faults } = requestOf(draftOf(stored))
      expect(faults).toEqual([])
      expect(request.environments).toEqual(stored.environments)
      expect(request.archive).toEqual(stored.archive)
      expect(request.archive_before_delete).toBe(stored.archive_before_delete)
      const { observations = null, content = null, traces = null } = request.days ?? {}
      const events = request.days?.events ?? observations
      expect({ content, observations, traces }).toEqual(withoutEvents(stored.days))
      expect(events).toBe(stored.days.events ?? observations)
    }),
  )
})

test('each unreadable number is a fault at its field', () => {
  fc.assert(
    fc.property(fc.constantFrom('0', '-1', '1.5', 'x', '36501', '1e9', 'NaN'), (text) => {
      const empty = { content: '', observations: '', events: '', traces: '' }
      const environments = [
        { key: 0, environment: 'dev', days: { ...empty, traces: text } },
        { key: 1, environment: 'dev', days: empty },
        { key: 2, environment: ' ', days: empty },
      ]
      const draft = {
        days: { ...empty, content: text },
        environments,
        archiveBeforeDelete: false,
        archive: null,
      }
      expect(
        requestOf(draft)
          .faults.map(({ pointer }) => pointer)
          .sort(),
      ).toEqual([
        '/days/content',
        '/environments/0/days/traces',
        '/environments/1/environment',
        '/environments/2/environment',
      ])
    }),
  )
})
