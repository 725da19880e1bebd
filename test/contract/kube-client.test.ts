import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/kernel/time.ts'
import {
  type KubeClient,
  KubeConflict,
  KubeExpired,
  KubeForbidden,
  KubeInvalid,
  KubeNotFound,
  KubeUnavailable,
  openKube,
  ownedSecrets,
  secretResource,
  type WatchEvent,
} from '../../src/platform/kube/index.ts'
import { type ApiServer, apiServerStartTimeoutMs, nobody } from '../support/kube/api-server.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'

let server: ApiServer
let kube: KubeClient

/** A client over a kubeconfig, which is read from the environment. */
async function clientOf(user?: string, url?: string): Promise<KubeClient> {
  const before = process.env['KUBECONFIG']
  process.env['KUBECONFIG'] = await server.kubeconfig(user, url)
  try {
    return openKube({ request_timeout_ms: 5_000, clock: systemClock })
  } finally {
    if (before === undefined) delete process.env['KUBECONFIG']
    else process.env['KUBECONFIG'] = before
  }
}

beforeAll(async () => {
  server = await sharedApiServer()
  kube = await clientOf()
}, apiServerStartTimeoutMs)

afterAll(() => server?.[Symbol.asyncDispose]())

const configMaps = { group: '', version: 'v1', plural: 'configmaps' }

function configMap(namespace: string, name: string, data: Record<string, string> = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}

