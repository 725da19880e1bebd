import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { clusterValues, fullValues } from '../support/chart/chart-values.ts'
import { runCommands } from '../support/chart/guide-sections.ts'
import { startRegistry } from '../support/chart/registry.ts'
import { chart } from '../support/chart/render.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  operatorAccount,
  startApiServer,
} from '../support/kube/api-server.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'
import { areServed } from '../support/kube/resources.ts'
import { runRole } from '../support/service.ts'
import { soakOnly } from '../support/suite/budget.ts'

let server: ApiServer
beforeAll(async () => {
  server = await startApiServer({ users: [serviceAccount] })
}, apiServerStartTimeoutMs)
afterAll(() => server.stop())
afterEach(removeCrds)

/** For api and worker; the operator's pod has its token anyway. */
const serviceAccount = 'system:serviceaccount:looptrace-system:looptrace'

/** The API server refuses workloads whose pods the namespace would refuse. */
const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }

test('make chart pushes to a registry; installed from there without values, everything is in a restricted namespace', async () => {
  await using parts = new AsyncDisposableStack()
  const registry = await startRegistry()
  parts.defer(() => registry.stop())
  const url = `oci://${registry.host}/charts`
  const make = [`CHART_FOLDER=${server.directory}`, `CHART_REGISTRY=${url}`]
  await runCommands(`make chart ${make.join(' ')} CHART_PUSH_FLAGS=--plain-http`, { server })
  const pulled = join(server.directory, 'pulled')
  await mkdir(pulled)
  await helm('pull', `${url}/looptrace`, '--plain-http', '--destination', pulled)
  const [name = ''] = await readdir(pulled)
  expect(await readFile(join(pulled, name))).toEqual(await readFile(join(server.directory, name)))

  const namespace = await server.namespace(restricted)
  const from = [`${url}/looptrace`, '--plain-http']
  const notes = await helm('install', 'looptrace', ...from, '-n', namespace)
  expect(notes).toContain(`let the pods of namespace ${namespace} call`)
  expect(notes).toContain(`rollout status statefulset/looptrace`)
  expect(notes).toContain('helm test looptrace')
  expect(await names('statefulsets', namespace)).toEqual(['looptrace'])
  await uninstall(namespace)
})

test('everything of cluster mode is installed in a restricted namespace', async () => {
  const namespace = await server.namespace(restricted)
  for (const team of fullValues.operator.namespaces) await makeNamespace(team)
  await helm('install', 'looptrace', chart, '-n', namespace, ...(await valuesFile(fullValues)))
  const roles = ['api', 'operator', 'proxy', 'worker'].map((role) => `looptrace-${role}`)
  expect(await names('deployments', namespace)).toEqual(roles)
  expect(await names('poddisruptionbudgets', namespace)).toEqual(roles)
  expect(await names('networkpolicies', namespace)).toEqual(roles)
  expect(await names('configmaps', namespace)).toEqual(
    expect.arrayContaining(['looptrace-dashboard', 'looptrace-two', 'one']),
  )
  for (const team of fullValues.operator.namespaces) {
    expect(await names('roles', team)).toEqual(['looptrace-operator'])
  }
  expect(await clusterNames('clusterroles', namespace)).toEqual([
    `${namespace}-looptrace-grants`,
    `${namespace}-looptrace-presence`,
  ])
  await uninstall(namespace)
  for (const team of fullValues.operator.namespaces) expect(await names('roles', team)).toEqual([])
})

test('the operator has exactly the permissions that it needs, in its namespaces only', async () => {
  const namespace = 'looptrace-system'
  await makeNamespace(namespace)
  const team = await server.namespace()
  const values = { ...clusterValues, operator: { namespaces: [team] } }
  await helm('install', 'looptrace', chart, '-n', namespace, ...(await valuesFile(values)))
  const may = async (user: string, verb: string, what: string, where: string) => {
    const asked = ['auth', 'can-i', verb, what, '-n', where]
    const { stdout, stderr } = await server.kubectl(asked, { user })
    if (stdout === '') throw new Error(stderr)
    return stdout.slice(0, 3).trim()
  }
  const lease = 'leases.coordination.k8s.io/looptrace-operator'
  expect(await may(operatorAccount, 'watch', 'retentionpolicies.looptrace.dev', team)).toBe('yes')
  expect(await may(operatorAccount, 'create', 'secrets', team)).toBe('yes')
  expect(await may(operatorAccount, 'update', lease, namespace)).toBe('yes')
  expect(await may(operatorAccount, 'get', 'secrets', namespace)).toBe('no')
  expect(await may(operatorAccount, 'list', 'pods', team)).toBe('no')
  expect(await may(operatorAccount, 'list', 'leases.coordination.k8s.io', team)).toBe('yes')
  expect(await may(operatorAccount, 'get', 'leases.coordination.k8s.io/a', team)).toBe('no')
  expect(await may(operatorAccount, 'delete', lease, namespace)).toBe('no')
  expect(await may(operatorAccount, 'get', 'namespaces/kube-system', team)).toBe('yes')
  expect(await may(operatorAccount, 'delete', 'retentionpolicies.looptrace.dev', team)).toBe('no')
  expect(await may(operatorAccount, 'watch', 'projectgrants.looptrace.dev', team)).toBe('yes')
  expect(await may(operatorAccount, 'watch', 'namespaces', team)).toBe('yes')
  expect(await may(operatorAccount, 'delete', 'namespaces', team)).toBe('no')
  expect(await may(serviceAccount, 'create', 'projectgrants.looptrace.dev', team)).toBe('no')
  expect(await may(serviceAccount, 'get', 'secrets/looptrace-bootstrap', namespace)).toBe('yes')
  expect(await may(serviceAccount, 'get', 'secrets/others', namespace)).toBe('no')
  expect(await may(serviceAccount, 'list', 'secrets', namespace)).toBe('no')
  await uninstall(namespace)
})

