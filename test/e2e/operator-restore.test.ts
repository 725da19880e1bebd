import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { grantProject } from '../support/kube/grants.ts'
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

const policyOf = (projectRef: object, days = 9) => ({
  projectRef,
  resyncPeriod: '30s',
  ...{ traces: { days }, observations: { days } },
})
const accountOf = ({ project }: ProductPlace) => ({
  projectRef: { id: project },
  scopes: ['tasks:read'],
  keys: [{ name: 'main', secretName: 'key' }],
})

describe('a cluster that was restored from a backup', () => {
  test.each([
    ['with annotations', { annotated: true, secrets: 'kept' }],
    ['without annotations', { annotated: false, secrets: 'kept' }],
    ['without Secrets', { annotated: true, secrets: 'lost' }],
    ['with Secrets without an owner', { annotated: false, secrets: 'ownerless' }],
  ])(
    '%s: without status and with other uids, nothing is created twice',
    async (_how, { annotated, secrets }) => {
      const place = await productPlace(cluster)
      const before = await followed(place)
      for (const own of [place.policies, place.accounts]) await restore(own, annotated)
      await restoreSecret(place.namespace, secrets)
      await using _on = await productOperator(cluster, [place.namespace])
      const policy = await place.policies.ready('a')
      const account = await place.accounts.ready('a')
      expect(policy.metadata.uid).not.toBe(before.policy.metadata.uid)
      expect((await place.policy()).managed_by.uid).toBe(policy.metadata.uid)
      const found = await place.accountsInService()
      expect(found).toMatchObject([{ managed_by: { uid: account.metadata.uid } }])
      expect(account.status.serviceAccountId).toBe(before.account.status.serviceAccountId)
      await eventually('one key is good, and it is in the Secret', async () => {
        const [key, ...more] = await place.liveKeys()
        const secret = (await place.secrets()).get('key')
        const owner = secret?.metadata.ownerReferences?.[0]?.uid
        const isThere = secret?.data['api-key']?.startsWith(`${key?.prefix}_`)
        return more.length === 0 && isThere && owner === account.metadata.uid
      })
    },
  )
})

describe('two policies for one project', () => {
  test('one by its name and one by its id, both created before the operator: the older one', async () => {
    const place = await productPlace(cluster)
    const name = `project ${place.namespace}`
    const project = await cluster.service.project(name)
    await grantProject(cluster.server, place.namespace, { organization: 'default', name })
    await place.policies.apply('older', policyOf({ name }, 10))
    // Creation times have a resolution of a second.
    await eventually('a second has passed', async () => {
      const { metadata } = await place.policies.read('older')
      return Date.now() - Date.parse(metadata.creationTimestamp) > 1_100
    })
    await place.policies.apply('younger', policyOf({ id: project }, 20))
    await using _on = await productOperator(cluster, [place.namespace])
    await place.policies.ready('older')
    const refused = await place.policies.notReady('younger', 'Conflict')
    expect(readyOf(refused).message).toContain('older')
    const days = async () => {
      const asked = { project_id: project }
      const { body } = await cluster.service.call('GET', retentionPath, asked)
      return body.days.traces
    }
    await eventually('the older one is followed', async () => (await days()) === 10)
    await place.policies.remove('older')
    await place.policies.gone('older')
    await place.policies.ready('younger')
    expect(await days()).toBe(20)
  })

  test('in two namespaces: the same, and the service has no policy when both are deleted', async () => {
    const [one, two] = [await productPlace(cluster), await productPlace(cluster)]
    const projectRef = { id: one.project }
    await grantProject(cluster.server, two.namespace, one.project)
    await using _on = await productOperator(cluster, [one.namespace, two.namespace])
    await one.policies.apply('a', policyOf(projectRef, 10))
    await one.policies.ready('a')
    await eventually('a second has passed', async () => {
      const { metadata } = await one.policies.read('a')
      return Date.now() - Date.parse(metadata.creationTimestamp) > 1_100
    })
    await two.policies.apply('a', policyOf(projectRef, 20))
    await two.policies.notReady('a', 'Conflict')
    expect((await one.policy()).days.traces).toBe(10)
    for (const { policies } of [one, two]) {
      await policies.remove('a')
      await policies.gone('a')
    }
    expect(await one.policy()).toMatchObject({ days: { traces: null }, managed_by: null })
  })
})

const retentionPath = '/api/v2/observability/retention-policy'

async function followed(place: ProductPlace) {
  await using _on = await productOperator(cluster, [place.namespace])
  await place.policies.apply('a', policyOf({ id: place.project }))
  await place.accounts.apply('a', accountOf(place))
  return { policy: await place.policies.ready('a'), account: await place.accounts.ready('a') }
}

const jsonPatch = 'application/json-patch+json'

/** Deleted without the operator, and created from a backup, which never has a status. */
async function restore(own: Resources, annotated: boolean): Promise<void> {
  const { metadata, spec } = await own.read('a')
  const body = [{ op: 'remove', path: '/metadata/finalizers' }]
  await cluster.server.tell('PATCH', own.path('a'), { body, type: jsonPatch })
  await own.remove('a')
  await own.gone('a')
  const { annotations, finalizers } = metadata
  const { status, text } = await own.apply('a', spec, annotated ? { annotations, finalizers } : {})
  if (status >= 300) throw new Error(text)
}

/** No garbage collector runs here: a retained Secret names an owner that no longer exists. */
async function restoreSecret(namespace: string, how: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/secrets/key`
  if (how === 'lost') await cluster.server.tell('DELETE', path)
  if (how !== 'ownerless') return
  const body = [{ op: 'remove', path: '/metadata/ownerReferences' }]
  await cluster.server.tell('PATCH', path, { body, type: jsonPatch })
}