describe('objects', () => {
  test('are created, read, changed and removed', async () => {
    const namespace = await server.namespace()
    const made = await kube.create(configMaps, configMap(namespace, 'one', { a: '1' }))
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    await expect(kube.create(configMaps, configMap(namespace, 'one'))).rejects.toThrow(KubeConflict)
    const at = { namespace, name: 'one' }
    expect((await kube.read(configMaps, at)).data).toEqual({ a: '1' })
    const changed = configMap(namespace, 'one', { a: '2' })
    const { resourceVersion } = made.metadata
    const old = { ...changed, metadata: { ...changed.metadata, resourceVersion } }
    const replaced = await kube.replace(configMaps, old)
    expect(replaced.data).toEqual({ a: '2' })
    await expect(kube.replace(configMaps, old)).rejects.toThrow(KubeConflict)
    const { uid } = made.metadata
    await expect(kube.remove(configMaps, at, { uid: 'another' })).rejects.toThrow(KubeConflict)
    await kube.remove(configMaps, at, { uid })
    await expect(kube.read(configMaps, at)).rejects.toThrow(KubeNotFound)
    await expect(kube.remove(configMaps, at, { uid })).rejects.toThrow(KubeNotFound)
  })

  test('are patched if the test of the patch holds', async () => {
    const namespace = await server.namespace()
    await kube.create(configMaps, configMap(namespace, 'one', { a: '1' }))
    const at = { namespace, name: 'one' }
    const patch = (value: string) =>
      kube.patch(configMaps, at, [
        { op: 'test', path: '/data/a', value },
        { op: 'remove', path: '/data/a' },
      ])
    await expect(patch('2')).rejects.toThrow(KubeInvalid)
    expect((await patch('1')).data ?? {}).toEqual({})
  })

  test('are listed by pages and labels, and by metadata only', async () => {
    const namespace = await server.namespace()
    for (const name of ['a', 'b', 'c']) {
      const draft = configMap(namespace, name, { a: '1' })
      const labels: Record<string, string> = name === 'c' ? {} : { app: 'x' }
      await kube.create(configMaps, { ...draft, metadata: { ...draft.metadata, labels } })
    }
    const first = await kube.list(configMaps, { namespace, page_size: 2 })
    expect(first.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    const { next } = first
    const second = await kube.list(configMaps, { namespace, page_size: 2, next })
    expect(second.items.map(({ metadata }) => metadata.name)).toEqual(['c'])
    expect(second.next).toBeUndefined()
    const label_selector = 'app=x'
    const asked = { namespace, label_selector, metadata_only: true, page_size: 9 }
    const { items } = await kube.list(configMaps, asked)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(items[0]).not.toHaveProperty('data')
  })
})

async function takeEvents(events: AsyncIterable<WatchEvent>, count: number): Promise<WatchEvent[]> {
  const taken: WatchEvent[] = []
  for await (const event of events) {
    if (event.type !== 'bookmark') taken.push(event)
    if (taken.length === count) break
  }
  return taken
}

describe('a watch or a list', () => {
  test('reports changes after a version, and ends when it is stopped', async () => {
    const namespace = await server.namespace()
    const { resource_version } = await kube.list(configMaps, { namespace, page_size: 1 })
    const { signal } = new AbortController()
    const timeout_ms = 30_000
    const taken = takeEvents(
      kube.watch(configMaps, { namespace, resource_version, timeout_ms, signal }),
      3,
    )
    const made = await kube.create(configMaps, configMap(namespace, 'one'))
    await kube.patch(configMaps, { namespace, name: 'one' }, [
      { op: 'add', path: '/data', value: { a: '1' } },
    ])
    await kube.remove(configMaps, { namespace, name: 'one' }, { uid: made.metadata.uid })
    expect((await taken).map(({ type }) => type)).toEqual(['changed', 'changed', 'deleted'])
  })

  test('ends when the server’s time limit is over', async () => {
    const namespace = await server.namespace()
    const { resource_version } = await kube.list(configMaps, { namespace, page_size: 1 })
    const { signal } = new AbortController()
    const options = { namespace, resource_version, timeout_ms: 1_000, signal }
    expect(await takeEvents(kube.watch(configMaps, options), 1)).toEqual([])
  })

  test('of a version that is no longer kept is refused as expired', async () => {
    const namespace = await server.namespace()
    for (const name of ['a', 'b']) await kube.create(configMaps, configMap(namespace, name))
    const { next } = await kube.list(configMaps, { namespace, page_size: 1 })
    await kube.create(configMaps, configMap(namespace, 'c'))
    await server.compact()
    await expect(kube.list(configMaps, { namespace, page_size: 1, next })).rejects.toThrow(
      KubeExpired,
    )
  })
})

describe('without an answer or a permission', () => {
  test('an error names the verb and the resource that RBAC refuses', async () => {
    const namespace = await server.namespace()
    const restricted = await clientOf(nobody)
    const asked = restricted.list(secretResource, { namespace, page_size: 1 })
    await expect(asked).rejects.toThrow(KubeForbidden)
    await expect(asked).rejects.toThrow(`lets the operator list secrets in namespace ${namespace}`)
    const applied = restricted.apply(configMaps, configMap(namespace, 'one'), {
      field_manager: 'x',
      subresource: 'status',
    })
    await expect(applied).rejects.toThrow('patch configmaps/status in namespace')
  })

  test('a missing server is unavailable', async () => {
    const unreachable = await clientOf(undefined, 'https://127.0.0.1:1')
    const asked = unreachable.read(configMaps, { namespace: 'default', name: 'one' })
    await expect(asked).rejects.toThrow(KubeUnavailable)
    await expect(asked).rejects.toThrow('get configmaps in namespace default: no answer')
  })

  test('a server that does not answer is unavailable after the time limit', async () => {
    const before = process.env['KUBECONFIG']
    process.env['KUBECONFIG'] = await server.kubeconfig()
    const hasty = openKube({ request_timeout_ms: 300, clock: systemClock })
    if (before === undefined) delete process.env['KUBECONFIG']
    server.pause()
    try {
      const asked = hasty.read(configMaps, { namespace: 'default', name: 'one' })
      await expect(asked).rejects.toThrow('no answer within 300 ms')
    } finally {
      server.resume()
    }
    const { items } = await hasty.list(configMaps, { namespace: 'default', page_size: 1 })
    expect(items).toEqual([])
  })
})

describe('owned Secrets', () => {
  const labels = { 'app.kubernetes.io/managed-by': 'looptrace-operator' }
  const secretsOf = (namespace: string, uid: string) =>
    ownedSecrets(kube, {
      owner: { apiVersion: 'looptrace.dev/v1alpha1', kind: 'Thing', namespace, name: 'one', uid },
      ...{ labels, owner_label: 'looptrace.dev/owner-uid', page_size: 10 },
    })
  const draft = { name: 'key', labels: { a: 'b' }, annotations: { c: 'd' }, data: { key: 'ü' } }

  test('are created, found by their owner only, replaced, released and removed', async () => {
    const namespace = await server.namespace()
    const [mine, theirs] = [secretsOf(namespace, 'uid-1'), secretsOf(namespace, 'uid-2')]
    expect(await mine.read('key')).toBeUndefined()
    const made = await mine.create(draft)
    expect(made).toMatchObject({ owner_uid: 'uid-1', data: { key: 'ü' }, annotations: { c: 'd' } })
    expect(made.labels).toMatchObject({ a: 'b', ...labels })
    await expect(theirs.create(draft)).rejects.toThrow(KubeConflict)
    expect(await mine.listOwned()).toEqual([made])
    expect(await theirs.listOwned()).toEqual([])
    const replaced = await mine.replace(made, { ...draft, data: { key: 'new' } })
    expect(await mine.read('key')).toEqual(replaced)
    await expect(mine.replace(made, draft)).rejects.toThrow(KubeConflict)
    await expect(mine.remove(made)).rejects.toThrow(KubeConflict)
    const free = await mine.disown(replaced, draft)
    expect(free).toMatchObject({ owner_uid: undefined, labels: { a: 'b' } })
    expect(await mine.listOwned()).toEqual([])
    await mine.remove(free)
    await mine.remove(free)
    expect(await mine.read('key')).toBeUndefined()
  })
})
