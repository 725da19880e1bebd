import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import {
  type AccountCluster,
  type AccountPlace,
  accountPlace,
  operatorOf,
  sharedAccountCluster,
} from '../support/kube/declared-accounts.ts'
import { grantProject } from '../support/kube/grants.ts'
import { type OperatedService, startOperatedService } from '../support/kube/operated-service.ts'
import type { TestOperator } from '../support/kube/operator.ts'
import { readyOf } from '../support/kube/resources.ts'

/** One cluster, and two services with a project of the same id. */
let cluster: AccountCluster
let second: OperatedService

beforeAll(async () => {
  cluster = await sharedAccountCluster()
  second = await startOperatedService()
}, apiServerStartTimeoutMs)
afterAll(async () => {
  await second?.[Symbol.asyncDispose]()
  await cluster?.[Symbol.asyncDispose]()
})

/** Times of the presence: with a clock of ten times the speed a Lease expires after 1.5 s. */
const times = 10
const lease = { lease_ms: 15_000, renew_deadline_ms: 10_000, retry_ms: 2_000 }

type Place = AccountPlace & { home: string }

/** A namespace whose project both services have, and a namespace for the Leases. */
async function createPlace(): Promise<Place> {
  const on = await accountPlace(cluster)
  const { id: organization_id } = await second.db
    .selectFrom('organizations')
    .select('id')
    .executeTakeFirstOrThrow()
  const values = { id: on.project, organization_id, name: on.project }
  await second.db.insertInto('projects').values(values).execute()
  return { ...on, home: await cluster.server.namespace() }
}

type Installed = {
  name: string
  class_name?: string
  namespaces?: string[]
  service?: OperatedService
}

/** An operator of an installation, of the first service unless it names another. */
const install = (on: Place, { name, class_name = 'default', namespaces, service }: Installed) =>
  operatorOf({ ...cluster, service: service ?? cluster.service }, on, {
    times,
    settings: {
      ...(namespaces && { namespaces }),
      class_name,
      presence: { namespace: on.home, name, ...lease },
    },
  })

const specOf = ({ project }: AccountPlace, more: object = {}) => ({
  projectRef: { id: project },
  resyncPeriod: '30s',
  scopes: ['tasks:read'],
  keys: [{ name: 'main', secretName: 'robot-key' }],
  ...more,
})

const keysEver = (on: AccountPlace, service: OperatedService) =>
  service.db
    .selectFrom('api_keys')
    .select('id')
    .where('project_id', '=', on.project)
    .execute()
    .then(({ length }) => length)

const conflictOf = async ({ metrics }: TestOperator) => {
  const { body } = await metrics.expose()
  return Number(/^looptrace_operator_class_conflict\{.*\} (\d)$/m.exec(body)?.[1])
}