test('an upgrade keeps the Secret, the volume and the resources; so does the uninstall', async () => {
  const namespace = await server.namespace(restricted)
  await helm('install', 'looptrace', await chartOfVersion('0.0.9'), '-n', namespace)
  // Objects that the pod would create: the init container's Secret, and the claim of the
  // StatefulSet.
  const made = await runRole('migrate secret', {
    KUBECONFIG: await server.kubeconfig(),
    LOOPTRACE_BOOTSTRAP_SECRET: `${namespace}/looptrace-bootstrap`,
  })
  expect(made).toMatchObject({ status: 0 })
  await makeClaim(namespace)
  await apply(retentionPolicy(namespace))
  const before = await keptObjects(namespace)
  const template = await claimTemplate(namespace)

  await helm('upgrade', 'looptrace', chart, '-n', namespace, '--set', 'settings.log_level=debug')
  expect(await keptObjects(namespace)).toEqual(before)
  expect(await claimTemplate(namespace)).toEqual(template)
  const again = await runRole('migrate secret', {
    KUBECONFIG: await server.kubeconfig(),
    LOOPTRACE_BOOTSTRAP_SECRET: `${namespace}/looptrace-bootstrap`,
  })
  expect(again.status).toBe(0)
  expect(await keptObjects(namespace)).toEqual(before)

  await uninstall(namespace)
  expect(await keptObjects(namespace)).toEqual(before)
})

test(
  'a change of mode is refused before anything is changed, in both directions, until it is acknowledged',
  soakOnly(
    'Seven runs of helm; chart-refusals.test.ts shows refusals of values, and the upgrade above changes a release.',
  ),
  async () => {
    const namespace = await server.namespace(restricted)
    await helm('install', 'looptrace', chart, '-n', namespace)
    await helm('upgrade', 'looptrace', chart, '-n', namespace)
    await makeClaim(namespace)
    const embedded = ['upgrade', 'looptrace', chart, '-n', namespace, '--reset-values']
    const cluster = [...embedded, ...(await valuesFile(clusterValues))]
    await isRefused(namespace, cluster, 'looptrace-is-embedded.change-needs-acknowledge')

    await helm(...cluster, '--set', 'acknowledge.embeddedDataStays=true')
    expect(await names('statefulsets', namespace)).toEqual([])
    expect(await names('deployments', namespace)).toHaveLength(4)
    expect(await names('persistentvolumeclaims', namespace)).toEqual(['data-looptrace-0'])
    // From now on the release is in cluster mode, and the value is not needed any longer.
    await helm(...cluster)
    await isRefused(namespace, embedded, 'looptrace-is-cluster.change-needs-acknowledge')
    await helm(...embedded, '--set', 'acknowledge.embeddedDataStays=true')
    const [volume] = (await objects('statefulsets', namespace))[0].spec.volumeClaimTemplates
    expect(`${volume.metadata.name}-looptrace-0`).toBe('data-looptrace-0')
    await uninstall(namespace)
  },
)

/** Expects that an upgrade fails with a text, and leaves every object of the namespace as it was. */
async function isRefused(namespace: string, upgrade: string[], text: string): Promise<void> {
  const before = await versions(namespace)
  const { status, stderr } = await server.helm(upgrade)
  expect(status).not.toBe(0)
  expect(stderr).toContain(text)
  expect(await versions(namespace)).toEqual(before)
}

/** Names and versions of all objects of a namespace, without the records of Helm. */
async function versions(namespace: string): Promise<string[]> {
  const all = await Promise.all(Object.keys(paths).map((plural) => objects(plural, namespace)))
  return all
    .flat()
    .filter(({ type }) => type !== 'helm.sh/release.v1')
    .map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
}

test('without crds.keep the CRDs are deleted with the release', async () => {
  const namespace = await server.namespace(restricted)
  await helm('install', 'looptrace', chart, '-n', namespace, '--set', 'crds.keep=false')
  expect(await crds()).not.toEqual([])
  await areAllServed()
  await helm('uninstall', 'looptrace', '-n', namespace)
  await noCrds()
})

