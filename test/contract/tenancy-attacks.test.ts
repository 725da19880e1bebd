import { afterAll, beforeAll, expect, test } from 'vitest'
import { kinds } from '../../src/operator/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs, editor } from '../support/kube/api-server.ts'
import { type Editor, editorOf } from '../support/kube/editor.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import type { TestOperator } from '../support/kube/operator.ts'
import { grant, operatorRules, without } from '../support/kube/operator-rules.ts'
import {
  type ProductCluster,
  type ProductPlace,
  productOperator,
  productPlace,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { eventReasons, readyOf } from '../support/kube/resources.ts'

/**
 * Attacks by `eve`, who may edit the resources and Secrets of her namespaces, on an operator that
 * watches all namespaces. Its clock runs twenty times as fast: the grace of orphans is three
 * seconds.
 */
const times = 20
const orphan_grace_ms = 60_000
/** Its times are long, because a busy machine may pause for a second. */
const lease = { lease_ms: 300_000, renew_deadline_ms: 240_000, retry_ms: 2_000 }
const merge = 'application/merge-patch+json'

let cluster: ProductCluster
let operator: TestOperator
let eve: Editor

beforeAll(async () => {
  cluster = await sharedProductCluster()
  operator = await install('one')
  eve = editorOf(cluster.server, editor)
}, apiServerStartTimeoutMs)
afterAll(async () => {
  await operator?.stop()
  await cluster?.[Symbol.asyncDispose]()
})

async function install(name: string, class_name = 'default'): Promise<TestOperator> {
  const namespace = await cluster.server.namespace()
  const presence = { namespace, name, ...lease }
  return productOperator(cluster, [], {
    times,
    settings: { presence, class_name, orphan_grace_ms },
  })
}

/** A granted namespace that eve may edit. */
async function evesPlace(more: object = {}) {
  const own = await productPlace(cluster, { isGranted: false })
  const grant = await grantProject(cluster.server, own.namespace, own.project, {
    ...{ revokeAfter: '30s' },
    ...more,
  })
  await eve.letEdit(own.namespace)
  return { ...own, grant }
}

const account = (project: string, more: object = {}) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', scopes: ['tasks:read'] },
  keys: [{ name: 'main', secretName: 'robot-key' }],
  ...more,
})
const policy = (project: string, days: number) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s' },
  ...{ traces: { days }, observations: { days } },
})
const robot = (spec: object, metadata: object = {}) => ({
  ...{ name: 'robot', kind: 'LooptraceServiceAccount', spec, metadata },
})
const strip = (own: ProductPlace, finalizers: string[] = []) =>
  eve.edit(own.accounts, 'robot', { metadata: { finalizers } })
const noKeys = (own: ProductPlace) =>
  eventually('no key is live', async () => (await own.liveKeys()).length === 0)

/** An account with a key, and the resource gone without its removal. */
async function orphaned() {
  const own = await evesPlace()
  await own.accounts.apply('robot', account(own.project))
  await own.accounts.ready('robot')
  await strip(own)
  await own.accounts.remove('robot')
  await own.accounts.gone('robot')
  expect(await own.liveKeys()).toHaveLength(1)
  return own
}

async function revokedCount(): Promise<number> {
  const { body } = await operator.metrics.expose()
  const line = /^looptrace_operator_orphans_revoked_total\{.*serviceaccount.*\} (\d+)$/m
  return Number(line.exec(body)?.[1] ?? 0)
}

/**
 * Waits until the operator has seen that accounts are gone and works on none. Before, it would make
 * their lost Secrets again, which no garbage collector deletes here.
 */
