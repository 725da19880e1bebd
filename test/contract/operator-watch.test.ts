import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { type HttpGate, httpGate } from '../support/http-gate.ts'
import { noteKind } from '../support/kube/note-kind.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  type OperatedNamespace,
  operatedNamespace,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'
import type { TestOperator } from '../support/kube/operator.ts'
import { resourcesOf } from '../support/kube/resources.ts'
import { type TcpGate, tcpGate } from '../support/tcp-gate.ts'

let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

/**
 * An idle watch is restarted after a second: 20 s at twenty times the speed. No list is due by
 * timer, which would hide events that a watch missed.
 */
const settings = { watch_idle_ms: 20_000, relist_ms: 1_000_000_000 }

describe('a watch', () => {
  const faults: [
    string,
    (gate: TcpGate) => void,
    ((gate: TcpGate) => Promise<void>) | undefined,
  ][] = [
    ['is reset', (gate) => gate.reset(), undefined],
    ['is half open: the server is gone without closing it', (gate) => gate.halfOpen(), undefined],
    ['is mute: it is there and says nothing', (gate) => gate.mute(), undefined],
    ['stalls for a while', (gate) => gate.stall(), async (gate) => gate.open()],
    ['is refused for a while', (gate) => gate.close(), async (gate) => gate.open()],
  ]

  test.concurrent.each(faults)('that %s misses nothing', async (_what, fault, heal) => {
    await using gate = await tcpGate(cluster.server.url)
    const kubeconfig = await cluster.kubeconfig(gate.url)
    await using on = await operatedNamespace(cluster, { kubeconfig, settings })
    for (const name of ['changed', 'deleted', 'same']) {
      await on.notes.apply(name, { text: 'before' })
      await on.notes.ready(name)
    }
    fault(gate)
    await on.notes.apply('changed', { text: 'after' })
    await on.notes.apply('new', { text: 'after' })
    await on.notes.remove('deleted')
    if (heal !== undefined) {
      await sleep(300)
      await heal(gate)
    }
    await on.notes.ready('changed')
    await on.notes.ready('new')
    await on.notes.gone('deleted')
    expect(notesIn(on)).toEqual([
      ['changed', 'after'],
      ['new', 'after'],
      ['same', 'before'],
    ])
  })

  test('that finds its version gone (410) starts a new list', async () => {
    await using gate = await httpGate(cluster.server.url)
    const kubeconfig = await cluster.kubeconfig(gate.url)
    await using on = await operatedNamespace(cluster, { kubeconfig, settings })
    for (const name of ['changed', 'lost']) {
      await on.notes.apply(name, { text: 'before' })
      await on.notes.ready(name)
    }
    const restarted = Promise.withResolvers<void>()
    gate.rule(async ({ path }) => {
      if (path.includes('watch=true')) await restarted.promise
      return undefined
    })
    await on.notes.apply('changed', { text: 'after' })
    await on.notes.ready('changed')
    // A restarted server has no history in memory either.
    await cluster.server.stop()
    await cluster.server.restart()
    await on.notes.apply('changed', { text: 'later' })
    await lose(on.notes.path('lost'))
    await cluster.server.compact()
    restarted.resolve()
    await on.notes.ready('changed')
    await on.notes.apply('new', { text: 'after' })
    await on.notes.ready('new')
    expect(notesIn(on)).toContainEqual(['changed', 'later'])
    expect(await expiredLists(on.operator)).toBeGreaterThan(0)
  })

  test('whose list continues from a version that is gone (410) starts again', async () => {
    await using gate = await httpGate(cluster.server.url)
    const namespace = await cluster.server.namespace()
    const notes = resourcesOf(cluster.server, noteKind, namespace)
    for (const name of ['a', 'b', 'c', 'd']) await notes.apply(name, { text: name })
    let compacted = 0
    gate.rule(async ({ path }) => {
      if (!path.includes('/notes') || !path.includes('continue=') || compacted > 0) return undefined
      compacted += 1
      await notes.apply('e', { text: 'e' })
      await cluster.server.compact()
      return undefined
    })
    const kubeconfig = await cluster.kubeconfig(gate.url)
    const small = { ...settings, list_page_size: 1 }
    await using on = await operatedNamespace(cluster, { namespace, kubeconfig, settings: small })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await on.notes.ready(name)
    expect(compacted).toBe(1)
    expect(await expiredLists(on.operator)).toBeGreaterThan(0)
  })
})

