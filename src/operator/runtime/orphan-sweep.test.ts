import { expect, test } from 'vitest'
import { noteKind } from '../../../test/support/kube/note-kind.ts'
import { manualTiming } from '../../../test/support/manual-timing.ts'
import type { ManagedBy } from '../../model/managed-by.ts'
import {
  type KubeClient,
  KubeForbidden,
  KubeNotFound,
  type KubeObject,
  KubeUnavailable,
} from '../../platform/kube/index.ts'
import { createLogger } from '../../platform/telemetry/index.ts'
import type { OwnedObject } from '../contract.ts'
import { ServiceUnavailable } from '../service/service-client.ts'
import type { GrantDecision } from '../tenancy/decide-grant.ts'
import type { Grant } from '../tenancy/grant.ts'
import { toCachedResource } from './cached-resource.ts'
import { createOrphanSweep } from './orphan-sweep.ts'

const minute_ms = 60_000
const grace_ms = 60 * minute_ms
const installation = { id: '0199aaaa-0000-7000-8000-00000000000a', cluster: 'cluster-a' }
const project = '0199aaaa-0000-7000-8000-00000000000b'
const { kind } = noteKind
const act = { verb: 'get', resource: 'any', namespace: 'team', name: 'robot' }

/** An account that `team/robot` declares. */
const owned = (owner: Partial<ManagedBy> = {}, id = 'account-1'): OwnedObject => ({
  ...{ id, project_id: project },
  owner: {
    ...{ kind, namespace: 'team', name: 'robot', uid: 'uid-1' },
    ...{ installation: installation.id, cluster: installation.cluster },
    ...owner,
  },
})
const resource = (uid: string, spec: object = {}): KubeObject => ({
  metadata: {
    ...{ name: 'robot', namespace: 'team', uid, resourceVersion: '1' },
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { text: 'hello', ...spec },
})

const { metadata, spec } = resource('uid-1')
const deletionTimestamp = '2026-01-01T00:00:00Z'
/** Being deleted: our finalizer was removed, and another one keeps it. */
const ending = { spec, metadata: { ...metadata, deletionTimestamp, finalizers: ['x.io/never'] } }
const removing = { spec, metadata: { ...ending.metadata, finalizers: ['looptrace.dev/finalizer'] } }

/** The answers of the cluster and the service; a test changes them over time. */
type World = {
  owned: readonly OwnedObject[] | Error
  /** The resource `team/robot` in the API server. */
  stored: KubeObject | Error
  /** The same in the cache of the operator's class. */
  cached: KubeObject | undefined
  list: Error | undefined
  cluster: string | Error
  decision: GrantDecision
  namespaces: readonly string[]
  mayWrite: boolean
  withdrawFails: string | undefined
}

function sweepOf(start: Partial<World> = {}) {
  const world: World = {
    ...{ owned: [owned()], cached: undefined, list: undefined, cluster: installation.cluster },
    ...{ namespaces: [], mayWrite: true, withdrawFails: undefined },
    stored: new KubeNotFound(act, 'not found'),
    decision: { refused: 'NotGranted', message: '' },
    ...start,
  }
  const timing = manualTiming()
  const revoked: string[] = []
  const events: string[] = []
  const give = async <T>(answer: T | Error): Promise<T> => {
    if (answer instanceof Error) throw answer
    return answer
  }
  const kube = {
    read: async ({ plural }: { plural: string }): Promise<KubeObject> => {
      if (plural !== 'namespaces') return give(world.stored)
      return { metadata: { uid: await give(world.cluster) } } as KubeObject
    },
    list: async () => {
      if (world.list !== undefined) throw world.list
      return { items: [], resource_version: '1', next: undefined }
    },
  } as Partial<KubeClient> as KubeClient
  const sweep = createOrphanSweep({
    kind: {
      ...noteKind,
      project: {
        withdraw: async () => undefined,
        listOwned: () => give(world.owned),
      },
    },
    find: () => world.cached && toCachedResource(noteKind, world.cached),
    access: { decide: () => world.decision },
    ...{ kube, service: { request: () => Promise.reject(new Error('not a part of this test')) } },
    installation: () => installation,
    timing,
    logger: createLogger({ role: 'test', level: 'silent' }),
    settings: {
      get namespaces() {
        return world.namespaces
      },
      ...{ class_name: 'default', orphan_grace_ms: grace_ms },
    },
    events: { record: async (_about, drafts) => void events.push(...drafts.map((e) => e.reason)) },
    whenAllowed: async () => {
      while (!world.mayWrite) await timing.sleep(1_000)
    },
    withdraw: async ({ id }) => {
      if (world.withdrawFails === id) throw new ServiceUnavailable('down')
      revoked.push(id)
      world.owned = Array.isArray(world.owned) ? world.owned.filter((one) => one.id !== id) : []
    },
    onRevoked: () => undefined,
  })
  const end = new AbortController()
  void sweep.run(end.signal)
  return { world, timing, revoked, events, sweep, [Symbol.dispose]: () => end.abort() }
}

test('an object whose resource is gone is announced, and revoked after the grace, not before', async () => {
  using on = sweepOf()
  await on.timing.advance(0)
  expect([on.events, on.sweep.waiting()]).toEqual([['Orphaned'], 1])
  await on.timing.advance(grace_ms - 1)
  expect(on.revoked).toEqual([])
  await on.timing.advance(11 * minute_ms)
  expect([on.revoked, on.events]).toEqual([['account-1'], ['Orphaned', 'OrphanRevoked']])
  expect(on.sweep.waiting()).toBe(0)
  await on.timing.advance(3 * grace_ms)
  expect(on.revoked).toHaveLength(1)
})

test.each<[string, Partial<World>]>([
  ['the API server answers 500 for the resource', { stored: new KubeUnavailable(act, '500') }],
  ['RBAC no longer allows to read it', { stored: new KubeForbidden(act, '403') }],
  ['RBAC no longer allows to list the kind', { list: new KubeForbidden(act, '403') }],
  ['the kind is not served', { list: new KubeNotFound(act, '404') }],
  ['the API server has other data, as with an empty etcd', { cluster: 'cluster-b' }],
  ['the cluster cannot be identified', { cluster: new KubeForbidden(act, '403') }],
  ['the service does not answer', { owned: new ServiceUnavailable('down') }],
  ['the cache is empty and the resource exists', { stored: resource('uid-1') }],
  ['the resource has another class', { stored: resource('uid-1', { className: 'other' }) }],
  ['the resource is being removed', { stored: removing, cached: removing }],
  ['a new resource is not in the cache yet', { stored: resource('uid-2') }],
  ['another installation owns it', { owned: [owned({ installation: project })] }],
  [
    'an earlier version made it',
    {
      owned: [
        {
          ...owned(),
          owner: { ...owned().owner, installation: undefined } as unknown as ManagedBy,
        },
      ],
    },
  ],
  ['another kind owns it', { owned: [owned({ kind: 'RetentionPolicy' })] }],
  ['its namespace is not watched', { namespaces: ['other'] }],
  ['this process may not write', { mayWrite: false }],
  [
    'the resource was restored with another uid and may use the project',
    {
      ...{ stored: resource('uid-2'), cached: resource('uid-2', { suspend: true }) },
      decision: { allowed: { grant: {} as Grant, project_id: project } },
    },
  ],
  [
    'grants are not known yet',
    {
      ...{ stored: resource('uid-2'), cached: resource('uid-2') },
      decision: { unknown: 'labels' },
    },
  ],
])('nothing is revoked while %s', async (_what, world) => {
  using on = sweepOf(world)
  await on.timing.advance(3 * grace_ms)
  expect([on.revoked, on.events]).toEqual([[], []])
})

test.each<[string, Partial<World>]>([
  ['a resource of the name that is not granted', { cached: resource('uid-2') }],
  [
    'a resource of the name in another project',
    {
      cached: resource('uid-2'),
      decision: { allowed: { grant: {} as Grant, project_id: installation.id } },
    },
  ],
  ['a resource of the name and another class', { stored: resource('uid-2', { className: 'x' }) }],
  ['a foreign finalizer of a deleted resource without ours', { stored: ending, cached: ending }],
])('%s does not keep the keys of one that is gone', async (_what, world) => {
  using on = sweepOf({ stored: resource('uid-2'), ...world })
  await on.timing.advance(grace_ms + 11 * minute_ms)
  expect(on.revoked).toEqual(['account-1'])
})

test('a resource that returns within the grace ends it; a failed search neither ends nor shortens it', async () => {
  using on = sweepOf()
  const gone = on.world.stored
  await on.timing.advance(50 * minute_ms)
  on.world.stored = resource('uid-1')
  await on.timing.advance(10 * minute_ms)
  on.world.stored = gone
  await on.timing.advance(50 * minute_ms)
  expect([on.revoked, on.events]).toEqual([[], ['Orphaned', 'Orphaned']])
  on.world.stored = new KubeUnavailable(act, '500')
  await on.timing.advance(grace_ms)
  expect(on.revoked).toEqual([])
  on.world.stored = gone
  await on.timing.advance(10 * minute_ms)
  expect(on.revoked).toEqual(['account-1'])
})

test('an orphan that cannot be revoked keeps no other from being revoked', async () => {
  using on = sweepOf({ withdrawFails: 'account-1', owned: [owned(), owned({}, 'account-2')] })
  await on.timing.advance(grace_ms + 11 * minute_ms)
  expect(on.revoked).toEqual(['account-2'])
  on.world.withdrawFails = undefined
  await on.timing.advance(10 * minute_ms)
  expect(on.revoked).toEqual(['account-2', 'account-1'])
})
