import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noteKind } from '../../../test/support/kube/note-kind.ts'
import {
  type JsonPatchOperation,
  KubeInvalid,
  type KubeObject,
  KubeUnavailable,
} from '../../platform/kube/index.ts'
import { type CachedResource, toCachedResource } from './cached-resource.ts'
import { addFinalizer, type Patcher, removeFinalizer } from './resource-writer.ts'

const ours = 'looptrace.dev/finalizer'
const act = { verb: 'patch', resource: 'things', namespace: 'a', name: 'b' }

function seen(finalizers: string[], version = '1', uid = 'uid'): CachedResource {
  const meta = { uid, annotations: {} }
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

/** Names of annotations; the cache leaves out the first. */
const names = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'looptrace.dev/external-id',
  'looptrace.dev/project-id',
  'example.com/a',
]

test('a claim adds the finalizer and the ids in one patch, and removes nothing of others', async () => {
  const ids = fc.record({ external_id: fc.string(), project_id: fc.string() }, { requiredKeys: [] })
  const resource = fc.record(
    {
      annotations: fc.dictionary(fc.constantFrom(...names), fc.string(), { minKeys: 1 }),
      finalizers: fc.uniqueArray(fc.constantFrom('other', ours, 'foregroundDeletion')),
    },
    { requiredKeys: [] },
  )
  const claim = fc.asyncProperty(resource, ids, async (metadata, { external_id, project_id }) => {
    const object = objectWith(metadata)
    const { one, patches } = patcher()
    await addFinalizer(toCachedResource(noteKind, object), one, {
      ...(external_id !== undefined && { external_id }),
      ...(project_id !== undefined && { project_id }),
    })
    const { annotations = {}, finalizers = [] } = metadata
    const wanted = {
      ...annotations,
      ...(external_id !== undefined && { 'looptrace.dev/external-id': external_id }),
      ...(project_id !== undefined && { 'looptrace.dev/project-id': project_id }),
    }
    expect(patches.length).toBeLessThanOrEqual(1)
    const after = patches.reduce(applyPatch, object).metadata
    expect(after.annotations ?? {}).toEqual(wanted)
    expect(after.finalizers).toEqual([...new Set([...finalizers, ours])])
  })
  await fc.assert(claim)
})

function objectWith(metadata: Partial<KubeObject['metadata']>): KubeObject {
  const own = { name: 'a', namespace: 'b', uid: 'uid', resourceVersion: '1' }
  return { metadata: { ...own, creationTimestamp: '', ...metadata } }
}

/** Applies a JSON patch of `test` and `add`, as the API server does. */
function applyPatch(object: KubeObject, operations: readonly JsonPatchOperation[]): KubeObject {
  const next = structuredClone(object)
  for (const operation of operations) {
    const parts = operation.path.split('/').slice(1)
    const keys = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop() ?? ''
    const parent = keys.reduce<Record<string, unknown>>(
      (at, key) => at[key] as Record<string, unknown>,
      next,
    )
    if (operation.op === 'test') expect(parent[last]).toEqual(operation.value)
    if (operation.op === 'add') parent[last] = operation.value
  }
  return next
}
