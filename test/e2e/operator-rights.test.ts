import { afterAll, beforeAll, expect, test } from 'vitest'
import { kinds } from '../../src/operator/index.ts'
import { incidentRuleKind } from '../../src/operator/kinds/incident-rule/index.ts'
import { notificationChannelKind } from '../../src/operator/kinds/notification-channel/index.ts'
import { projectKind } from '../../src/operator/kinds/project/index.ts'
import { projectMemberKind } from '../../src/operator/kinds/project-member/index.ts'
import { releasePolicyKind } from '../../src/operator/kinds/release-policy/index.ts'
import { renderedObjects } from '../support/chart/render.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  startApiServer,
} from '../support/kube/api-server.ts'
import { grantProject } from '../support/kube/grants.ts'
import { type OperatedService, startOperatedService } from '../support/kube/operated-service.ts'
import { startTestOperator, type TestOperator } from '../support/kube/operator.ts'
import { grant, type Rule, without } from '../support/kube/operator-rules.ts'
import { type ProductPlace, productPlace } from '../support/kube/product-cluster.ts'
import { installKinds, readyOf, resourcesOf } from '../support/kube/resources.ts'
import { quarterOf } from '../support/suite/budget.ts'

/** Each permission of the chart's own role, and the operator's report when it is missing. */
const rules = await chartRules()
const rights = rules.flatMap(({ resources, verbs }) =>
  resources.flatMap((resource) => verbs.map((verb) => ({ verb, resource }))),
)
const userOf = (n: number) => `system:serviceaccount:agents:one-short-${n}`

/**
 * Permissions that normal operation does not need: a read after a conflict, an admission plug-in
 * that few clusters enable, events that are aggregated into series, grants by label, and grants of
 * the installation.
 */
const seldom = new Set([
  ...kinds.flatMap(({ plural }) => [`get ${plural}`, `update ${plural}/finalizers`]),
  'patch events',
  ...['get', 'list', 'watch'].map((verb) => `${verb} namespaces`),
  ...['create', 'delete'].map((verb) => `${verb} projectgrants`),
])

let server: ApiServer
let service: OperatedService

beforeAll(async () => {
  server = await startApiServer({ users: rights.map((_, n) => userOf(n)) })
  await installKinds(server, kinds)
  service = await startOperatedService()
}, apiServerStartTimeoutMs)
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

test('the chart grants permissions by name, without wildcards', () => {
  expect(rights.length).toBeGreaterThan(15)
  expect(rights.flatMap(({ verb, resource }) => [verb, resource])).not.toContain('*')
})

test.concurrent.each(quarterOf(rights.map((right, n) => ({ ...right, n }))))(
  'without $verb on $resource, which the chart’s role has, the operator reports exactly that',
  async ({ verb, resource, n }) => {
    const user = userOf(n)
    await grant(server, without(rules, verb, resource), user)
    const place = await productPlace({ server, service })
    const made = { organization: 'default', name: `made in ${place.namespace}` }
    await grantProject(server, place.namespace, made)
    await using operator = startTestOperator({
      kubeconfig: await server.kubeconfig(user),
      service_url: service.url,
      service_key: service.operator_key,
      ...{ kinds, settings: { namespaces: [place.namespace] } },
    })
    const [plural, part] = resource.split('/')
    const phrase = new RegExp(
      `\\b${verb} ${plural}[a-z.]*${part === undefined ? '\\b' : `/${part}`}`,
    )
    const names = (text: string) => phrase.test(text)
    const isTold = () => operator.logged().split('\n').some(names)
    if (seldom.has(`${verb} ${resource}`)) {
      await live(place)
      return
    }
    const lived = live(place).catch(() => undefined)
    await eventually(`${verb} ${resource} is named`, () => isTold() || conditionsName(place, names))
    await grant(server, rules, user)
    await lived
    await expectNothingLeft(place, operator)
  },
)

/**
 * Everything that happens to resources: they are created, changed, lose a Secret and are deleted.
 */
