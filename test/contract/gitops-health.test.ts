import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { createServiceClient } from '../../src/operator/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { type GitopsHealth, gitopsHealthOf } from '../support/kube/gitops-health.ts'
import { grantProject } from '../support/kube/grants.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'
import {
  type ProductCluster,
  type ProductPlace,
  productOperator,
  productPlace,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { type Resources, readyOf } from '../support/kube/resources.ts'

let cluster: ProductCluster

beforeAll(async () => {
  cluster = await sharedProductCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const policy = ({ project }: Pick<ProductPlace, 'project'>, more: object = {}) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', traces: { days: 9 } },
  ...{ observations: { days: 9 }, ...more },
})
const account = ({ project }: ProductPlace, more: object = {}) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', scopes: ['tasks:read'] },
  ...{ keys: [{ name: 'main', secretName: 'key' }], ...more },
})

/** Starts an operator for a namespace with its granted project. */
async function operated(more: Parameters<typeof productOperator>[2] = {}) {
  const on = await productPlace(cluster)
  const operator = await productOperator(cluster, [on.namespace], more)
  return { ...on, operator, [Symbol.asyncDispose]: () => operator.stop() }
}

type Health = Pick<GitopsHealth, 'kstatus'> & { argocd: string }

async function healthOf(resource: KubeObject): Promise<Health & { message: string }> {
  const [health] = await gitopsHealthOf([resource])
  if (health === undefined) throw new Error('no health')
  return { ...health, argocd: health.argocd.status }
}

const current = { kstatus: 'Current', argocd: 'Healthy' }
const failed = { kstatus: 'Failed', argocd: 'Degraded' }
const inProgress = { kstatus: 'InProgress', argocd: 'Progressing' }
const paused = { kstatus: 'InProgress', argocd: 'Suspended' }
const terminating = { kstatus: 'Terminating', argocd: 'Progressing' }

const typesOf = (resource: KubeObject) =>
  resource?.status.conditions.map(({ type }: { type: string }) => type)

test('a resource is in progress until the operator has applied its latest spec', async () => {
  const on = await productPlace(cluster)
  await on.policies.apply('keep', policy(on))
  expect(await healthOf(await on.policies.read('keep'))).toMatchObject(inProgress)
  const first = await productOperator(cluster, [on.namespace])
  const ready = await on.policies.ready('keep')
  await first.stop()
  expect(await healthOf(ready)).toMatchObject(current)
  expect(typesOf(ready)).toEqual(['Ready'])
  await on.policies.apply('keep', policy(on, { traces: { days: 10 } }))
  expect(await healthOf(await on.policies.read('keep'))).toMatchObject(inProgress)
  await using _ = await productOperator(cluster, [on.namespace])
  expect(await healthOf(await on.policies.ready('keep'))).toMatchObject(current)
})

describe('a resource that needs a change by a user has failed', () => {
  type Place = Awaited<ReturnType<typeof operated>>
  test.each<[string, (on: Place) => Promise<[Resources, string]>]>([
    [
      'Conflict',
      async (on) => {
        await on.policies.apply('keep', policy(on))
        await on.policies.ready('keep')
        await on.policies.apply('other', policy(on))
        return [on.policies, 'other']
      },
    ],
    [
      'NotGranted',
      async (on) => {
        await on.policies.apply('keep', policy({ project: newId() }))
        return [on.policies, 'keep']
      },
    ],
    [
      'NameTaken',
      async (on) => {
        await on.accounts.apply('one', account(on, { displayName: 'robot', keys: [] }))
        await on.accounts.ready('one')
        await on.accounts.apply('two', account(on, { displayName: 'robot', keys: [] }))
        return [on.accounts, 'two']
      },
    ],
    [
      'SecretNotOwned',
      async (on) => {
        const body = { metadata: { name: 'key' }, stringData: { mine: 'yes' } }
        const path = `/api/v1/namespaces/${on.namespace}/secrets`
        await cluster.server.tell('POST', path, { body: { ...body, kind: 'Secret' } })
        await on.accounts.apply('one', account(on))
        return [on.accounts, 'one']
      },
    ],
    [
      'InvalidExternalId',
      async (on) => {
        const annotations = { 'looptrace.dev/external-id': 'hello' }
        await on.accounts.apply('one', account(on), { annotations })
        return [on.accounts, 'one']
      },
    ],
  ])('%s', async (reason, prepare) => {
    await using on = await operated()
    const [of, name] = await prepare(on)
    const resource = await of.notReady(name, reason)
    const health = await healthOf(resource)
    expect(health).toMatchObject({ ...failed, message: readyOf(resource)?.message })
    expect(typesOf(resource)).toEqual(['Ready', 'Stalled'])
  })

  test('and is current once that is done', async () => {
    const on = await productPlace(cluster, { isGranted: false })
    await using _ = await productOperator(cluster, [on.namespace])
    await on.policies.apply('keep', policy(on))
    expect(await healthOf(await on.policies.notReady('keep', 'NotGranted'))).toMatchObject(failed)
    await grantProject(cluster.server, on.namespace, on.project)
    const ready = await on.policies.ready('keep')
    expect(await healthOf(ready)).toMatchObject(current)
    expect(typesOf(ready)).toEqual(['Ready'])
  })

  test('also if another client wrote the condition: it is ended, and then left alone', async () => {
    await using on = await operated()
    await on.policies.apply('keep', policy(on))
    const { status } = await on.policies.ready('keep')
    const stalled = { ...readyOf({ status }), type: 'Stalled', status: 'True', reason: 'Old' }
    const path = `${on.policies.path('keep')}/status?fieldManager=restore&force=true`
    const restored = {
      ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'RetentionPolicy' },
      ...{ metadata: { name: 'keep' }, status: { conditions: [stalled] } },
    }
    await cluster.server.tell('PATCH', path, { body: restored })
    expect(await healthOf(await on.policies.read('keep'))).toMatchObject(failed)
    const isEnded = ({ status: now }: KubeObject) =>
      now.conditions.every((one: KubeObject) => one?.type !== 'Stalled' || one.status === 'False')
    const after = await on.policies.until('keep', 'is no longer stalled', isEnded)
    expect(await healthOf(after)).toMatchObject(current)
    const written = on.operator.writes.length
    await on.policies.apply('keep', policy(on, { traces: { days: 11 } }))
    await on.policies.ready('keep')
    // One status and one event: the change, and no fight over the condition.
    await eventually('the event is written', () => on.operator.writes.length >= written + 3)
    expect(on.operator.writes.slice(written).toSorted()).toEqual([
      'PUT /api/v2/observability/retention-policy',
      'apply retentionpolicies',
      'create events',
    ])
  })
})

