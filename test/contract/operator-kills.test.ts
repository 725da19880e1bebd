import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type DoomedOperator,
  doomedOperator,
  doomedProcess,
  killAtEachWrite,
} from '../support/kube/killed-operators.ts'
import { noteKind } from '../support/kube/note-kind.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  operatedNamespace,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'
import { type Resources, resourcesOf } from '../support/kube/resources.ts'

let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

type Place = { namespace: string; notes: Resources }
const spec = { text: 'hello', secretName: 'key' }

/** An action on a resource, whether the resource was reconciled before, and the end condition. */
const happenings: Record<string, Happening> = {
  'is made': {
    before: false,
    writes: 7,
    act: async ({ notes }) => void (await notes.apply('a', spec)),
    isDone: async ({ notes }) => void (await notes.ready('a')),
  },
  'is changed': {
    before: true,
    writes: 3,
    act: async ({ notes }) => void (await notes.apply('a', { ...spec, text: 'changed' })),
    isDone: async ({ notes }) => void (await notes.ready('a')),
  },
  'loses its Secret': {
    before: true,
    writes: 5,
    act: async ({ namespace, notes }) => {
      await cluster.server.tell('DELETE', `/api/v1/namespaces/${namespace}/secrets/key`)
      await notes.apply('a', { ...spec, text: 'changed' })
    },
    isDone: async ({ notes }) => void (await notes.ready('a')),
  },
  'is deleted': {
    before: true,
    writes: 4,
    act: ({ notes }) => notes.remove('a'),
    isDone: ({ notes }) => notes.gone('a'),
  },
}
type Act = (place: Place) => Promise<void>
/** `writes` is the minimum number of writes: a test without a kill proves nothing. */
type Happening = { before: boolean; act: Act; isDone: Act; writes: number }

test.each(Object.entries(happenings))(
  'a resource that %s: killed at each write and run again, it ends correctly',
  async (what, { before, act, isDone, writes }) => {
    const killed = await killAtEachWrite<Place>({
      place: async () => {
        const namespace = await cluster.server.namespace()
        const place = { namespace, notes: resourcesOf(cluster.server, noteKind, namespace) }
        if (before) await follow(place)
        await act(place)
        return place
      },
      operator: ({ namespace }, write) =>
        doomed(namespace, { write, as_process: what === 'is made' }),
      isDone,
      ...{ at_once: 2, writes },
    })
    const namespaces = killed.map(({ place }) => place.namespace)
    await using _all = await operatedNamespace(cluster, { settings: { namespaces } })
    for (const { place } of killed) {
      await isDone(place)
      await expectWhole(place, what)
    }
  },
)

/** A process that gets SIGKILL takes ten times as long as an operator that is cut off. */
async function doomed(
  namespace: string,
  { write, as_process }: { write: number; as_process: boolean },
): Promise<DoomedOperator> {
  const options = { kubeconfig: await cluster.kubeconfig(), service_url: cluster.service.url }
  return as_process
    ? doomedProcess({ ...options, kinds: 'notes', namespaces: [namespace] }, write)
    : doomedOperator(
        { ...options, kinds: [noteKind], settings: { namespaces: [namespace] } },
        write,
      )
}

async function follow({ namespace, notes }: Place): Promise<void> {
  await using _on = await operatedNamespace(cluster, { namespace })
  await notes.apply('a', spec)
  await notes.ready('a')
}

/** Expects no leak, no duplicate, and a true status. */
async function expectWhole({ namespace, notes }: Place, what: string): Promise<void> {
  const own = cluster.service.of(`${namespace}/a`)
  const resource = await notes.read('a')
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const { items } = await cluster.server.tell('GET', path)
  if (what === 'is deleted') {
    expect([resource, own, items]).toEqual([undefined, [], []])
    return
  }
  const text = what === 'is made' ? 'hello' : 'changed'
  const [secret, ...more] = items
  const key = Buffer.from(secret?.data.token ?? '', 'base64').toString('utf8')
  expect(more).toEqual([])
  expect(own).toEqual([
    { id: resource.status.noteId, text, owner: `${namespace}/a`, tokens: [key] },
  ])
  expect(resource.status).toMatchObject({ text, observedGeneration: resource.metadata.generation })
  expect(resource.metadata.annotations['looptrace.dev/external-id']).toBe(own[0]?.id)
}