async function accountsAreSeen(): Promise<void> {
  await eventually('the operator has the accounts of the cluster', async () => {
    const path = '/apis/looptrace.dev/v1alpha1/looptraceserviceaccounts'
    const { items } = await cluster.server.tell('GET', path)
    const { body } = await operator.metrics.expose()
    const lines = body.matchAll(/^looptrace_operator_resources\{.*ServiceAccount.*\} (\d+)$/gim)
    const known = [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
    const isIdle = /^controller_runtime_active_workers\{.*ServiceAccount.*\} 0$/im.test(body)
    return isIdle && known === items.length
  })
}

test('a resource whose finalizer is removed by hand leaves no key after the grace', async () => {
  const before = await revokedCount()
  const own = await orphaned()
  await noKeys(own)
  const [left] = await own.accountsInService()
  expect(left.name).toMatch(/ \(withdrawn /)
  await eventually('both events are written', async () => {
    const reasons = await eventReasons(cluster.server, own.namespace, 'robot')
    return reasons.includes('Orphaned') && reasons.includes('OrphanRevoked')
  })
  expect(await revokedCount()).toBeGreaterThan(before)
})

test('a resource that a foreign finalizer keeps leaves no key after its grant ended', async () => {
  const own = await evesPlace()
  await own.accounts.apply('robot', account(own.project))
  await own.accounts.ready('robot')
  await strip(own, ['example.com/never'])
  await own.accounts.remove('robot')
  await grantsOf(cluster.server).remove(own.grant)
  await noKeys(own)
})

test('a resource that is made again, suspended and without a grant, leaves no key', async () => {
  const own = await orphaned()
  const { project } = await productPlace(cluster)
  await eve.apply(own.accounts, robot(account(project, { suspend: true })))
  await noKeys(own)
})

test('made again with the grant, it keeps its account and its key', async () => {
  const own = await orphaned()
  await eve.apply(own.accounts, robot(account(own.project)))
  await own.accounts.ready('robot')
  const [key] = await own.liveKeys()
  const resource = await own.accounts.read('robot')
  expect(resource.status.keys[0].keyId).toBe(key.id)
  expect(await own.accountsInService()).toMatchObject([
    { managed_by: { uid: resource.metadata.uid }, disabled_at: null },
  ])
})

test('an operator that lost the right to read resources revokes nothing', async () => {
  const rules = operatorRules(kinds.map(({ plural }) => plural))
  const plural = 'looptraceserviceaccounts'
  const blind = ['get', 'list', 'watch'].reduce((all, verb) => without(all, verb, plural), rules)
  const own = await orphaned()
  const failures = () => operator.logged().split('searching for orphans failed').length
  const before = failures()
  try {
    await grant(cluster.server, blind)
    await eventually('searches over two graces failed', () => failures() > before + 12)
    expect(await own.liveKeys()).toHaveLength(1)
  } finally {
    await grant(cluster.server, rules)
  }
  await noKeys(own)
})

test('keys of a resource that is made again under a new namespace of the name are not inherited', async () => {
  const own = await orphaned()
  await accountsAreSeen()
  const path = `/api/v1/namespaces/${own.namespace}`
  for (const name of (await own.secrets()).keys()) {
    await cluster.server.tell('DELETE', `${path}/secrets/${name}`)
  }
  await grantsOf(cluster.server).remove(own.grant)
  await cluster.server.tell('DELETE', path)
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: own.namespace } }
  await eventually(
    'the namespace is made again',
    async () => (await cluster.server.ask('POST', '/api/v1/namespaces', { body })).status === 201,
  )
  await eve.apply(own.accounts, robot(account(own.project)))
  await own.accounts.notReady('robot', 'NotGranted')
  await noKeys(own)
  expect([...(await own.secrets()).keys()]).toEqual([])
})

test('a resource that is made with the operator’s finalizer, ids and status changes no other project', async () => {
  const [own, victim] = [await evesPlace(), await productPlace(cluster)]
  await victim.accounts.apply('robot', account(victim.project))
  await victim.policies.apply('keep', policy(victim.project, 9))
  await Promise.all([victim.accounts.ready('robot'), victim.policies.ready('keep')])
  const [theirs] = await victim.accountsInService()
  const metadata = {
    finalizers: ['looptrace.dev/finalizer'],
    annotations: {
      'looptrace.dev/project-id': victim.project,
      'looptrace.dev/external-id': theirs.id,
    },
  }
  const status = { projectId: victim.project, serviceAccountId: theirs.id }
  const spec = policy(victim.project, 1)
  await eve.apply(own.accounts, robot(account(victim.project), metadata))
  await eve.apply(own.policies, { name: 'keep', kind: 'RetentionPolicy', spec, metadata })
  for (const [of, name] of [
    [own.accounts, 'robot'],
    [own.policies, 'keep'],
  ] as const) {
    const forged = { user: editor, type: merge, body: { status } }
    expect((await cluster.server.ask('PATCH', `${of.path(name)}/status`, forged)).status).toBe(403)
    await of.notReady(name, 'NotGranted')
    await of.remove(name)
    await of.gone(name)
  }
  expect(await victim.liveKeys()).toHaveLength(1)
  expect(await victim.accountsInService()).toEqual([theirs])
  expect(await victim.policy()).toMatchObject({ days: { traces: 9 }, managed_by: { name: 'keep' } })
})

test('an account of another namespace in a shared project is not taken over', async () => {
  const [own, victim] = [await evesPlace(), await productPlace(cluster)]
  await grantProject(cluster.server, own.namespace, victim.project)
  await victim.accounts.apply('robot', account(victim.project))
  await victim.accounts.ready('robot')
  const [theirs] = await victim.accountsInService()
  const annotations = { 'looptrace.dev/external-id': theirs.id }
  await eve.apply(own.accounts, robot(account(victim.project), { annotations }))
  await own.accounts.notReady('robot', 'Conflict')
  expect(await victim.accountsInService()).toEqual([theirs])
  expect((await own.secrets()).size).toBe(0)
})

