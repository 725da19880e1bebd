import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import {
  type ProductCluster,
  productOperator,
  productPlace,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { readyOf } from '../support/kube/resources.ts'

/** Resources of the release before ProjectGrants, and the steps of `docs/guides/upgrade.md`. */
const examples = join(import.meta.dirname, '../fixtures/before-grants')
const guide = join(import.meta.dirname, '../../docs/guides/upgrade.md')
const lease = { lease_ms: 300_000, renew_deadline_ms: 240_000, retry_ms: 2_000 }

let cluster: ProductCluster

beforeAll(async () => {
  cluster = await sharedProductCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

async function kubectl(...args: string[]): Promise<string> {
  const { stdout, stderr, status } = await cluster.server.kubectl(args)
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

const applyExamples = (namespace: string) => kubectl('apply', '-n', namespace, '-f', examples)

/** Applies the grant that the guide shows, to a namespace. */
async function applyGrant(namespace: string): Promise<void> {
  const blocks = (await readFile(guide, 'utf8')).matchAll(/```yaml\n([^`]*)```/g)
  const grant = [...blocks].map(([, text]) => text).find((text) => text?.includes('ProjectGrant'))
  const file = join(cluster.server.directory, 'my-grants.yaml')
  await writeFile(file, String(grant).replaceAll('team-a', namespace))
  await kubectl('apply', '-f', file)
}

test('its examples are accepted, wait for a grant, and are Ready with the grant of the guide', async () => {
  const own = await productPlace(cluster, { isGranted: false })
  await using _ = await productOperator(cluster, [own.namespace])
  expect(await applyExamples(own.namespace)).toMatch(/created[\s\S]*created/)
  await own.accounts.notReady('checkout-agent', 'NotGranted')
  await own.policies.notReady('default', 'NotGranted')
  await applyGrant(own.namespace)
  await own.accounts.ready('checkout-agent')
  const { status } = await own.policies.ready('default')
  expect(status).toMatchObject({ heldCount: 1, grant: { name: expect.any(String) } })
  expect([...(await own.secrets()).keys()]).toEqual(['checkout-agent-key'])
  await applyExamples(own.namespace)
  expect((await own.accounts.ready('checkout-agent')).metadata.generation).toBe(1)
  expect((await own.policies.ready('default')).metadata.generation).toBe(1)
  await own.policies.remove('default')
  await own.accounts.remove('checkout-agent')
  await Promise.all([own.policies.gone('default'), own.accounts.gone('checkout-agent')])
})

test('a resource that was Ready keeps its key for an hour, and for good with the grant', async () => {
  const own = await productPlace(cluster, { isGranted: false })
  const { server } = cluster
  // An operator without a presence is one of the earlier release: objects have no installation.
  const grant = await grantProject(server, own.namespace, {
    ...{ organization: 'default', name: 'default' },
  })
  const earlier = await productOperator(cluster, [own.namespace])
  await applyExamples(own.namespace)
  const { status } = await own.accounts.ready('checkout-agent')
  await own.policies.ready('default')
  await earlier.stop()
  await grantsOf(server).remove(grant)
  for (const path of [own.accounts.path('checkout-agent'), own.policies.path('default')]) {
    const type = 'application/merge-patch+json'
    await server.tell('PATCH', `${path}/status`, { type, body: { status: { grant: null } } })
  }
  const key = (await own.secrets()).get('checkout-agent-key')?.data['api-key']

  const namespaces = [own.namespace]
  const presence = { namespace: own.namespace, name: 'looptrace', ...lease }
  await using _ = await productOperator(cluster, namespaces, { settings: { namespaces, presence } })
  const waiting = await own.accounts.notReady('checkout-agent', 'NotGranted')
  const { since, revokeAt } = waiting.status.withdrawal
  expect(Date.parse(revokeAt) - Date.parse(since)).toBe(3_600_000)
  expect(readyOf(waiting)?.message).toContain('Keys are revoked')
  const listed = await kubectl(
    ...['get', 'retentionpolicies,looptraceserviceaccounts', '--all-namespaces', '-o'],
    'custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,PROJECT:.status.projectId',
  )
  expect(listed).toMatch(new RegExp(`${own.namespace} +checkout-agent +${status.projectId}`))

  await applyGrant(own.namespace)
  const ready = await own.accounts.ready('checkout-agent')
  await own.policies.ready('default')
  expect(ready.status.withdrawal).toBeUndefined()
  const [{ keyId, secretName }] = status.keys
  expect(ready.status.keys).toMatchObject([{ keyId, secretName }])
  expect((await own.secrets()).get('checkout-agent-key')?.data['api-key']).toBe(key)
})
