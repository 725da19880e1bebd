import { expect, test } from 'vitest'
import type { Job } from '../../../jobs/index.ts'
import { day_ms } from '../retention-policy/rules.ts'
import { archiveOf } from './archives.ts'

const day = 20_000
const iso = (at: number) => new Date(at * day_ms).toISOString()

function jobOf(from: string, to: string, more: Partial<Job> = {}): Job {
  return {
    ...{ id: 'job', project_id: 'p', kind: 'archive', state: 'succeeded', attempt: 1 },
    ...{ progress: null, error: null, exclusive_key: null, once_key: null },
    ...{ lease_owner: null, lease_until: null, requested_by: 'schedule' },
    ...{ due_at: iso(day + 9), created_at: iso(day + 9), started_at: null, ended_at: null },
    params: { from, to },
    result: { verified: true },
    ...more,
  }
}
const succeeded = (...jobs: Job[]) => archiveOf({ active: [], succeeded: jobs }, day)

test('a verified archive of the whole day counts, up to shortly before its request', () => {
  const archived = { state: 'archived', stored_before_ms: (day + 9) * day_ms - 600_000 }
  expect(succeeded(jobOf(iso(day), iso(day + 1)))).toEqual(archived)
  expect(succeeded(jobOf(iso(day - 3), iso(day + 3)))).toEqual(archived)
  const said = { verified: true, stored_before: iso(day + 12) }
  expect(succeeded(jobOf(iso(day), iso(day + 1), { result: said }))).toEqual({
    ...{ state: 'archived', stored_before_ms: (day + 12) * day_ms },
  })
  const later = jobOf(iso(day), iso(day + 1), { created_at: iso(day + 10) })
  expect(succeeded(jobOf(iso(day), iso(day + 1)), later)).toEqual({
    ...{ state: 'archived', stored_before_ms: (day + 10) * day_ms - 600_000 },
  })
})

test.each([
  ['a part of the day', jobOf(iso(day), iso(day + 0.5))],
  ['another day', jobOf(iso(day + 1), iso(day + 2))],
  [
    'some rows only',
    jobOf(iso(day), iso(day + 1), { params: { from: iso(day), to: iso(day + 1), where: {} } }),
  ],
  [
    'some kinds only',
    jobOf(iso(day), iso(day + 1), {
      params: { from: iso(day), to: iso(day + 1), kinds: ['observations'] },
    }),
  ],
  ['not verified', jobOf(iso(day), iso(day + 1), { result: { verified: false } })],
  ['without a result', jobOf(iso(day), iso(day + 1), { result: null })],
  ['an invalid window', jobOf('yesterday', 'today')],
])('one of %s does not', (_, job) => {
  expect(succeeded(job)).toEqual({ state: 'missing' })
})

test('a running archive of any part of the day blocks changes, also with an unreadable window', () => {
  const running = (from: string, to: string) =>
    archiveOf({ active: [jobOf(from, to)], succeeded: [jobOf(iso(day), iso(day + 1))] }, day).state
  expect(running(iso(day + 0.9), iso(day + 5))).toBe('running')
  expect(running(iso(day - 5), iso(day + 0.1))).toBe('running')
  expect(running('?', '?')).toBe('running')
  expect(running(iso(day + 1), iso(day + 5))).toBe('archived')
  expect(running(iso(day - 5), iso(day))).toBe('archived')
})
