import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { noteKind } from '../support/kube/note-kind.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'
import { type OperatorChild, startOperatorChild } from '../support/kube/operator-child.ts'
import { type Resources, resourcesOf } from '../support/kube/resources.ts'
import { budget } from '../support/suite/budget.ts'

let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster({ upserts: true })
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

/** A third of the product's times, so that a test does not wait for 15 s. */
const lease = { lease_ms: 3_000, renew_deadline_ms: 2_000, retry_ms: 500 }

type Pair = { namespace: string; notes: Resources; start(): Promise<OperatorChild> }

async function startPair(more: { leading?: boolean; times?: number } = {}): Promise<Pair> {
  const namespace = await cluster.server.namespace()
  const { leading = true, times = 1 } = more
  return {
    namespace,
    notes: resourcesOf(cluster.server, noteKind, namespace),
    start: async () =>
      startOperatorChild({
        kubeconfig: await cluster.kubeconfig(),
        service_url: cluster.service.url,
        ...{ kinds: 'notes', namespaces: [namespace], times },
        ...(leading && { leader_election: { ...lease, namespace, name: 'operator' } }),
      }),
  }
}

const leasePath = (namespace: string) =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/operator`

/** Waits until the leader has renewed its lease this many times. */
async function renewals(namespace: string, count: number): Promise<void> {
  const seen = new Set<string>()
  await eventually(`the lease is renewed ${count} times`, async () => {
    seen.add((await cluster.server.tell('GET', leasePath(namespace))).spec.renewTime)
    return seen.size > count
  })
}

test('that is suspended past its lease fails when it resumes; another has taken over', async () => {
  const { namespace, notes, start } = await startPair()
  await using first = await start()
  await notes.apply('a', { text: 'one' })
  await notes.ready('a')
  await using second = await start()
  await renewals(namespace, 2)
  expect(second.writes).toEqual([])
  first.signal('SIGSTOP')
  await notes.apply('a', { text: 'two' })
  await notes.ready('a')
  expect(second.writes.length).toBeGreaterThan(0)
  const wrote = first.writes.length
  first.signal('SIGCONT')
  const { status, failed } = await first.ended
  expect(status).toBe(1)
  expect(failed).toMatch(/lease|leader/i)
  expect(first.writes.length).toBe(wrote)
  await notes.remove('a')
  await notes.gone('a')
})

test('that is killed is followed by another once its lease has expired', async () => {
  const { notes, start } = await startPair()
  await using first = await start()
  await notes.apply('a', { text: 'one' })
  await notes.ready('a')
  first.signal('SIGKILL')
  await first.ended
  await notes.apply('a', { text: 'two' })
  await using _second = await start()
  await notes.ready('a')
})

test('that is stopped releases the lease, so that the next one leads at once', async () => {
  const { namespace, notes, start } = await startPair()
  await using first = await start()
  await notes.apply('a', { text: 'one' })
  await notes.ready('a')
  first.signal('SIGTERM')
  expect(await first.ended).toMatchObject({ status: 0 })
  const { spec } = await cluster.server.tell('GET', leasePath(namespace))
  expect(spec.holderIdentity ?? '').toBe('')
})

test('whose lease is taken by another fails', async () => {
  const { namespace, notes, start } = await startPair()
  await using first = await start()
  await notes.apply('a', { text: 'one' })
  await notes.ready('a')
  const renewTime = new Date().toISOString().replace('Z', '000Z')
  await cluster.server.tell('PATCH', leasePath(namespace), {
    body: { spec: { holderIdentity: 'somebody-else', renewTime } },
    type: 'application/merge-patch+json',
  })
  expect(await first.ended).toMatchObject({ status: 1 })
})

test('two at once, for any time: nothing is created twice, and the end state is correct', async () => {
  const { namespace, notes, start } = await startPair({ leading: false, times: 30 })
  await using first = await start()
  await using second = await start()
  const names = ['a', 'b', 'c', 'd']
  const haveBothWritten = () => Math.min(first.writes.length, second.writes.length) > 0
  // On a slow machine one of them may be first each time for a while.
  for (let round = 0; round < rounds || (round < 10 * rounds && !haveBothWritten()); round += 1) {
    const spec = { text: `round ${round}`, secretName: undefined, resyncPeriod: '30s' }
    for (const name of names) await notes.apply(name, { ...spec, secretName: `key-${name}` })
    await sleep(100)
    if (round % 5 !== 4) continue
    await notes.remove('d')
    await notes.gone('d')
  }
  for (const name of names) await notes.apply(name, { text: 'end', secretName: `key-${name}` })
  for (const name of names) await notes.ready(name)
  expect(haveBothWritten()).toBe(true)
  await eventually('each has one note with one key that its Secret has', async () => {
    const found = await Promise.all(
      names.map(async (name) => {
        const path = `/api/v1/namespaces/${namespace}/secrets/key-${name}`
        const { status, body } = await cluster.server.ask('GET', path)
        const key = status === 200 ? Buffer.from(body.data.token, 'base64').toString() : ''
        const own = cluster.service.of(`${namespace}/${name}`)
        return own.length === 1 && own[0]?.text === 'end' && own[0].tokens.join() === key
      }),
    )
    return found.every(Boolean)
  })
})

/** ROUNDS=200 makes a longer run. */
const rounds = Number(process.env['ROUNDS'] ?? budget({ test: 6, soak: 30 }))