const presences = async (on: Place) => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${on.home}/leases`
  return (await cluster.server.tell('GET', path)).items
}

test('two installations of one class, started together: neither writes until the other is gone', async () => {
  const on = await createPlace()
  await on.accounts.apply('robot', specOf(on))
  const [one, two] = await Promise.all([
    install(on, { name: 'one' }),
    install(on, { name: 'two', service: second }),
  ])
  await using _ended = one
  await eventually(
    'both notice',
    async () => (await conflictOf(one)) + (await conflictOf(two)) === 2,
  )
  await sleep(2_000)
  expect([...one.writes, ...two.writes].filter((what) => !what.endsWith('events'))).toEqual([])
  expect([await keysEver(on, cluster.service), await keysEver(on, second)]).toEqual([0, 0])
  for (const { logged } of [one, two]) expect(logged()).toMatch(/another installation.*class/)
  const leases = await presences(on)
  expect(leases.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
    expect.stringMatching(/^looptrace-default-[0-9a-f]{8}$/),
    expect.stringMatching(/^looptrace-default-[0-9a-f]{8}$/),
  ])
  const events = await cluster.server.tell(
    ...(['GET', `/apis/events.k8s.io/v1/namespaces/${on.home}/events`] as const),
  )
  expect(events.items.map(({ reason }: { reason: string }) => reason)).toContain('ClassConflict')
  await two.stop()
  expect(await presences(on)).toHaveLength(1)
  await on.accounts.ready('robot')
  expect([await keysEver(on, cluster.service), await keysEver(on, second)]).toEqual([1, 0])
  expect(await conflictOf(one)).toBe(0)
})

test('a second installation of the class stops both; the first continues when the second is killed', async () => {
  const on = await createPlace()
  await using one = await install(on, { name: 'one' })
  await on.accounts.apply('robot', specOf(on))
  await on.accounts.ready('robot')
  const key = String((await on.secret('robot-key'))?.data['api-key'])
  const two = await install(on, { name: 'two', service: second })
  await eventually(
    'both notice',
    async () => (await conflictOf(one)) + (await conflictOf(two)) === 2,
  )
  await on.accounts.apply('robot', specOf(on, { scopes: ['query:run'] }))
  await sleep(1_500)
  expect(await on.inService()).toMatchObject([{ scopes: ['tasks:read'] }])
  // A kill leaves the Lease, which expires.
  const [{ metadata }] = (await presences(on)).filter(
    (presence: { metadata: { annotations: Record<string, string> } }) =>
      presence.metadata.annotations['looptrace.dev/installation-name'] === 'two',
  )
  await two.stop()
  await cluster.server.tell('POST', `/apis/coordination.k8s.io/v1/namespaces/${on.home}/leases`, {
    body: {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: {
        ...metadata,
        uid: undefined,
        resourceVersion: undefined,
        managedFields: undefined,
      },
      spec: { holderIdentity: 'killed', leaseDurationSeconds: 15 },
    },
  })
  await eventually('the spec is applied', async () => {
    const [account] = await on.inService()
    return account.scopes.includes('query:run')
  })
  expect(await on.isGood(key)).toBe(true)
  expect([await keysEver(on, cluster.service), await keysEver(on, second)]).toEqual([1, 0])
})

test('installations of two classes, or of other namespaces, work side by side', async () => {
  const on = await createPlace()
  const other = await accountPlace(cluster)
  await using one = await install(on, { name: 'one' })
  await using two = await install(on, { name: 'two', service: second, class_name: 'staging' })
  await using three = await install(on, { name: 'three', namespaces: [other.namespace] })
  await grantProject(cluster.server, on.namespace, on.project, { className: 'staging' })
  await on.accounts.apply('robot', specOf(on, { className: '' }))
  const keys = [{ name: 'main', secretName: 'second-key' }]
  await on.accounts.apply('staged', specOf(on, { className: 'staging', keys }))
  await other.accounts.apply('robot', specOf(other))
  const foreign = await on.accounts.apply('foreign', specOf(on, { className: 'unserved' }))
  expect(foreign.status).toBe(201)
  for (const name of ['robot', 'staged']) await on.accounts.ready(name)
  await other.accounts.ready('robot')
  await sleep(2_000)
  expect([await keysEver(on, cluster.service), await keysEver(on, second)]).toEqual([1, 1])
  const ignored = await on.accounts.read('foreign')
  expect(ignored.metadata.finalizers).toBeUndefined()
  expect(readyOf(ignored).reason).toBe('Pending')
  for (const operator of [one, two, three]) expect(await conflictOf(operator)).toBe(0)
  const moved = await on.accounts.apply('robot', specOf(on, { className: 'staging' }))
  expect([moved.status, moved.text]).toEqual([
    422,
    expect.stringContaining('className is immutable'),
  ])
  const [account] = await on.inService()
  const kubeSystem = await cluster.server.tell('GET', '/api/v1/namespaces/kube-system')
  expect(account.managed_by).toMatchObject({
    ...{ cluster: kubeSystem.metadata.uid, installation: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
  const secret = await on.secret('robot-key')
  expect(secret?.metadata.labels['looptrace.dev/installation']).toBe(
    account.managed_by.installation,
  )
})

test('accounts and Secrets of an earlier version are adopted; those of another installation never', async () => {
  const on = await createPlace()
  {
    await using _early = await operatorOf(cluster, on)
    await on.accounts.apply('robot', specOf(on))
    await on.accounts.ready('robot')
  }
  const key = String((await on.secret('robot-key'))?.data['api-key'])
  {
    await using _one = await install(on, { name: 'one' })
    await eventually('the account is adopted', async () => {
      const [account] = await on.inService()
      const secret = await on.secret('robot-key')
      const label = secret?.metadata.labels['looptrace.dev/installation']
      return label !== undefined && label === account.managed_by.installation
    })
    expect(String((await on.secret('robot-key'))?.data['api-key'])).toBe(key)
  }
  await using two = await install(on, { name: 'two' })
  await on.accounts.notReady('robot', 'Conflict')
  await on.accounts.remove('robot')
  await sleep(1_000)
  expect(String((await on.secret('robot-key'))?.data['api-key'])).toBe(key)
  expect(await on.isGood(key)).toBe(true)
  expect(await keysEver(on, cluster.service)).toBe(1)
  expect(two.writes.filter((what) => /service-accounts|api-keys/.test(what))).toEqual([])
})

test('a Lease that claims to be an installation of another namespace is ignored', async () => {
  const on = await createPlace()
  const tenant = await cluster.server.namespace()
  await cluster.server.tell('POST', `/apis/coordination.k8s.io/v1/namespaces/${tenant}/leases`, {
    body: {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: {
        ...{ name: 'looptrace-default-00000000', namespace: tenant },
        labels: {
          'looptrace.dev/class': 'default',
          'looptrace.dev/installation': '11111111-1111-4111-8111-111111111111',
        },
        annotations: { 'looptrace.dev/installation-name': 'looptrace' },
      },
      spec: { holderIdentity: 'tenant', leaseDurationSeconds: 2_000_000_000 },
    },
  })
  await using operator = await install(on, { name: 'one' })
  await on.accounts.apply('robot', specOf(on))
  await on.accounts.ready('robot')
  expect(await conflictOf(operator)).toBe(0)
})
