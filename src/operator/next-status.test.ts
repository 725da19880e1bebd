import { expect, test } from 'vitest'
import type { ConditionDraft } from './contract.ts'
import { nextStatus } from './next-status.ts'

const now_ms = Date.UTC(2026, 0, 1)
const later_ms = now_ms + 60_500
const ready = (status: ConditionDraft['status'], reason: string, message = ''): ConditionDraft => ({
  ...{ type: 'Ready', status, reason, message },
})

const first = nextStatus(
  {},
  { conditions: [ready('True', 'Synced')], own: { days: 3 }, synced: true },
  { generation: 1, now_ms },
)

test('has the time since when a condition holds, and the generation it was found for', () => {
  expect(first).toEqual({
    days: 3,
    lastSyncTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
    conditions: [
      {
        ...{ type: 'Ready', status: 'True', reason: 'Synced', message: '' },
        ...{ lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 },
      },
    ],
  })
})

test('that says the same again is not written', () => {
  const draft = { conditions: [ready('True', 'Synced')], own: { days: 3 }, synced: true }
  expect(nextStatus(first ?? {}, draft, { generation: 1, now_ms: later_ms })).toBeUndefined()
  const stored = { ...first, ends: null }
  expect(nextStatus(stored, draft, { generation: 1, now_ms: later_ms })).toBeUndefined()
})

test.each([
  ['a message', ready('True', 'Synced', 'other'), { days: 3 }, 1],
  ['a value of the kind', ready('True', 'Synced'), { days: 4 }, 1],
  ['the generation', ready('True', 'Synced'), { days: 3 }, 2],
])(
  '%s that is new is written, and keeps the time of the transition',
  (_what, condition, own, g) => {
    const draft = { conditions: [condition], own, synced: true }
    const next = nextStatus(first ?? {}, draft, { generation: g, now_ms: later_ms })
    expect(next?.conditions[0]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z')
    expect(next?.['lastSyncTime']).toBe('2026-01-01T00:01:00Z')
    expect(next?.observedGeneration).toBe(g)
  },
)

test('a failure has a new time, and keeps what was last read', () => {
  const draft = { conditions: [ready('False', 'ServiceUnavailable', 'no answer')], synced: false }
  const next = nextStatus(first ?? {}, draft, { generation: 1, now_ms: later_ms })
  expect(next).toMatchObject({ days: 3, lastSyncTime: '2026-01-01T00:00:00Z' })
  expect(next?.conditions[0]).toMatchObject({
    status: 'False',
    lastTransitionTime: '2026-01-01T00:01:00Z',
  })
})

test('conditions stand in the order of their types, those of before among them', () => {
  const archived: ConditionDraft = { ...ready('True', 'Done'), type: 'Archived' }
  const draft = { conditions: [ready('True', 'Synced'), archived], own: {}, synced: true }
  const both = nextStatus({}, draft, { generation: 1, now_ms })
  expect(both?.conditions.map(({ type }) => type)).toEqual(['Archived', 'Ready'])
  const failed = { conditions: [ready('False', 'Conflict')], synced: false }
  const after = nextStatus(both ?? {}, failed, { generation: 1, now_ms })
  expect(after?.conditions.map(({ type }) => type)).toEqual(['Archived', 'Ready'])
  const turned = { ...both, conditions: both?.conditions.toReversed() }
  expect(nextStatus(turned, draft, { generation: 1, now_ms })).toBeUndefined()
})

test('a message is cut where the API server would refuse it', () => {
  const draft = { conditions: [ready('False', 'Bad', 'x'.repeat(40_000))], synced: false }
  const next = nextStatus({}, draft, { generation: 1, now_ms })
  expect(next?.conditions[0]?.message).toHaveLength(4_096)
})
