import { expect, test } from 'vitest'
import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import {
  draftOf,
  explainTwice,
  matchersLike,
  newDraft,
  readMatchers,
  requestOf,
  writeMatchers,
} from './draft.ts'

const berlin = 'Europe/Berlin'

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

test('a time in the second of two equal hours stays there while it is edited', () => {
  const second = '2026-10-25T01:30:20.000Z'
  const twice = { ...stored, windows: [{ from: second, to: '2026-10-25T02:30:00.000Z' }] }
  const draft = draftOf(twice, berlin)
  expect(requestOf(draft, berlin).windows).toEqual(twice.windows)
  expect(explainTwice('2026-10-25T02:30', berlin, draft)).toContain('GMT+1')
  const typed = { ...draft, instants: [] }
  expect(requestOf(typed, berlin).windows?.[0]?.from).toBe('2026-10-25T00:30:00.000Z')
  expect(explainTwice('2026-10-25T02:30', berlin, typed)).toContain('GMT+2')
  expect(explainTwice('2026-10-25T03:30', berlin, typed)).toBeUndefined()
})

test('a new draft of the first of two equal hours ends an hour later', () => {
  const draft = newDraft(Date.parse('2026-10-25T00:40:00Z'), berlin, [])
  expect(requestOf(draft, berlin).expires_at).toBe('2026-10-25T01:40:00.000Z')
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
