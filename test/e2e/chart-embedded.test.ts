import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guideSections, runCommands } from '../support/chart/guide-sections.ts'
import { type Kubelet, startKubelet } from '../support/chart/kubelet.ts'
import { type PodOptions, podDirectory } from '../support/chart/pod-processes.ts'
import { providerSettings } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  startApiServer,
} from '../support/kube/api-server.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'
import { startProviderProcess } from '../support/provider.ts'

/**
 * docs/guides/install-on-kubernetes.md, word for word. Only `port-forward` is left out: ports of
 * pods are ports of this machine here, and differ from those of the guide.
 */
const namespace = 'looptrace'
const user = `system:serviceaccount:${namespace}:looptrace`
const parts = new AsyncDisposableStack()
let server: ApiServer
let options: PodOptions
let kubelet: Kubelet
let sections: Map<string, string>

beforeAll(async () => {
  sections = await guideSections('docs/guides/install-on-kubernetes.md')
  server = await startApiServer({ users: [user] })
  parts.defer(() => server.stop())
  const provider = await startProviderProcess()
  parts.defer(() => provider.stop())
  const directory = await podDirectory()
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const [http = 0, test = 0] = [await freePort(), await freePort()]
  const ports: Record<number, number> = { 8080: http, 8090: test }
  for (const port of [4317, 9464, 9465]) ports[port] = await freePort()
  const services = {
    ...{ 'looptrace:8080': http, 'looptrace-api:8080': http, '127.0.0.1:8080': http },
    'looptrace-test:8090': test,
    [`looptrace.${namespace}.svc:8080`]: http,
  }
  const outside = providerSettings(provider)
  options = { server, namespace, directory, ports, services, outside, user }
}, apiServerStartTimeoutMs)
afterAll(() => parts.disposeAsync())

/** Follows a section of the guide; a failure includes the output of the containers. */
async function follow(heading: string): Promise<string> {
  const commands = sections.get(heading)
  if (commands === undefined) throw new Error(`the guide has no section "${heading}"`)
  const here = commands
    .replace(/^kubectl .* port-forward .*$/m, '')
    .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${options.ports[8080]}`)
  return runCommands(here, { server }).catch((cause: unknown) => {
    throw new Error(`${cause}\n${kubelet.output().slice(-6000)}`, { cause })
  })
}

test('Install: the pod starts on a read-only tree, and the first login is in a Secret', async () => {
  kubelet = startKubelet(options)
  parts.defer(() => kubelet.stop())
  const shown = await follow('Install')
  expect(shown).toContain('Install complete')
  expect(shown).toMatch(/^admin-email: admin@looptrace.local$/m)
  expect(shown).toMatch(/^project-key: lt_\w{8}_\w{32}$/m)
  expect([...kubelet.running.keys()]).toEqual(['looptrace', 'operator'])
  for (const port of [9464, 9465]) {
    const answer = await fetch(`http://127.0.0.1:${options.ports[port]}/readyz`)
    expect(answer.status, await answer.text()).toBe(200)
  }
})

