import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { type GateAnswer, httpGate } from '../support/http-gate.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  operatedNamespace,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'
import { eventReasons, readyOf } from '../support/kube/resources.ts'
import { tcpGate } from '../support/tcp-gate.ts'

let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

describe('a service that is down', () => {
  test.concurrent('is reported in Ready, with its time; nothing is deleted, and then reconciles catch up', async () => {
    await using gate = await tcpGate(cluster.service.url)
    await using on = await operatedNamespace(cluster, { service_url: gate.url })
    await on.notes.apply('changed', { text: 'before' })
    await on.notes.apply('deleted', { text: 'before' })
    const good = await on.notes.ready('changed')
    await on.notes.ready('deleted')
    gate.close()
    await on.notes.apply('changed', { text: 'after' })
    await on.notes.apply('new', { text: 'after' })
    await on.notes.remove('deleted')
    const down = await on.notes.notReady('changed', 'ServiceUnavailable')
    await on.notes.notReady('new', 'ServiceUnavailable')
    const since = Date.parse(readyOf(down).lastTransitionTime)
    expect(since).toBeGreaterThanOrEqual(Date.parse(readyOf(good).lastTransitionTime))
    expect(readyOf(down).observedGeneration).toBe(2)
    await eventually('an event reports it', async () =>
      (await eventReasons(cluster.server, on.namespace, 'deleted')).includes('ServiceUnavailable'),
    )
    const waiting = await on.notes.read('deleted')
    expect(waiting.metadata.finalizers).toEqual(['looptrace.dev/finalizer'])
    expect(cluster.service.of(on.owner('deleted'))).toHaveLength(1)
    gate.open()
    await on.notes.ready('changed')
    await on.notes.ready('new')
    await on.notes.gone('deleted')
    const left = ['changed', 'new', 'deleted'].map((name) =>
      cluster.service.of(on.owner(name)).map(({ text }) => text),
    )
    expect(left).toEqual([['after'], ['after'], []])
  })

  const answers: [string, GateAnswer][] = [
    ['500', { status: 500 }],
    ['502 from something before it', { status: 502, body: '<html>bad gateway</html>' }],
    ['503', { status: 503 }],
    ['429', { status: 429, headers: { 'retry-after': '20' } }],
    ['401: the operator has an invalid key', { status: 401, body: '{}' }],
  ]

  test.concurrent.each(answers)('%s: is not accepted as an answer', async (_what, answer) => {
    await using gate = await httpGate(cluster.service.url)
    await using on = await operatedNamespace(cluster, { service_url: gate.url })
    await on.notes.apply('a', { text: 'before' })
    await on.notes.ready('a')
    gate.rule(() => answer)
    await on.notes.apply('a', { text: 'after' })
    await on.notes.notReady('a', 'ServiceUnavailable')
    gate.rule()
    await on.notes.ready('a')
    expect(cluster.service.of(on.owner('a'))).toMatchObject([{ text: 'after' }])
  })

  test.concurrent('that hangs is given up, and asked again', async () => {
    await using gate = await tcpGate(cluster.service.url)
    await using on = await operatedNamespace(cluster, { service_url: gate.url })
    await on.notes.apply('a', { text: 'before' })
    await on.notes.ready('a')
    gate.stall()
    await on.notes.apply('a', { text: 'after' })
    await on.notes.notReady('a', 'ServiceUnavailable')
    gate.open()
    await on.notes.ready('a')
  })

  test.concurrent('is asked less and less often, with few requests at a time', async () => {
    await using gate = await httpGate(cluster.service.url)
    gate.rule(() => ({ status: 503 }))
    await using on = await operatedNamespace(cluster, { service_url: gate.url, times: 1 })
    await on.notes.apply('a', { text: 'hello' })
    await on.notes.notReady('a', 'ServiceUnavailable')
    const asked = gate.requests.length
    // The first delay is 10 s.
    await sleep(3_000)
    expect(gate.requests.length).toBe(asked)
  })
})