async function live(place: ProductPlace): Promise<void> {
  const { policies, accounts, project, namespace } = place
  const { projects, members, incidentRules, channels, releasePolicies } = declaredIn(namespace)
  const projectRef = { id: project }
  await projects.apply('a', { organization: 'default', name: `made in ${namespace}` })
  await members.apply('a', { projectRef, email: `ada@${namespace}.example`, role: 'viewer' })
  const account = {
    ...{ projectRef, scopes: ['tasks:read'] },
    keys: [{ name: 'main', secretName: 'key' }],
  }
  await policies.apply('a', { projectRef, traces: { days: 9 }, observations: { days: 9 } })
  await accounts.apply('a', account)
  await channels.apply('a', { projectRef, email: { to: [`ada@${namespace}.example`] } })
  // Rules of events are in force once they are stored.
  const event = { match: { source: 'finding' } }
  await incidentRules.apply('a', { projectRef, severity: 'high', event, notify: ['a'] })
  const gates = [{ metric: 'loop_rate', kind: 'absolute', threshold: '0.1' }]
  await releasePolicies.apply('a', { projectRef, gates })
  const others = [projects, incidentRules, releasePolicies]
  await Promise.all([policies, accounts, ...others].map((own) => own.ready('a')))
  // The service of this test sends no mails, and the channel and the member say so.
  await eventually('the channel is applied', async () => {
    return readyOf(await channels.read('a'))?.reason === 'MailNotConfigured'
  })
  await eventually('the member has an invitation', async () => {
    return readyOf(await members.read('a'))?.reason === 'LinkNotSent'
  })
  const before = (await place.secrets()).get('key')?.data['api-key']
  await server.tell('PATCH', `/api/v1/namespaces/${namespace}/secrets/key`, {
    body: { stringData: { 'api-key': 'mine' } },
    type: 'application/merge-patch+json',
  })
  await eventually('the key has changed', async () => {
    const now = (await place.secrets()).get('key')?.data['api-key']
    return now !== 'mine' && now !== before
  })
  for (const own of allIn(place)) await own.remove('a')
  await Promise.all(allIn(place).map((own) => own.gone('a')))
}

/** The projects, members, rules, channels and release policies that resources of a namespace declare. */
function declaredIn(namespace: string) {
  return {
    projects: resourcesOf(server, projectKind, namespace),
    members: resourcesOf(server, projectMemberKind, namespace),
    incidentRules: resourcesOf(server, incidentRuleKind, namespace),
    channels: resourcesOf(server, notificationChannelKind, namespace),
    releasePolicies: resourcesOf(server, releasePolicyKind, namespace),
  }
}

function allIn({ policies, accounts, namespace }: ProductPlace) {
  return [policies, accounts, ...Object.values(declaredIn(namespace))]
}

async function conditionsName(place: ProductPlace, names: (text: string) => boolean) {
  const all = await Promise.all(allIn(place).map((own) => own.read('a')))
  return all.some((resource) => names(String(readyOf(resource)?.message ?? '')))
}

/** With the permission, the operator completes everything. */
async function expectNothingLeft(place: ProductPlace, operator: TestOperator): Promise<void> {
  for (const own of allIn(place)) {
    if ((await own.read('a')) === undefined) continue
    await own.remove('a')
    await own.gone('a')
  }
  const left = [await place.accountsInService(), await place.liveKeys()]
  expect([...left, [...(await place.secrets()).keys()]], operator.logged()).toEqual([[], [], []])
  expect((await place.policy()).managed_by).toBeNull()
}

test('with the chart’s roles the operator announces its presence, and no other Lease', async () => {
  const home = 'agents'
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } }
  await server.tell('POST', '/api/v1/namespaces', { body })
  const roles = (await renderedObjects()).filter(({ kind, metadata }) =>
    kind === 'Role' ? metadata.name.endsWith('-lease') : metadata.name.endsWith('-presence'),
  )
  const granted = roles.flatMap((role): Rule[] => role.rules ?? [])
  const user = userOf(0)
  await grant(server, [...rules, ...granted], user)
  const place = await productPlace({ server, service })
  const presence = { namespace: home, name: 'looptrace', ...leaseTimes }
  const operator = startTestOperator({
    kubeconfig: await server.kubeconfig(user),
    service_url: service.url,
    service_key: service.operator_key,
    ...{ kinds, settings: { namespaces: [place.namespace], presence } },
  })
  const path = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases`
  try {
    const projectRef = { id: place.project }
    await place.accounts.apply('robot', { projectRef, scopes: ['tasks:read'] })
    await place.accounts.ready('robot')
    const { items } = await server.tell('GET', path)
    const named = granted.flatMap((rule) => ('resourceNames' in rule ? rule.resourceNames : []))
    expect(named).toContain(items[0]?.metadata.name)
    expect(items).toHaveLength(1)
  } finally {
    await operator.stop()
  }
  expect((await server.tell('GET', path)).items).toEqual([])
})

const leaseTimes = { lease_ms: 15_000, renew_deadline_ms: 10_000, retry_ms: 2_000 }

/** The permissions that the chart grants to its operator, apart from its Lease. */
async function chartRules(): Promise<Rule[]> {
  const objects = await renderedObjects()
  const roles = objects.filter(
    ({ kind, metadata }) => kind === 'ClusterRole' && /-(operator|grants)$/.test(metadata.name),
  )
  if (roles.length !== 2) throw new Error('the chart has no ClusterRoles for its operator')
  return roles.flatMap(({ rules: own }) => own)
}
