import { expect, test } from 'vitest'
import { type JsonPatchOperation, KubeInvalid, KubeUnavailable } from '../../platform/kube/index.ts'
import type { ConditionDraft } from '../contract.ts'
import type { CachedResource } from './cached-resource.ts'
import { addFinalizer, nextStatus, type Patcher, removeFinalizer } from './resource-writer.ts'

const ours = 'looptrace.dev/finalizer'
const act = { verb: 'patch', resource: 'things', namespace: 'a', name: 'b' }

function seen(finalizers: string[], version = '1', uid = 'uid'): CachedResource {
  const meta = { uid }
  return { finalizers, resource_version: version, meta } as unknown as CachedResource
}

/** Creates a patcher that refuses patches while `fresh` has newer versions to read. */
function patcher(...fresh: CachedResource[]) {
  const patches: (readonly JsonPatchOperation[])[] = []
  const one: Patcher = {
    patch: async (operations) => {
      patches.push(operations)
      if (fresh.length > 0) throw new KubeInvalid(act, 'the test failed')
      return seen([])
    },
    reread: async () => fresh.shift() ?? seen([]),
  }
  return { one, patches }
}

test('a finalizer is added to the others if the list is unchanged', async () => {
  const { one, patches } = patcher()
  await addFinalizer(seen(['other'], '7'), one)
  expect(patches).toEqual([
    [
      { op: 'test', path: '/metadata/uid', value: 'uid' },
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/metadata/finalizers', value: ['other', ours] },
    ],
  ])
})

test('only our finalizer is removed, by its index', async () => {
  const { one, patches } = patcher()
  await removeFinalizer(seen(['other', ours, 'third']), one)
  expect(patches[0]?.slice(1)).toEqual([
    { op: 'test', path: '/metadata/finalizers/1', value: ours },
    { op: 'remove', path: '/metadata/finalizers/1' },
  ])
})

test('no patch is sent when the finalizer is already as wanted', async () => {
  const { one, patches } = patcher()
  await addFinalizer(seen([ours]), one)
  await removeFinalizer(seen(['other']), one)
  expect(patches).toEqual([])
})

test('a refused patch is retried from the current list', async () => {
  const { one, patches } = patcher(seen(['new', ours], '8'))
  await removeFinalizer(seen([ours], '7'), one)
  expect(patches.map((patch) => patch[1])).toEqual([
    { op: 'test', path: '/metadata/finalizers/0', value: ours },
    { op: 'test', path: '/metadata/finalizers/1', value: ours },
  ])
})

test('removal ends when the finalizer is already gone', async () => {
  const { one, patches } = patcher(seen([], '8'))
  await removeFinalizer(seen([ours], '7'), one)
  expect(patches).toHaveLength(1)
})

test('a new resource of the same name is not patched', async () => {
  const { one } = patcher(seen([ours], '8', 'another'))
  await expect(removeFinalizer(seen([ours], '7'), one)).rejects.toThrow('the test failed')
})

test('patching gives up after five attempts, and at once when the server is unavailable', async () => {
  const many = Array.from({ length: 9 }, (_, i) => seen([ours], String(i)))
  const { one, patches } = patcher(...many)
  await expect(removeFinalizer(seen([ours]), one)).rejects.toThrow(KubeInvalid)
  expect(patches).toHaveLength(5)
  const gone: Patcher = { ...one, patch: () => Promise.reject(new KubeUnavailable(act, 'gone')) }
  await expect(removeFinalizer(seen([ours]), gone)).rejects.toThrow('gone')
})

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
