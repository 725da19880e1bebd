import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manualTiming } from '../../../test/support/manual-timing.ts'
import { fuzzRuns } from '../../../test/support/suite/budget.ts'
import type { KubeClient, KubeDraft, KubeObject } from '../../platform/kube/index.ts'
import { createLogger } from '../../platform/telemetry/index.ts'
import { createPresence, type Presence } from './presence.ts'

const lease = { lease_ms: 15_000, renew_deadline_ms: 10_000, retry_ms: 2_000 }
const names = ['one', 'two', 'three'] as const
type Name = (typeof names)[number]

/** The Leases of a cluster. A client whose name is in `cut` gets no answer. */
function leaseStore() {
  const stored = new Map<string, KubeObject>()
  const cut = new Set<Name>()
  let versions = 0
  const client = (own: Name): KubeClient => {
    const answer = async <T>(result: () => T): Promise<T> => {
      if (cut.has(own)) throw new Error('no answer')
      return result()
    }
    const put = ({ metadata, ...rest }: KubeDraft): KubeObject => {
      const uid = `uid-${metadata.name}`
      versions += 1
      const kept = { ...rest, metadata: { ...metadata, uid, resourceVersion: String(versions) } }
      const object = { ...kept, metadata: { ...kept.metadata, creationTimestamp: '' } }
      stored.set(metadata.name, object)
      return object
    }
    const cluster = '0199aaaa-0000-7000-8000-000000000000'
    return {
      read: () => answer(() => ({ metadata: { uid: cluster } }) as KubeObject),
      apply: (_resource: unknown, draft: KubeDraft) => answer(() => put(draft)),
      list: () =>
        answer(() => ({ items: [...stored.values()], resource_version: '', next: undefined })),
      remove: (_resource: unknown, { name }: { name: string }) =>
        answer(() => void stored.delete(name)),
    } as Partial<KubeClient> as KubeClient
  }
  return { client, cut }
}

/** Three installations of one class in one cluster, started and ended by a test. */
function installations() {
  const timing = manualTiming()
  const store = leaseStore()
  const running = new Map<Name, { presence: Presence; end: AbortController }>()
  const start = (name: Name) => {
    if (running.has(name)) return
    const end = new AbortController()
    const presence = createPresence({
      kube: store.client(name),
      events: { record: async () => undefined },
      settings: { namespace: 'looptrace', name, ...lease },
      ...{ class_name: 'default', namespaces: [], identity: name, list_page_size: 100, timing },
      logger: createLogger({ role: 'test', level: 'silent' }),
    })
    running.set(name, { presence, end })
    void presence.run(end.signal)
  }
  const kill = (name: Name) => {
    running.get(name)?.end.abort()
    running.delete(name)
  }
  const stop = async (name: Name) => {
    const one = running.get(name)
    kill(name)
    await one?.presence.release().catch(() => undefined)
  }
  const writers = () => [...running].filter(([, { presence }]) => presence.mayWrite())
  return { timing, running, writers, acts: { start, kill, stop, ...cuts(store.cut) } }
}

const cuts = (cut: Set<Name>) => ({
  cut: (name: Name) => void cut.add(name),
  heal: (name: Name) => void cut.delete(name),
})

const action = fc.record({
  act: fc.constantFrom('start', 'start', 'kill', 'stop', 'cut', 'heal'),
  name: fc.constantFrom(...names),
  then_ms: fc.integer({ min: 0, max: 24 }).map((halves) => halves * 500),
})

test('of installations that start, end and lose the API server at any time, one at most may write', async () => {
  let written = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), async (actions) => {
      const { timing, writers, running, acts } = installations()
      const watch = async (duration_ms: number) => {
        for (let passed_ms = 0; passed_ms <= duration_ms; passed_ms += 500) {
          expect(writers().length).toBeLessThanOrEqual(1)
          written += writers().length
          await timing.advance(500)
        }
      }
      for (const { act, name, then_ms } of actions) {
        await acts[act](name)
        await watch(then_ms)
      }
      // The only one left writes once the Leases of the others have expired.
      for (const name of names) acts.heal(name)
      const [last, ...others] = running.keys()
      for (const name of others) acts.kill(name)
      // A calm one may see the last Lease of another only half a renewal deadline later.
      await watch(lease.renew_deadline_ms / 2 + lease.lease_ms + 3 * lease.retry_ms)
      if (last !== undefined) expect(writers().map(([name]) => name)).toEqual([last])
      for (const name of names) acts.kill(name)
    }),
    { numRuns: fuzzRuns(200) },
  )
  expect(written).toBeGreaterThan(100)
})
