import { expect, test } from 'vitest'
import type { ConditionDraft } from '../contract.ts'
import { endedProgress, nextStatus } from './next-status.ts'

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

test('a condition has its transition time and its generation', () => {
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

test('an unchanged status is not written', () => {
  const draft = { conditions: [ready('True', 'Synced')], own: { days: 3 }, synced: true }
  expect(nextStatus(first ?? {}, draft, { generation: 1, now_ms: later_ms })).toBeUndefined()
  const stored = { ...first, ends: null }
  expect(nextStatus(stored, draft, { generation: 1, now_ms: later_ms })).toBeUndefined()
})

test.each([
  ['a message', ready('True', 'Synced', 'other'), { days: 3 }, 1],
  ['a value of the kind', ready('True', 'Synced'), { days: 4 }, 1],
  ['the generation', ready('True', 'Synced'), { days: 3 }, 2],
])('a change of %s is written and keeps the transition time', (_what, condition, own, g) => {
  const draft = { conditions: [condition], own, synced: true }
  const next = nextStatus(first ?? {}, draft, { generation: g, now_ms: later_ms })
  expect(next?.conditions[0]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z')
  expect(next?.['lastSyncTime']).toBe('2026-01-01T00:01:00Z')
  expect(next?.observedGeneration).toBe(g)
})

test('a failure has a new transition time and keeps the last synced fields', () => {
  const draft = { conditions: [ready('False', 'ServiceUnavailable', 'no answer')], synced: false }
  const next = nextStatus(first ?? {}, draft, { generation: 1, now_ms: later_ms })
  expect(next).toMatchObject({ days: 3, lastSyncTime: '2026-01-01T00:00:00Z' })
  expect(next?.conditions[0]).toMatchObject({
    status: 'False',
    lastTransitionTime: '2026-01-01T00:01:00Z',
  })
})

test('conditions are sorted by type, including earlier ones', () => {
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

test('a message is cut below the limit of the API server', () => {
  const draft = { conditions: [ready('False', 'Bad', 'x'.repeat(40_000))], synced: false }
  const next = nextStatus({}, draft, { generation: 1, now_ms })
  expect(next?.conditions[0]?.message).toHaveLength(4_096)
})

const stalled = (status: ConditionDraft['status']): ConditionDraft => ({
  ...{ type: 'Stalled', status, reason: 'Conflict', message: '' },
})

test('a condition of kstatus ends with the next Ready, and not before', () => {
  const at = { generation: 1, now_ms }
  const conflict = [ready('False', 'Conflict'), stalled('True')]
  const before = nextStatus({}, { conditions: conflict, synced: false }, at) ?? {}
  const noted = { conditions: [], own: { noted: true }, synced: false }
  const typesIn = (status: ReturnType<typeof nextStatus>) =>
    status?.conditions.map(({ type }) => type)
  expect(typesIn(nextStatus(before, noted, at))).toEqual(['Ready', 'Stalled'])
  const synced = { conditions: [ready('True', 'Synced')], synced: true }
  expect(typesIn(nextStatus(before, synced, at))).toEqual(['Ready'])
})

test('a condition of kstatus that the write did not remove is set to False, and stays so', () => {
  const at = { generation: 1, now_ms }
  const drafts = [ready('True', 'Synced')]
  const left = nextStatus({}, { conditions: [...drafts, stalled('True')], synced: true }, at)
  const ended = endedProgress(left?.conditions ?? [], drafts)
  expect(ended).toMatchObject([{ type: 'Stalled', status: 'False', reason: 'Synced' }])
  const written = nextStatus(left ?? {}, { conditions: [...drafts, ...ended], synced: true }, at)
  expect(endedProgress(written?.conditions ?? [], drafts)).toEqual([])
  expect(nextStatus(written ?? {}, { conditions: drafts, synced: true }, at)).toBeUndefined()
  expect(endedProgress(left?.conditions ?? [], [])).toEqual([])
})
