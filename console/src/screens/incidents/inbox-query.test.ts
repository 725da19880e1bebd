import { expect, test } from 'vitest'
import { inboxQuery } from './inbox-query.ts'

const now_ms = Date.parse('2026-11-29T12:00:30Z')
const sorted = { sort: 'opened_at', order: 'desc', shadow: false }

test('without a choice: unresolved incidents of live rules, however old', () => {
  expect(inboxQuery({ from: '-1h' }, 'me@example.com', now_ms)).toEqual({
    ...sorted,
    state: 'open,acknowledged',
  })
})

test('resolved and all incidents are those of the range', () => {
  expect(inboxQuery({ state: 'resolved', from: '-1h' }, undefined, now_ms)).toEqual({
    ...sorted,
    ...{ state: 'resolved', opened_from: '2026-11-29T11:00:00.000Z' },
  })
  expect(inboxQuery({ state: 'all', to: '2026-11-29T11:30:00Z' }, undefined, now_ms)).toEqual({
    ...sorted,
    ...{ opened_from: '2026-11-22T12:00:00.000Z', opened_to: '2026-11-29T11:30:00.000Z' },
  })
})

test('“mine” selects incidents of the person, “nobody” those without an assignee', () => {
  expect(inboxQuery({ owner: 'mine' }, 'me@example.com', now_ms).assignee).toBe('me@example.com')
  expect(inboxQuery({ owner: 'none' }, 'me@example.com', now_ms).assignee).toBe('none')
})

test('values of a URL that the API would refuse are left out', () => {
  const query = inboxQuery({ severity: 'bad', state: 'closed', sort: 'title' }, undefined, now_ms)
  expect(query).toEqual({ ...sorted, state: 'open,acknowledged' })
})

test('filters of severity, rule, text and muting are passed on', () => {
  const search = { severity: 'high', rule: 'loops', q: 'slow', muted: 'no', shadow: 'yes' }
  expect(inboxQuery(search, undefined, now_ms)).toEqual({
    ...{ sort: 'opened_at', order: 'desc', state: 'open,acknowledged' },
    ...{ severity_min: 'high', rule: 'loops', q: 'slow', suppressed: false },
  })
})