test('See that it works: a completion and a span are sent and read back', async () => {
  expect(await follow('See that it works')).toMatch(/Phase: +Succeeded/)
  const done = kubelet.output().match(/^\{"done":"\w+: \w+/gm)
  expect(done).toEqual([
    ...['{"done":"completion: answered', '{"done":"span: accepted'],
    ...['{"done":"completion: read', '{"done":"span: read', '{"done":"scenario: run'],
    expect.stringMatching(/^\{"done":"report: \d+$/),
  ])
})

test('Send something: a completion, and its task', async () => {
  const shown = await follow('Send something')
  expect(shown).toContain('"object":"chat.completion"')
  expect(shown).toMatch(/"task_id":"first".*"calls":1/)
})

test('Declare: the resources become Ready, and the API refuses to change what they declare', async () => {
  const shown = await follow('Declare how long data is kept')
  expect(shown).toMatch(/^default +True /m)
  expect(shown).toContain('checkout-agent-key')
  const refused = await changePolicy()
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({
    code: 'managed_by_kubernetes',
    detail: expect.stringContaining(`RetentionPolicy ${namespace}/default`),
  })
})

test('A template: a program reads the dotenv entry of its Secret and calls a completion', async () => {
  const path = `/apis/looptrace.dev/v1alpha1/namespaces/${namespace}/looptraceserviceaccounts/checkout-agent`
  const entries = [{ key: '.env', format: 'dotenv' }]
  await server.tell('PATCH', path, {
    body: { spec: { secretTemplate: { entries } } },
    type: 'application/merge-patch+json',
  })
  const secretPath = `/api/v1/namespaces/${namespace}/secrets/checkout-agent-key`
  const file = await eventually('the entry is written', async () => {
    const { data } = await server.tell('GET', secretPath)
    return data['.env'] && Buffer.from(data['.env'], 'base64').toString('utf8')
  })
  const call = `curl --silent --show-error "$LOOPTRACE_BASE_URL/chat/completions" \\
    -H "X-API-Key: $LOOPTRACE_API_KEY" -H 'Authorization: Bearer none' \\
    -H 'Content-Type: application/json' \\
    -d '{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Hello"}]}'`
  const shown = await runCommands(`${file}${call}`, { server })
  expect(shown).toContain('"object":"chat.completion"')
})

test('Cluster mode: the values of the examples are valid', async () => {
  expect(await follow('Cluster mode')).toBe('')
})

test('Upgrade: Secret and data are kept, and the pod continues with them', async () => {
  const before = await secret()
  expect(await follow('Upgrade')).toContain('REVISION: 2')
  expect(await kubelet.stopPods()).toEqual({ looptrace: 0, operator: 0 })
  await kubelet.startPods()
  expect(await secret()).toEqual(before)
  const task = await fetch(`http://127.0.0.1:${options.ports[8080]}/api/v1/tasks/first`, {
    headers: { 'x-api-key': Buffer.from(before.data['project-key'], 'base64').toString() },
  })
  expect(await task.json()).toMatchObject({ task_id: 'first', calls: 1 })
  expect((await changePolicy()).status).toBe(409)
})

test('no log has a key or the password', async () => {
  const { data } = await secret()
  const secrets = Object.entries(data as Record<string, string>)
    .filter(([key]) => !['admin-email', 'project-id'].includes(key))
    .map(([, value]) => Buffer.from(value, 'base64').toString())
  expect(secrets).toHaveLength(4)
  const logs = kubelet.output()
  expect(logs).toContain('"msg":"ready"')
  for (const value of secrets) expect(logs).not.toContain(value)
})

test('Uninstall: in the order of the guide everything is removed', async () => {
  await follow('Uninstall')
  expect(await kubelet.stopPods()).toEqual({ looptrace: 0, operator: 0 })
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const { items } = await server.tell('GET', path)
  expect(items.map(({ metadata }: KubeObject) => metadata.name)).toEqual([])
})

function secret(): Promise<KubeObject> {
  return server.tell('GET', `/api/v1/namespaces/${namespace}/secrets/looptrace-bootstrap`)
}

/** As an administrator who tries to change a declared value by hand. */
async function changePolicy(): Promise<Response> {
  const base_url = `http://127.0.0.1:${options.ports[8080]}`
  const { data } = await secret()
  const text = (key: string) => Buffer.from(data[key], 'base64').toString()
  const headers = { 'content-type': 'application/json' }
  const signedIn = await fetch(`${base_url}/api/v1/auth/token`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      ...{ grant_type: 'password', username: text('admin-email') },
      password: text('admin-password'),
    }),
  })
  const { access_token } = (await signedIn.json()) as { access_token: string }
  return fetch(`${base_url}/api/v2/observability/retention-policy`, {
    method: 'PUT',
    headers: { ...headers, authorization: `Bearer ${access_token}` },
    body: JSON.stringify({ days: { traces: 1, observations: 1, content: 1 } }),
  })
}
