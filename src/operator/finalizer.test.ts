import { expect, test } from 'vitest'
import { type JsonPatchOperation, KubeInvalid, KubeUnavailable } from '../platform/kube/index.ts'
import type { CachedResource } from './cached-resource.ts'
import { addFinalizer, type Patcher, removeFinalizer } from './finalizer.ts'

const ours = 'looptrace.dev/finalizer'
const act = { verb: 'patch', resource: 'things', namespace: 'a', name: 'b' }

function seen(finalizers: string[], version = '1', uid = 'uid'): CachedResource {
  const meta = { uid }
  return { finalizers, resource_version: version, meta } as unknown as CachedResource
}

/** Refuses patches for as long as `fresh` has something newer to read. */
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

test('is put on beside others, if the list is still the one that was seen', async () => {
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

test('is taken off alone, from where it stands', async () => {
  const { one, patches } = patcher()
  await removeFinalizer(seen(['other', ours, 'third']), one)
  expect(patches[0]?.slice(1)).toEqual([
    { op: 'test', path: '/metadata/finalizers/1', value: ours },
    { op: 'remove', path: '/metadata/finalizers/1' },
  ])
})

test('costs nothing when it is as it should be', async () => {
  const { one, patches } = patcher()
  await addFinalizer(seen([ours]), one)
  await removeFinalizer(seen(['other']), one)
  expect(patches).toEqual([])
})

test('is tried again from what is there now', async () => {
  const { one, patches } = patcher(seen(['new', ours], '8'))
  await removeFinalizer(seen([ours], '7'), one)
  expect(patches.map((patch) => patch[1])).toEqual([
    { op: 'test', path: '/metadata/finalizers/0', value: ours },
    { op: 'test', path: '/metadata/finalizers/1', value: ours },
  ])
})

test('is done when somebody else has taken it off meanwhile', async () => {
  const { one, patches } = patcher(seen([], '8'))
  await removeFinalizer(seen([ours], '7'), one)
  expect(patches).toHaveLength(1)
})

test('is not touched on another resource of the same name', async () => {
  const { one } = patcher(seen([ours], '8', 'another'))
  await expect(removeFinalizer(seen([ours], '7'), one)).rejects.toThrow('the test failed')
})

test('is given up after five tries, and at once when the server is not there', async () => {
  const many = Array.from({ length: 9 }, (_, i) => seen([ours], String(i)))
  const { one, patches } = patcher(...many)
  await expect(removeFinalizer(seen([ours]), one)).rejects.toThrow(KubeInvalid)
  expect(patches).toHaveLength(5)
  const gone: Patcher = { ...one, patch: () => Promise.reject(new KubeUnavailable(act, 'gone')) }
  await expect(removeFinalizer(seen([ours]), gone)).rejects.toThrow('gone')
})
