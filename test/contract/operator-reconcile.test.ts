import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import type { Kind } from '../../src/operator/index.ts'
import { pendingCondition } from '../../src/operator/ready-condition.ts'
import { eventually } from '../support/eventually.ts'
import { noteKind } from '../support/kube/note-kind.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  operatedNamespace,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'
import { grant, operatorRules } from '../support/kube/operator-rules.ts'
import { eventReasons, installKinds, readyOf, resourcesOf } from '../support/kube/resources.ts'

const finalizer = 'looptrace.dev/finalizer'
let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

describe('a resource', () => {
  test('is created in the service once it has a finalizer, and reports it after the read-back', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello' })
    const ready = await on.notes.ready('a')
    const [note] = cluster.service.of(on.owner('a'))
    expect(note).toMatchObject({ text: 'hello' })
    expect(ready.metadata.finalizers).toEqual([finalizer])
    expect(ready.metadata.annotations['looptrace.dev/external-id']).toBe(note?.id)
    expect(ready.status).toMatchObject({
      ...{ noteId: note?.id, text: 'hello', observedGeneration: 1 },
      lastSyncTime: expect.any(String),
    })
    const { writes } = on.operator
    const first = writes.findIndex((what) => what.includes('/notes'))
    expect(writes[first]).toBe('POST /notes')
    expect(writes.slice(0, first)).toContain('patch notes')
    // The CRD's default: not reconciled yet.
    expect(writes.slice(0, first)).not.toContain('apply notes')
    const hasEvent = async () => (await eventReasons(cluster.server, on.namespace, 'a')).length > 0
    await eventually('an event reports it', hasEvent)
    expect(await eventReasons(cluster.server, on.namespace, 'a')).toEqual(['Created'])
  })

  test('is changed in place, and Ready keeps its transition time', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'one' })
    const before = await on.notes.ready('a')
    await on.notes.apply('a', { text: 'two' })
    const after = await on.notes.ready('a')
    expect(cluster.service.of(on.owner('a'))).toMatchObject([{ text: 'two' }])
    expect(after.status.observedGeneration).toBe(2)
    expect(readyOf(after).lastTransitionTime).toBe(readyOf(before).lastTransitionTime)
  })

  test('without changes costs no writes, however often it is reconciled', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'same', resyncPeriod: '30s' })
    await on.notes.ready('a')
    await eventReasons(cluster.server, on.namespace, 'a')
    const looks = () => cluster.service.asked.filter((what) => what === 'GET /notes/:id').length
    await eventually('it has settled', async () => {
      const writes = on.operator.writes.length
      await sleep(300)
      return on.operator.writes.length === writes
    })
    const [writes, seen] = [on.operator.writes.length, looks()]
    await eventually('it was reconciled again', () => looks() >= seen + 6)
    expect(on.operator.writes.slice(writes)).toEqual([])
  })

  test('that was changed in the service is corrected, and an event reports it', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'right', resyncPeriod: '30s' })
    await on.notes.ready('a')
    const [note] = cluster.service.of(on.owner('a'))
    if (note !== undefined) note.text = 'wrong'
    await eventually('it is corrected', () => note?.text === 'right')
    await eventually('an event reports it', async () =>
      (await eventReasons(cluster.server, on.namespace, 'a')).includes('Changed'),
    )
  })

  test('that was deleted from the service is created again', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'here', resyncPeriod: '30s' })
    await on.notes.ready('a')
    for (const { id } of cluster.service.of(on.owner('a'))) cluster.service.notes.delete(id)
    await eventually('it is back', () => cluster.service.of(on.owner('a')).length === 1)
    const [note] = cluster.service.of(on.owner('a'))
    await on.notes.until('a', 'names the new one', ({ status }) => status.noteId === note?.id)
  })

  test('is reconciled on request', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'right' })
    await on.notes.ready('a')
    const [note] = cluster.service.of(on.owner('a'))
    if (note !== undefined) note.text = 'wrong'
    const annotations = { 'looptrace.dev/reconcile-requested-at': '2026-11-21T20:00:00Z' }
    await on.notes.apply('a', { text: 'right' }, { annotations })
    await eventually('it is corrected', () => note?.text === 'right')
  })

  test.each([
    ['suspend', 'Suspended', { suspend: true }, {}],
    ['the annotation paused', 'Paused', {}, { annotations: { 'looptrace.dev/paused': 'true' } }],
  ])(
    'is left alone with %s, and reconciled again without',
    async (_what, reason, spec, metadata) => {
      await using on = await operatedNamespace(cluster)
      await on.notes.apply('a', { text: 'one' })
      await on.notes.ready('a')
      await on.notes.apply('a', { text: 'two', ...spec }, metadata)
      await on.notes.until('a', 'is left alone', (it) => readyOf(it)?.reason === reason)
      expect(cluster.service.of(on.owner('a'))).toMatchObject([{ text: 'one' }])
      await on.notes.apply('a', { text: 'two' })
      await on.notes.ready('a')
      expect(cluster.service.of(on.owner('a'))).toMatchObject([{ text: 'two' }])
    },
  )

  test('converges while others write to it all the time', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'begin' })
    for (let i = 0; i < 40; i += 1) {
      const body = { metadata: { annotations: { 'example.com/i': String(i) } } }
      await cluster.server.tell('PATCH', on.notes.path('a'), {
        ...{ body, type: 'application/merge-patch+json' },
      })
      if (i % 10 === 5) await on.notes.apply('a', { text: `text ${i}` })
    }
    const ready = await on.notes.ready('a')
    expect(ready.metadata.annotations).toMatchObject({ 'example.com/i': '39' })
    expect(cluster.service.of(on.owner('a'))).toMatchObject([{ text: 'text 35' }])
  })

  test('of a megabyte is reconciled', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'x'.repeat(1_000_000) })
    await on.notes.ready('a')
    expect(cluster.service.of(on.owner('a'))[0]?.text).toHaveLength(1_000_000)
  })

  test('that a CRD of an older version accepted is refused by name, and reconciled once it is valid', async () => {
    const old: Kind = { ...noteKind, kind: 'OldNote', plural: 'oldnotes', singular: 'oldnote' }
    await installKinds(cluster.server, [old])
    await grant(cluster.server, operatorRules([noteKind.plural, old.plural]))
    await using on = await operatedNamespace(cluster, { kinds: [old] })
    await letAnythingIn('oldnotes.looptrace.dev', on.namespace)
    const resources = resourcesOf(cluster.server, old, on.namespace)
    await resources.apply('a', { words: 'as it was called' })
    const refused = await resources.notReady('a', 'InvalidSpec')
    expect(readyOf(refused).message).toMatch(/text/)
    expect(cluster.service.of(on.owner('a'))).toEqual([])
    await resources.apply('a', { text: 'as it is called' })
    await resources.ready('a')
  })
})