test('a Secret that is made before, with every mark of the operator, gives no key and is not overwritten', async () => {
  const [own, victim] = [await evesPlace(), await productPlace(cluster)]
  await victim.accounts.apply('robot', account(victim.project))
  const { metadata } = await victim.accounts.ready('robot')
  const stolen = (await victim.secrets()).get('robot-key')
  const { labels, annotations } = stolen.metadata
  const ownerReferences = [
    {
      ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'LooptraceServiceAccount' },
      ...{ name: 'robot', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
    },
  ]
  const body = {
    ...{ apiVersion: 'v1', kind: 'Secret', stringData: { 'api-key': 'mine' } },
    metadata: { name: 'robot-key', labels, annotations, ownerReferences },
  }
  const path = `/api/v1/namespaces/${own.namespace}/secrets`
  expect((await cluster.server.ask('POST', path, { user: editor, body })).status).toBe(201)
  await eve.apply(own.accounts, robot(account(own.project)))
  await own.accounts.notReady('robot', 'SecretNotOwned')
  expect(await own.liveKeys()).toEqual([])
  expect((await own.secrets()).get('robot-key').data['api-key']).toBe('mine')
  expect(await victim.liveKeys()).toHaveLength(1)
  expect((await victim.secrets()).get('robot-key').metadata.uid).toBe(stolen.metadata.uid)
})

test('names that resemble those of a grant are not granted', async () => {
  const own = await productPlace(cluster, { isGranted: false })
  await eve.letEdit(own.namespace)
  const name = `shop-${own.namespace}`
  await cluster.service.project(name)
  const grant = await grantProject(cluster.server, own.namespace, { organization: 'default', name })
  await grantsOf(cluster.server).ready(grant)
  const refs = [
    { organization: 'defаult', name },
    { organization: 'DEFAULT', name },
    { organization: 'default ', name },
    { organization: 'ｄefault', name },
    { organization: 'default', name: name.replace('o', 'о') },
    { organization: 'default', name: `${name}\u200b` },
  ]
  for (const [n, projectRef] of refs.entries()) {
    const spec = account('', { projectRef, keys: [{ name: 'main', secretName: `key-${n}` }] })
    await eve.apply(own.accounts, { ...robot(spec), name: `robot-${n}` })
  }
  for (const n of refs.keys()) await own.accounts.notReady(`robot-${n}`, 'NotGranted')
  expect(await own.liveKeys()).toEqual([])
})

test('generated names, of a burst, do not exceed the keys of the grant', async () => {
  const own = await evesPlace({ maxKeys: 2 })
  const post = (n: number) => {
    const keys = [{ name: 'main', secretName: `key-${n}` }]
    const body = {
      ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'LooptraceServiceAccount' },
      ...{ metadata: { generateName: 'robot-' }, spec: account(own.project, { keys }) },
    }
    return cluster.server.ask('POST', own.accounts.path(), { user: editor, body })
  }
  const made = await Promise.all(Array.from({ length: 6 }, (_one, n) => post(n)))
  const names = made.map(({ body }) => String(body.metadata.name))
  await eventually('all are decided', async () => {
    const all = await Promise.all(names.map((name) => own.accounts.read(name)))
    return all.filter((one) => readyOf(one)?.reason === 'NotGranted').length === 4
  })
  await eventually('two keys are live', async () => (await own.liveKeys()).length === 2)
})

test('a spec of a thousand keys, scopes or holds is refused by the API server', async () => {
  const own = await evesPlace()
  const many = Array.from({ length: 1_000 }, (_one, n) => n)
  const keys = many.map((n) => ({ name: `k${n}`, secretName: `s${n}` }))
  const scopes = many.map(() => 'tasks:read')
  const legalHolds = many.map((n) => ({ name: `h${n}`, userId: 'ada', reason: 'x' }))
  const tried = [
    eve.apply(own.accounts, robot(account(own.project, { keys }))),
    eve.apply(own.accounts, robot(account(own.project, { scopes }))),
    eve.apply(own.policies, {
      ...{ name: 'keep', kind: 'RetentionPolicy' },
      spec: { ...policy(own.project, 1), legalHolds },
    }),
  ]
  for (const { status } of await Promise.allSettled(tried)) expect(status).toBe('rejected')
})

test('the operator of another class serves a resource only by grants of its class', async () => {
  await using second = await install('two', 'blue')
  const own = await evesPlace()
  await eve.apply(own.accounts, robot(account(own.project, { className: 'blue' })))
  await own.accounts.notReady('robot', 'NotGranted')
  await grantProject(cluster.server, own.namespace, own.project, { className: 'blue' })
  await own.accounts.ready('robot')
  expect(second.writes.some((what) => what.includes('/keys'))).toBe(true)
  // The sweep of the first class knows the account of neither the class nor the installation.
  await orphaned().then(noKeys)
  expect(await own.liveKeys()).toHaveLength(1)
  const change = eve.edit(own.accounts, 'robot', { spec: { className: 'default' } })
  await expect(change).rejects.toThrow('className is immutable')
})
