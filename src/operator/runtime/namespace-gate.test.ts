import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manualTiming } from '../../../test/support/manual-timing.ts'
import type { KubeClient, KubeObject, WatchEvent } from '../../platform/kube/index.ts'
import { createLogger } from '../../platform/telemetry/index.ts'
import { createGatedReflector, createNamespaceGate } from './namespace-gate.ts'

const selector = { matchLabels: { team: 'a' } }
const labelsOf = (isServed: boolean) => ({ team: isServed ? 'a' : 'b' })

test('without a selector every namespace is served', () => {
  const gate = createNamespaceGate(undefined)
  gate.setLabels('one', undefined)
  expect([gate.isSelective, gate.serves('one'), gate.serves(undefined)]).toEqual([
    false,
    true,
    true,
  ])
})

test('a namespace is served while its labels match, and before they are known it is not', () => {
  const gate = createNamespaceGate(selector)
  const changed: string[] = []
  gate.onChange((namespace) => changed.push(`${namespace} ${gate.serves(namespace)}`))
  expect([gate.serves('one'), gate.serves(undefined), gate.serves('')]).toEqual([false, true, true])
  for (const labels of [{ team: 'a' }, { team: 'a', more: '' }, { team: 'b' }, {}, undefined]) {
    gate.setLabels('one', labels)
  }
  gate.setLabels('two', { team: 'a' })
  expect(changed).toEqual(['one true', 'one false', 'two true'])
  expect(gate.count()).toBe(1)
})

/** A cluster of objects in namespaces, whose watch the test steps through event by event. */
function createModel() {
  const objects = new Map<string, KubeObject>()
  const events: WatchEvent[] = []
  let version = 1
  let lists = 0
  let wake = Promise.withResolvers<void>()
  const put = (namespace: string, name: string) => {
    version += 1
    const key = `${namespace}/${name}`
    const uid = objects.get(key)?.metadata.uid ?? `${key}#${version}`
    const metadata = { namespace, name, uid, resourceVersion: String(version) }
    const object = { metadata: { ...metadata, creationTimestamp: '' } } as KubeObject
    objects.set(key, object)
    events.push({ type: 'changed', object })
  }
  const remove = (namespace: string, name: string) => {
    const key = `${namespace}/${name}`
    const object = objects.get(key)
    if (object === undefined) return
    version += 1
    objects.delete(key)
    const metadata = { ...object.metadata, resourceVersion: String(version) }
    events.push({ type: 'deleted', object: { ...object, metadata } })
  }
  const flush = () => {
    wake.resolve()
    wake = Promise.withResolvers<void>()
  }
  const kube = {
    list: async () => {
      lists += 1
      return { items: [...objects.values()], resource_version: String(version), next: undefined }
    },
    watch: async function* (
      _: unknown,
      options: { resource_version: string; signal: AbortSignal },
    ) {
      const { signal, resource_version } = options
      let after = Number(resource_version)
      signal.addEventListener('abort', flush)
      while (!signal.aborted) {
        const next = events.find(
          (one) => one.type !== 'bookmark' && Number(one.object.metadata.resourceVersion) > after,
        )
        if (next === undefined || next.type === 'bookmark') {
          await wake.promise
          continue
        }
        after = Number(next.object.metadata.resourceVersion)
        yield next
      }
    },
  } as unknown as KubeClient
  return { objects, put, remove, kube, flush, lists: () => lists }
}

const namespaces = ['n1', 'n2', 'n3']
const act = fc.oneof(
  fc.record({
    act: fc.constantFrom<'put' | 'remove'>('put', 'remove'),
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom('a', 'b'),
  }),
  fc.record({
    act: fc.constant('label' as const),
    namespace: fc.constantFrom(...namespaces),
    isServed: fc.boolean(),
  }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(0, 10, 2_000) }),
)

/** Options of a reflector that neither lists nor watches again by itself. */
const quietWatch = {
  areLabelsKnown: () => true,
  resource: { group: 'example.com', version: 'v1', plural: 'things' },
  namespace: undefined,
  settings: {
    ...{ list_page_size: 100, relist_ms: 86_400_000 },
    ...{ watch_idle_ms: 86_400_000, watch_timeout_ms: 86_400_000 },
  },
  logger: createLogger({ role: 'test', level: 'silent' }),
}

test('in any order of events, the sink has the objects of the matching namespaces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
      const model = createModel()
      const gate = createNamespaceGate(selector)
      const timing = manualTiming()
      /** The cache: what a controller evicts when a namespace ceases to match. */
      const kept = new Map<string, string>()
      const reflector = createGatedReflector(gate, {
        ...{ ...quietWatch, kube: model.kube, timing },
        sink: {
          listing: () => undefined,
          changed: ({ metadata }) => {
            expect(gate.serves(metadata.namespace)).toBe(true)
            kept.set(metadata.uid, metadata.namespace)
          },
          deleted: ({ metadata }) => void kept.delete(metadata.uid),
          listed: (uids) => {
            for (const uid of kept.keys()) if (!uids.has(uid)) kept.delete(uid)
          },
        },
      })
      gate.onChange((namespace) => {
        if (gate.serves(namespace)) return
        for (const [uid, of] of kept) {
          if (of !== namespace) continue
          reflector.leaveOut(namespace)
          kept.delete(uid)
        }
      })
      const stop = new AbortController()
      const done = reflector.run(stop.signal)
      const settle = async (ms: number) => {
        for (let i = 0; i < 4; i += 1) {
          model.flush()
          await timing.advance(ms)
        }
      }
      for (const one of acts) {
        if (one.act === 'put') model.put(one.namespace, one.name)
        if (one.act === 'remove') model.remove(one.namespace, one.name)
        if (one.act === 'label') gate.setLabels(one.namespace, labelsOf(one.isServed))
        if (one.act === 'wait') await settle(one.ms)
      }
      await settle(2_000)
      const expected = [...model.objects.values()]
        .filter(({ metadata }) => gate.serves(metadata.namespace))
        .map(({ metadata }) => metadata.uid)
      expect([...kept.keys()].toSorted()).toEqual(expected.toSorted())
      stop.abort()
      model.flush()
      await done
    }),
    { numRuns: 300 },
  )
})

test('namespaces without objects that begin to match cost no list', async () => {
  const model = createModel()
  const gate = createNamespaceGate(selector)
  const timing = manualTiming()
  const nothing = () => undefined
  const reflector = createGatedReflector(gate, {
    ...{ ...quietWatch, kube: model.kube, timing },
    sink: { listing: nothing, changed: nothing, deleted: nothing, listed: nothing },
  })
  model.put('full', 'a')
  const stop = new AbortController()
  const done = reflector.run(stop.signal)
  await timing.advance(2_000)
  for (let i = 0; i < 100; i += 1) gate.setLabels(`empty-${i}`, { team: 'a' })
  await timing.advance(2_000)
  expect(model.lists()).toBe(1)
  // A user who changes a label again and again causes one list per second at most.
  for (let i = 0; i < 100; i += 1) {
    gate.setLabels('full', labelsOf(i % 2 === 0))
    reflector.leaveOut('full')
    await timing.advance(10)
  }
  await timing.advance(2_000)
  expect(model.lists()).toBeLessThanOrEqual(4)
  expect(model.lists()).toBeGreaterThan(1)
  stop.abort()
  model.flush()
  await done
})