test('an outage of the service is progress, and leaves no trace in the conditions', async () => {
  const on = await productPlace(cluster)
  let is_down = true
  await using _ = await productOperator(cluster, [on.namespace], {
    clients: ({ kube, service }) => {
      const { url } = cluster.service
      const down = createServiceClient({
        ...{ url: url.replace(/\d+$/, '1'), key: async () => 'none' },
        ...{ timeout_ms: 1_000, requests_max: 1 },
      })
      return { kube, service: { request: (what) => (is_down ? down : service).request(what) } }
    },
  })
  await on.policies.apply('keep', policy(on))
  const waiting = await on.policies.notReady('keep', 'ServiceUnavailable')
  expect(await healthOf(waiting)).toMatchObject(inProgress)
  expect(typesOf(waiting)).toEqual(['Ready', 'Reconciling'])
  // Not in the annotation only, which an editor of the namespace could change.
  expect(waiting.status.projectId).toBe(on.project)
  is_down = false
  const ready = await on.policies.ready('keep')
  expect(await healthOf(ready)).toMatchObject(current)
  expect(typesOf(ready)).toEqual(['Ready'])
})

test.each([
  ['Suspended', { suspend: true }, {}],
  ['Paused', {}, { annotations: { 'looptrace.dev/paused': 'true' } }],
])('%s is neither stalled nor current', async (reason, spec, metadata) => {
  await using on = await operated()
  await on.policies.apply('keep', policy(on, spec), metadata)
  const is = (resource: KubeObject) => readyOf(resource)?.reason === reason
  const resource = await on.policies.until('keep', `is ${reason}`, is)
  expect(await healthOf(resource)).toMatchObject(paused)
  expect(typesOf(resource)).toEqual(['Ready'])
})

test('a resource that is being deleted is terminating', async () => {
  const on = await productPlace(cluster)
  const operator = await productOperator(cluster, [on.namespace])
  await on.policies.apply('keep', policy(on))
  await on.policies.ready('keep')
  await operator.stop()
  await on.policies.remove('keep')
  expect(await healthOf(await on.policies.read('keep'))).toMatchObject(terminating)
})

describe('a resource that was never reconciled costs the API server', () => {
  /** Starts an operator that also counts reads of single objects. */
  async function counted() {
    const reads: string[] = []
    const on = await operated({
      clients: ({ kube, service }) => {
        const read: typeof kube.read = (resource, at) => {
          reads.push(`read ${resource.plural}`)
          return kube.read(resource, at)
        }
        return { service, kube: { ...kube, read } }
      },
    })
    return { ...on, reads }
  }
  const writes = (on: Awaited<ReturnType<typeof operated>>, plural: string) =>
    on.operator.writes.filter((what) => what.endsWith(` ${plural}`) || what === 'create events')

  test('three requests for a retention policy: ids with the finalizer, status, event', async () => {
    await using on = await counted()
    await on.policies.apply('keep', policy(on))
    const { metadata } = await on.policies.ready('keep')
    expect(metadata.annotations).toMatchObject({
      'looptrace.dev/external-id': on.project,
      'looptrace.dev/project-id': on.project,
    })
    await eventually('the event is written', () => writes(on, 'retentionpolicies').length >= 3)
    expect(writes(on, 'retentionpolicies')).toEqual([
      'patch retentionpolicies',
      'apply retentionpolicies',
      'create events',
    ])
    expect(on.reads).toEqual([])
  })

  test('one more status and its id for an account: keys need the project in the status', async () => {
    await using on = await counted()
    await on.accounts.apply('one', account(on, { keys: [] }))
    await on.accounts.ready('one')
    await eventually(
      'the event is written',
      () => writes(on, 'looptraceserviceaccounts').length >= 5,
    )
    expect(writes(on, 'looptraceserviceaccounts')).toEqual([
      'apply looptraceserviceaccounts',
      'patch looptraceserviceaccounts',
      'apply looptraceserviceaccounts',
      'apply looptraceserviceaccounts',
      'create events',
    ])
    expect(on.reads).toEqual([])
  })
})
