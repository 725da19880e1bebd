import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { thing } from '../../../test/support/scripted-kube.ts'
import type { KubeMeta, KubeObject } from '../../platform/kube/index.ts'
import { commonSpecFields, projectRefField } from '../common-spec.ts'
import type { Kind } from '../contract.ts'
import { toCachedResource } from './cached-resource.ts'
import { createResourceCache, idTerm, nameTerm } from './resource-cache.ts'

const [project, other] = [
  '0a1b2c3d-0000-4000-8000-0123456789aa',
  '0a1b2c3d-0000-4000-8000-0123456789bb',
]
const boundSpec = z.strictObject({ ...commonSpecFields, projectRef: projectRefField })

const kind: Kind = {
  ...{ kind: 'Thing', plural: 'things', singular: 'thing', short_names: [] },
  spec: z.strictObject({ ...commonSpecFields, days: z.int() }),
  status: z.strictObject({ id: z.string().optional() }),
  ...{ description: '', rules: [], columns: [], example: { metadata: { name: 'a' }, spec: {} } },
  reconcile: () => Promise.reject(new Error('not a part of this test')),
  remove: () => Promise.resolve(),
}

function filled() {
  const changed: string[] = []
  const cache = createResourceCache(kind, { onChange: (key) => changed.push(key) })
  const sink = cache.sink(undefined)
  sink.listing()
  sink.changed(one(5))
  sink.listed(new Set(['uid-a']))
  changed.length = 0
  return { cache, sink, changed }
}

type Change = Partial<KubeMeta> & { status?: unknown; spec?: unknown }

function one(version: number, { status, spec, ...metadata }: Change = {}): KubeObject {
  const made = thing('a', version, { spec: spec ?? { days: 3 }, status: status ?? { id: 'x' } })
  return { ...made, metadata: { ...made.metadata, ...metadata } }
}

describe('reports', () => {
  test.each<[string, Change]>([
    ['another generation', { generation: 2 }],
    ['a deletion', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['an annotation', { annotations: { 'looptrace.dev/reconcile-requested-at': 'now' } }],
    ['another resource of the name', { uid: 'uid-b' }],
  ])('%s', (_what, change) => {
    const { sink, changed } = filled()
    sink.changed(one(6, change))
    expect(changed).toEqual(['team/a'])
  })

  test('a lost status', () => {
    const { sink, changed } = filled()
    const condition = { type: 'Ready', status: 'True' }
    sink.changed(one(6, { status: { conditions: [condition] } }))
    expect(changed).toEqual([])
    sink.changed(one(7, { status: {} }))
    expect(changed).toEqual(['team/a'])
  })

  test('a deleted resource', () => {
    const { cache, sink, changed } = filled()
    sink.deleted(one(6))
    expect([cache.get('team/a'), changed]).toEqual([undefined, ['team/a']])
  })
})

describe('does not report', () => {
  test.each<[string, Change]>([
    ['a status', { status: { id: 'y' } }],
    ['labels', { labels: { a: 'b' } }],
    ['finalizers', { finalizers: ['looptrace.dev/finalizer'] }],
    ['our own annotation', { annotations: { 'looptrace.dev/external-id': 'x' } }],
    [
      'the copy that kubectl keeps',
      { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } },
    ],
  ])('%s', (_what, change) => {
    const { cache, sink, changed } = filled()
    sink.changed(one(6, change))
    expect(changed).toEqual([])
    expect(cache.get('team/a')?.resource_version).toBe('6')
  })
})

test('events of an older version or of a deleted resource of the same name are dropped', () => {
  const { cache, sink, changed } = filled()
  sink.changed(one(4, { generation: 9 }))
  sink.deleted({ ...one(4), metadata: { ...one(4).metadata, uid: 'former' } })
  expect(changed).toEqual([])
  expect(cache.get('team/a')?.meta.generation).toBe(1)
})

test('versions are compared as numbers', () => {
  const { cache, sink } = filled()
  sink.changed(one(10))
  sink.changed(one(9, { generation: 2 }))
  expect(cache.get('team/a')?.resource_version).toBe('10')
})

test('our own writes are cached before their event and not reported; changes that came with them are', () => {
  const { cache, sink, changed } = filled()
  cache.written(one(6, { status: { id: 'y' }, finalizers: ['looptrace.dev/finalizer'] }))
  sink.changed(one(6, { status: { id: 'y' }, finalizers: ['looptrace.dev/finalizer'] }))
  expect(changed).toEqual([])
  cache.written(one(8, { generation: 2 }))
  expect(changed).toEqual(['team/a'])
  sink.deleted(one(9))
  changed.length = 0
  cache.written(one(8))
  expect([cache.size(), changed]).toEqual([0, []])
})