describe('an API server', () => {
  const refusals: [string, (n: number) => { status: number } | undefined][] = [
    ['429', (n) => (n % 3 === 0 ? { status: 429, ...retryAfter(1) } : undefined)],
    ['500', (n) => (n % 3 === 0 ? { status: 500 } : undefined)],
    ['503', (n) => (n % 2 === 0 ? { status: 503 } : undefined)],
  ]

  test.concurrent.each(refusals)(
    'that answers %s to many requests is asked again',
    async (_status, rule) => {
      await using gate = await httpGate(cluster.server.url)
      let asked = 0
      gate.rule(() => {
        asked += 1
        return rule(asked)
      })
      const kubeconfig = await cluster.kubeconfig(gate.url)
      await using on = await operatedNamespace(cluster, { kubeconfig, settings })
      const names = Array.from({ length: 5 }, (_, i) => `n${i}`)
      for (const name of names) await on.notes.apply(name, { text: name })
      for (const name of names) await on.notes.ready(name)
      expect(gate.refused).toBeGreaterThan(0)
      gate.rule()
      for (const name of names) await on.notes.remove(name)
      for (const name of names) await on.notes.gone(name)
      expect(notesIn(on)).toEqual([])
    },
  )

  test('that sends Retry-After is not asked earlier', async () => {
    await using gate = await httpGate(cluster.server.url)
    gate.rule(({ path }) =>
      path.includes('/notes') ? { status: 429, ...retryAfter(2) } : undefined,
    )
    const kubeconfig = await cluster.kubeconfig(gate.url)
    await using on = await operatedNamespace(cluster, { kubeconfig, times: 1 })
    await eventually('it was asked again', () => listsIn(gate).length >= 2)
    const [first = 0, second = 0] = listsIn(gate)
    expect(second - first).toBeGreaterThanOrEqual(2_000)
    gate.rule()
    await on.notes.apply('a', { text: 'hello' })
    await on.notes.ready('a')
  })

  test('that fails permanently is not flooded', async () => {
    await using gate = await httpGate(cluster.server.url)
    gate.rule(() => ({ status: 500 }))
    const kubeconfig = await cluster.kubeconfig(gate.url)
    await using on = await operatedNamespace(cluster, { kubeconfig, times: 1 })
    await sleep(2_000)
    // Notes and Secrets are listed, each again after a growing delay.
    expect(gate.requests.length).toBeLessThan(20)
    gate.rule()
    await on.notes.apply('a', { text: 'hello' })
    await on.notes.ready('a')
  })

  test.each([
    ['is started again with its data', () => cluster.server.restart()],
    [
      'is killed, and starts with its data',
      async () => {
        await cluster.server.kill()
        await sleep(500)
        await cluster.server.restart()
      },
    ],
    [
      'says nothing for a while (SIGSTOP)',
      async () => {
        cluster.server.pause()
        await sleep(2_000)
        cluster.server.resume()
      },
    ],
  ])('that %s is followed as before', async (_what, fault) => {
    await using on = await operatedNamespace(cluster, { settings })
    await on.notes.apply('old', { text: 'before' })
    const before = await on.notes.ready('old')
    await fault()
    await on.notes.apply('new', { text: 'after' })
    await on.notes.ready('new')
    await on.notes.apply('old', { text: 'after' })
    const after = await on.notes.ready('old')
    expect(after.status.noteId).toBe(before.status.noteId)
    expect(cluster.service.of(on.owner('old'))).toMatchObject([{ text: 'after' }])
    await on.notes.remove('old')
    await on.notes.gone('old')
    expect(cluster.service.of(on.owner('old'))).toEqual([])
  })
})

/** Names and texts in the service. */
function notesIn({ namespace }: OperatedNamespace): [string, string][] {
  return [...cluster.service.notes.values()]
    .filter(({ owner }) => owner.startsWith(`${namespace}/`))
    .map(({ owner, text }): [string, string] => [owner.slice(namespace.length + 1), text])
    .sort()
}

/** Lists that were read since a version was gone. */
async function expiredLists({ metrics }: TestOperator): Promise<number> {
  const { body } = await metrics.expose()
  const counts = body.matchAll(/^looptrace_operator_lists_total\{.*why="expired".*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Removes a resource from the cluster without its operator. */
async function lose(path: string): Promise<void> {
  await cluster.server.tell('PATCH', path, {
    body: [{ op: 'remove', path: '/metadata/finalizers' }],
    type: 'application/json-patch+json',
  })
  await cluster.server.tell('DELETE', path)
}

function retryAfter(seconds: number) {
  return { headers: { 'retry-after': String(seconds) } }
}

/** When notes were listed. */
function listsIn(gate: HttpGate): number[] {
  return gate.requests
    .filter(({ method, path }) => method === 'GET' && path.includes('/notes'))
    .map(({ at_ms }) => at_ms)
}
