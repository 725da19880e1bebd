import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import {
  draftOf,
  matchersLike,
  newDraft,
  readMatchers,
  requestOf,
  toInstant,
  toLocal,
  writeMatchers,
} from './draft.ts'

const berlin = 'Europe/Berlin'

test('a whole minute survives the way to a local time and back, in each zone', () => {
  const zones = fc.constantFrom('UTC', berlin, 'America/St_Johns', 'Asia/Kathmandu')
  const minutes = fc.integer({ min: Date.UTC(2026, 0) / 60_000, max: Date.UTC(2028, 0) / 60_000 })
  fc.assert(
    fc.property(minutes, zones, (minute, zone) => {
      const instant = new Date(minute * 60_000).toISOString()
      const back = toInstant(toLocal(instant, zone), zone)
      // Only the hour that occurs twice is ambiguous: the first one is taken.
      expect(toLocal(back, zone)).toBe(toLocal(instant, zone))
      expect(Date.parse(instant) - Date.parse(back)).toBeOneOf([0, 3_600_000])
    }),
    { numRuns: 500 },
  )
})

test('a local time that summer time skips is an hour later', () => {
  expect(toInstant('2026-03-29T02:30', berlin)).toBe('2026-03-29T01:30:00.000Z')
})

test('of a local time that occurs twice, the first counts', () => {
  expect(toInstant('2026-10-25T02:30', berlin)).toBe('2026-10-25T00:30:00.000Z')
})

test('an unreadable time reaches the API as it is', () => {
  expect(toInstant('soon', berlin)).toBe('soon')
})

const stored: IncidentSuppression = {
  suppression_id: '0199f4de-0000-7000-8000-000000000001',
  matchers: [
    { field: 'rule', op: 'in', value: ['slow', 'loops'] },
    { field: 'severity', op: 'lte', value: 'high' },
  ],
  windows: [{ from: '2026-11-29T01:00:00.000Z', to: '2026-11-29T03:00:00.000Z' }],
  recurrence: { cron: '0 2 * * 0', duration: '90m', time_zone: berlin },
  expires_at: '2026-12-31T23:00:00.000Z',
  comment: 'weekly',
  ...{ state: 'active', active: true, next_start: null, next_windows: [], muted_incidents: 0 },
  ...{ warnings: [], version: 1, created_at: '', created_by: '', updated_at: '', updated_by: '' },
}

test('a stored suppression survives editing without a change', () => {
  const { matchers, windows, recurrence, expires_at, comment } = stored
  expect(requestOf(draftOf(stored, berlin), berlin)).toEqual({
    ...{ matchers, windows, recurrence, expires_at, comment },
  })
})

test('a draft until an end has neither windows nor a recurrence', () => {
  const draft = { ...newDraft(Date.UTC(2026, 10, 29), 'UTC', []), comment: 'deploy' }
  expect(requestOf(draft, 'UTC')).toEqual({
    ...{ matchers: [{ field: 'rule', op: 'eq', value: '' }], windows: [], comment: 'deploy' },
    expires_at: '2026-11-29T01:00:00.000Z',
  })
})

test('matchers of a URL are read back; others are left out', () => {
  const like = matchersLike({ rule: 'slow', group: { model: 'gpt, "large"' } })
  expect(readMatchers(writeMatchers(like))).toEqual(like)
  expect(readMatchers('[["rule","like","x"],3,["severity","gte","high"]]')).toEqual([
    { field: 'severity', op: 'gte', value: 'high' },
  ])
  expect(readMatchers('{')).toEqual([])
})