test('a list replaces the cache, even with older versions; missing resources are dropped', () => {
  const { cache, sink, changed } = filled()
  sink.changed(thing('b', 6, { spec: { days: 1 } }))
  changed.length = 0
  sink.listing()
  sink.changed(one(2, { generation: 7 }))
  sink.listed(new Set(['uid-a']))
  expect(cache.keys()).toEqual(['team/a'])
  expect(cache.get('team/a')?.meta.generation).toBe(7)
  expect(changed).toEqual(['team/a', 'team/b'])
})

test('the list of one namespace does not affect another', () => {
  const { cache } = filled()
  const other = cache.sink('other')
  other.listing()
  other.listed(new Set())
  expect(cache.size()).toBe(1)
})

test('peers have their spec with defaults; a resource with an invalid spec is not a peer', () => {
  const { cache, sink } = filled()
  sink.changed(thing('b', 6, { spec: { weeks: 1 } }))
  expect(cache.peers().map(({ meta, spec }) => [meta.name, spec])).toEqual([
    [
      'a',
      {
        className: 'default',
        days: 3,
        suspend: false,
        resyncPeriod: '10m',
        deletionPolicy: 'Delete',
      },
    ],
  ])
  expect(cache.get('team/b')?.spec_fault).toMatch(/spec\.days: .*; spec: .*weeks/)
  expect(cache.notReady()).toEqual(['team/a', 'team/b'])
})

test('resources are found by the project that they name and use, and by namespace', () => {
  const bound: Kind = { ...kind, spec: boundSpec, project: { withdraw: () => Promise.resolve() } }
  const cache = createResourceCache(bound, { onChange: () => undefined })
  const sink = cache.sink(undefined)
  const find = (...terms: string[]) => cache.find(terms).map(({ meta }) => meta.name)
  const put = (name: string, version: number, projectRef: object, projectId?: string) =>
    sink.changed(thing(name, version, { spec: { projectRef }, status: { projectId } }))
  put('a', 1, { name: 'checkout' })
  put('b', 2, { id: project.toUpperCase() })
  expect([find(idTerm(project)), find(nameTerm('checkout'))]).toEqual([['b'], ['a']])
  put('a', 3, { name: 'checkout' }, project)
  expect(find(idTerm(project), nameTerm('checkout'))).toEqual(['b', 'a'])
  expect(cache.inNamespace('team').map(({ meta }) => meta.name)).toEqual(['b', 'a'])
  sink.deleted(thing('a', 4))
  expect(find(idTerm(project), nameTerm('checkout'))).toEqual(['b'])
})

test('the status says which project is used, the annotation only if the status is lost', () => {
  const bound: Kind = { ...kind, spec: boundSpec, project: { withdraw: () => Promise.resolve() } }
  const annotated = (status: object) =>
    toCachedResource(bound, one(1, { annotations: { 'looptrace.dev/project-id': other }, status }))
      .project
  const withdrawal = { since: '2026-01-01T00:00:00.000Z', revokeAt: '2026-01-01T01:00:00.000Z' }
  expect(annotated({ projectId: project, withdrawal })).toEqual({ projectId: project, withdrawal })
  expect(annotated({})).toEqual({ projectId: other })
  expect(annotated({ projectId: 'nonsense' })).toEqual({ projectId: other })
})

test('a status that does not match the schema is ignored', () => {
  const { cache, sink } = filled()
  sink.changed(one(6, { status: { id: 5, other: true } }))
  expect(cache.get('team/a')?.resource?.status).toEqual({ conditions: [] })
})

test.each([
  [undefined, 'default', true],
  ['', 'default', true],
  ['default', 'default', true],
  ['staging', 'default', false],
  ['staging', 'staging', true],
  ['', 'staging', false],
  [7, 'default', true],
])(
  'a resource of class %j is served by an operator of class %s: %s',
  (className, own, isServed) => {
    const changed: string[] = []
    const cache = createResourceCache(kind, {
      onChange: (key) => changed.push(key),
      class_name: own,
    })
    cache.sink(undefined).changed(thing('a', 1, { spec: { days: 3, className } }))
    expect([cache.size() === 1, changed.length === 1]).toEqual([isServed, isServed])
  },
)