describe('a deleted resource', () => {
  test('deletes its objects', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello' })
    await on.notes.ready('a')
    await on.notes.remove('a')
    await on.notes.gone('a')
    expect(cluster.service.of(on.owner('a'))).toEqual([])
  })

  test('leaves them with deletionPolicy Retain', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello', deletionPolicy: 'Retain' })
    await on.notes.ready('a')
    await on.notes.remove('a')
    await on.notes.gone('a')
    expect(cluster.service.of(on.owner('a'))).toHaveLength(1)
  })

  test('in the foreground keeps the finalizers of others', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello' })
    await on.notes.ready('a')
    await on.notes.remove('a', 'Foreground')
    // A garbage collector would remove its own finalizer now; none runs here.
    await on.notes.until('a', 'is done with', ({ metadata }) => metadata.finalizers.length === 1)
    const left = await on.notes.read('a')
    expect(left.metadata.finalizers).toEqual(['foregroundDeletion'])
    expect(cluster.service.of(on.owner('a'))).toEqual([])
    await cluster.server.tell('PATCH', on.notes.path('a'), {
      body: [{ op: 'remove', path: '/metadata/finalizers' }],
      type: 'application/json-patch+json',
    })
    await on.notes.gone('a')
  })

  test('while no operator runs is finalized by the next one', async () => {
    const { namespace, notes, owner } = await once('a', { text: 'hello' })
    await notes.remove('a')
    await sleep(200)
    expect(await notes.read('a')).toBeDefined()
    await using _next = await operatedNamespace(cluster, { namespace })
    await notes.gone('a')
    expect(cluster.service.of(owner('a'))).toEqual([])
  })

  test('that was never reconciled is deleted at once', async () => {
    const namespace = await cluster.server.namespace()
    const notes = resourcesOf(cluster.server, noteKind, namespace)
    await notes.apply('a', { text: 'hello', suspend: true })
    await using _on = await operatedNamespace(cluster, { namespace })
    await notes.until('a', 'is suspended', (it) => readyOf(it)?.reason === 'Suspended')
    await notes.remove('a')
    await notes.gone('a')
  })
})

describe('a resource that was restored from a backup', () => {
  test.each([
    ['with its annotations', true],
    ['without any', false],
  ])(
    '%s: without status and with another uid, nothing is created twice',
    async (_how, annotated) => {
      const { namespace, notes, owner } = await once('a', { text: 'hello' })
      const saved = await notes.read('a')
      const [note] = cluster.service.of(owner('a'))
      await lose(notes.path('a'))
      const { annotations } = saved.metadata
      await notes.apply('a', saved.spec, annotated ? { annotations } : {})
      const restored = await notes.read('a')
      expect(restored.metadata.uid).not.toBe(saved.metadata.uid)
      expect(restored.status).toEqual({ conditions: [pendingCondition] })
      await using _on = await operatedNamespace(cluster, { namespace })
      const ready = await notes.ready('a')
      expect(ready.status.noteId).toBe(note?.id)
      expect(cluster.service.of(owner('a'))).toHaveLength(1)
    },
  )
})

/** A resource that was reconciled by an operator which then stopped. */
async function once(name: string, spec: object) {
  await using on = await operatedNamespace(cluster)
  await on.notes.apply(name, spec)
  await on.notes.ready(name)
  const { namespace, notes, owner } = on
  return { namespace, notes, owner }
}

/** Removes a resource from the cluster without its operator, as when a cluster is lost. */
async function lose(path: string): Promise<void> {
  await cluster.server.tell('PATCH', path, {
    body: [{ op: 'remove', path: '/metadata/finalizers' }],
    type: 'application/json-patch+json',
  })
  await cluster.server.tell('DELETE', path)
}

/** Installs a CRD of a version with other fields; waits until the server uses it. */
async function letAnythingIn(crd: string, namespace: string): Promise<void> {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await cluster.server.tell(
    'PATCH',
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd}`,
    {
      body: [
        { op: 'replace', path: '/spec/versions/0/schema', value: { openAPIV3Schema: schema } },
      ],
      type: 'application/json-patch+json',
    },
  )
  const body = {
    ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'OldNote' },
    ...{ metadata: { name: 'try' }, spec: { words: 'x' } },
  }
  const path = `/apis/looptrace.dev/v1alpha1/namespaces/${namespace}/oldnotes?dryRun=All`
  await eventually('the looser schema is served', async () => {
    const { status } = await cluster.server.ask('POST', path, { body })
    return status === 201
  })
}