/** Expects that everything except the kept objects is deleted. */
async function uninstall(namespace: string): Promise<void> {
  await helm('uninstall', 'looptrace', '-n', namespace)
  expect(await crds()).not.toEqual([])
  for (const plural of Object.keys(paths)) {
    const ours = await objects(plural, namespace)
    const left = ours.filter(({ metadata }) => !keptNames.has(metadata.name))
    expect(left.map(({ metadata }) => `${plural}/${metadata.name}`)).toEqual([])
  }
  for (const plural of ['clusterroles', 'clusterrolebindings']) {
    expect(await clusterNames(plural, namespace)).toEqual([])
  }
}

const keptNames = new Set([
  'looptrace-bootstrap',
  'data-looptrace-0',
  'kube-root-ca.crt',
  'default',
])

const rbac = 'apis/rbac.authorization.k8s.io/v1'
const paths: Record<string, string> = {
  secrets: 'api/v1',
  configmaps: 'api/v1',
  services: 'api/v1',
  serviceaccounts: 'api/v1',
  persistentvolumeclaims: 'api/v1',
  pods: 'api/v1',
  statefulsets: 'apis/apps/v1',
  deployments: 'apis/apps/v1',
  roles: rbac,
  rolebindings: rbac,
  networkpolicies: 'apis/networking.k8s.io/v1',
  ingresses: 'apis/networking.k8s.io/v1',
  poddisruptionbudgets: 'apis/policy/v1',
  horizontalpodautoscalers: 'apis/autoscaling/v2',
}

async function objects(plural: string, namespace: string): Promise<KubeObject[]> {
  const { items } = await server.tell('GET', `/${paths[plural]}/namespaces/${namespace}/${plural}`)
  return items
}

async function names(plural: string, namespace: string): Promise<string[]> {
  return (await objects(plural, namespace)).map(({ metadata }) => metadata.name).toSorted()
}

async function clusterNames(plural: string, namespace: string): Promise<string[]> {
  const { items } = await server.tell('GET', `/${rbac}/${plural}`)
  return items
    .map(({ metadata }: KubeObject) => metadata.name)
    .filter((name: string) => name.startsWith(namespace))
    .toSorted()
}

async function crds(): Promise<string[]> {
  const { items } = await server.tell(
    'GET',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  )
  return items.map(({ metadata }: KubeObject) => metadata.name)
}

async function noCrds(): Promise<void> {
  await eventually('the CRDs are gone', async () => (await crds()).length === 0)
}

/** Every kind with an installed CRD. */
async function areAllServed(): Promise<void> {
  for (const name of await crds()) await areServed(server, name.slice(0, name.indexOf('.')))
}

/** As the notes describe. */
async function removeCrds(): Promise<void> {
  await areAllServed()
  const asked = ['delete', 'crd', '-l', 'app.kubernetes.io/part-of=looptrace']
  expect(await server.kubectl([...asked, '--wait=false'])).toMatchObject({ status: 0 })
  await noCrds()
}

async function helm(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await server.helm(args)
  if (status !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`)
  return stdout
}

async function valuesFile(values: object): Promise<string[]> {
  const file = join(server.directory, `values-${crypto.randomUUID()}.json`)
  await writeFile(file, JSON.stringify(values))
  return ['--values', file]
}

/** An earlier version of the chart: its own templates under another version. */
async function chartOfVersion(version: string): Promise<string> {
  const folder = join(server.directory, `looptrace-${version}`)
  await cp(chart, folder, { recursive: true })
  const file = join(folder, 'Chart.yaml')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/^version: .*$/m, `version: ${version}`))
  return folder
}

async function makeNamespace(name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await server.ask('POST', '/api/v1/namespaces', { body })
}

/** A real server refuses a change of it. */
async function claimTemplate(namespace: string): Promise<KubeObject> {
  const [statefulSet] = await objects('statefulsets', namespace)
  return statefulSet.spec.volumeClaimTemplates[0]
}

/** The claim that a StatefulSet controller would create; none runs here. */
async function makeClaim(namespace: string): Promise<void> {
  const { metadata, spec } = await claimTemplate(namespace)
  const name = `${metadata.name}-looptrace-0`
  await server.tell('POST', `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
    body: {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec },
      metadata: { ...metadata, name, namespace },
    },
  })
}

function retentionPolicy(namespace: string): string {
  return JSON.stringify({
    apiVersion: 'looptrace.dev/v1alpha1',
    kind: 'RetentionPolicy',
    metadata: { name: 'keep', namespace },
    spec: { projectRef: { name: 'default' }, content: { days: 30 } },
  })
}

async function apply(input: string): Promise<void> {
  const { status, stderr } = await server.kubectl(['apply', '-f', '-'], { input })
  if (status !== 0) throw new Error(stderr)
}

/** The objects that must survive upgrade and uninstall, without server-side counters. */
async function keptObjects(namespace: string): Promise<unknown> {
  const policies = await server.tell(
    'GET',
    `/apis/looptrace.dev/v1alpha1/namespaces/${namespace}/retentionpolicies`,
  )
  const secrets = (await objects('secrets', namespace)).filter(({ type }) => type === 'Opaque')
  const claims = await objects('persistentvolumeclaims', namespace)
  return [...policies.items, ...secrets, ...claims].map(({ kind, metadata, spec, data }) => ({
    ...{ kind, spec, data },
    ...{ name: metadata.name, uid: metadata.uid },
  }))
}
