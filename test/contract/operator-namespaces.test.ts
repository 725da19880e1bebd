import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { gitopsHealthOf } from '../support/kube/gitops-health.ts'
import { noteKind } from '../support/kube/note-kind.ts'
import { type NoteCluster, sharedNoteCluster } from '../support/kube/operated-notes.ts'
import { startTestOperator, type TestOperator } from '../support/kube/operator.ts'
import { resourcesOf } from '../support/kube/resources.ts'

let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const note = { text: 'hello', secretName: 'key' }

/** A namespace with a note that waits for an operator. */
async function place(labels: Record<string, string>) {
  const namespace = await cluster.server.namespace(labels)
  const notes = resourcesOf(cluster.server, noteKind, namespace)
  await notes.apply('a', note)
  const owned = () => cluster.service.of(`${namespace}/a`)
  const reasonOf = async () => (await notes.read('a'))?.status.conditions[0].reason
  return { namespace, notes, owned, reasonOf }
}

const label = (namespace: string, labels: Record<string, string | null>) =>
  cluster.server.tell('PATCH', `/api/v1/namespaces/${namespace}`, {
    body: { metadata: { labels } },
    type: 'application/merge-patch+json',
  })

async function operatorOf(team: string): Promise<TestOperator> {
  return startTestOperator({
    ...{ kubeconfig: await cluster.kubeconfig(), service_url: cluster.service.url },
    kinds: [noteKind],
    settings: { namespace_selector: { matchLabels: { team } } },
  })
}

const countResources = async ({ metrics }: TestOperator) => {
  const { body: text } = await metrics.expose()
  const find = (name: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  return {
    resources: find('looptrace_operator_resources'),
    namespaces: find('looptrace_operator_selected_namespaces'),
  }
}

test('only resources in matching namespaces are reconciled and kept', async () => {
  const [ours, theirs] = [await place({ team: 'one' }), await place({ team: 'other' })]
  await using operator = await operatorOf('one')
  await ours.notes.ready('a')
  await theirs.notes.apply('b', note)
  await ours.notes.apply('b', { ...note, secretName: 'b' })
  await ours.notes.ready('b')
  expect([theirs.owned(), await theirs.reasonOf()]).toEqual([[], 'Pending'])
  expect(await countResources(operator)).toEqual({ resources: 2, namespaces: 1 })
  expect(operator.writes.join()).not.toContain(theirs.namespace)
})

test('a namespace that begins to match is taken, one that ceases to match is left as it is', async () => {
  const one = await place({ team: 'none' })
  await using operator = await operatorOf('two')
  await label(one.namespace, { team: 'two' })
  await one.notes.ready('a')
  const before = one.owned()
  expect(before).toHaveLength(1)

  await label(one.namespace, { team: null })
  await eventually(
    'the status says so',
    async () => (await one.reasonOf()) === 'NamespaceNotSelected',
  )
  await eventually('nothing is kept', async () => (await countResources(operator)).resources === 0)
  const resource = await one.notes.read('a')
  expect(resource.status.conditions).toMatchObject([{ type: 'Ready', status: 'Unknown' }])
  expect(resource.status.conditions[0].message).toContain('Nothing is changed, revoked or deleted')
  const paused = { kstatus: 'InProgress', argocd: { status: 'Suspended' } }
  expect(await gitopsHealthOf([resource])).toMatchObject([paused])
  await one.notes.apply('a', { ...note, text: 'changed' })
  await one.notes.apply('b', { ...note, secretName: 'b' })
  await one.notes.remove('b')
  await one.notes.gone('b')
  expect(one.owned()).toEqual(before)

  await label(one.namespace, { team: 'two' })
  await one.notes.ready('a')
  expect(one.owned()).toMatchObject([{ text: 'changed', tokens: before[0]?.tokens }])
})

test('a deletion waits while the namespace does not match, and is completed afterwards', async () => {
  const one = await place({ team: 'three' })
  await using _operator = await operatorOf('three')
  await one.notes.ready('a')
  await label(one.namespace, { team: null })
  await eventually(
    'the status says so',
    async () => (await one.reasonOf()) === 'NamespaceNotSelected',
  )
  await one.notes.remove('a')
  expect(one.owned()).toHaveLength(1)
  await label(one.namespace, { team: 'three' })
  await one.notes.gone('a')
  expect(one.owned()).toEqual([])
})

test('a lost Secret in a namespace that began to match is seen', async () => {
  const one = await place({ team: 'four' })
  {
    await using _operator = await operatorOf('four')
    await one.notes.ready('a')
  }
  await label(one.namespace, { team: null })
  await using _operator = await operatorOf('four')
  await label(one.namespace, { team: 'four' })
  await one.notes.apply('b', { ...note, secretName: 'b' })
  await one.notes.ready('b')
  const path = `/api/v1/namespaces/${one.namespace}/secrets/key`
  const { metadata } = await cluster.server.tell('GET', path)
  await cluster.server.tell('DELETE', path)
  await eventually('another Secret', async () => {
    const { status, body } = await cluster.server.ask('GET', path)
    return status === 200 && body.metadata.uid !== metadata.uid
  })
})
