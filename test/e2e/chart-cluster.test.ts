import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ContainerProcess,
  type PodOptions,
  podDirectory,
  startContainer,
  whenReady,
} from '../support/chart/pod-processes.ts'
import { chart, objectsIn } from '../support/chart/render.ts'
import { testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  operatorAccount,
  startApiServer,
} from '../support/kube/api-server.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'
import { startNatsServer } from '../support/nats.ts'
import { testPostgres } from '../support/postgres.ts'

/** Cluster mode: each Deployment's pod as processes, on stores whose logins are in Secrets. */
const namespace = 'looptrace-system'
const roles = ['api', 'operator', 'proxy', 'worker'] as const
const secretPath = `/api/v1/namespaces/${namespace}/secrets/looptrace-bootstrap`
const serviceAccount = `system:serviceaccount:${namespace}:looptrace`
const parts = new AsyncDisposableStack()
const running: ContainerProcess[] = []
let server: ApiServer
let pods: Record<(typeof roles)[number] | 'test', KubeObject>
/** Data of the Secret when it was created. */
let first: Record<string, string>
let optionsOf: (role: keyof typeof pods) => PodOptions

beforeAll(async () => {
  server = await startApiServer({ users: [serviceAccount] })
  parts.defer(() => server.stop())
  const directory = await podDirectory()
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  await makeNamespace()
  await install(directory)
  pods = await installedPods()
  optionsOf = await podOptions(directory)
  parts.defer(async () => {
    await Promise.all(running.map((container) => container.stop()))
  })
}, apiServerStartTimeoutMs)
afterAll(() => parts.disposeAsync())

test('an init container that is killed after it created the Secret loses nothing', async () => {
  const init = await startContainer(pods.api, pods.api.spec.initContainers[0], optionsOf('api'))
  const made = await eventually('the Secret is there', async () => {
    const { status, body } = await server.ask('GET', secretPath)
    return status === 200 && body
  })
  await init.kill()
  first = made.data
})

test('concurrent init containers of several pods share one Secret and migrate both stores', async () => {
  const inits = await Promise.all(
    (['api', 'worker'] as const).map((role) => {
      return startContainer(pods[role], pods[role].spec.initContainers[0], optionsOf(role))
    }),
  )
  for (const init of inits) expect(await init.ended, init.output()).toBe(0)
  const { data } = await secret()
  expect(data).toEqual(first)
  expect(Object.keys(data).toSorted()).toEqual([
    ...['admin-email', 'admin-password', 'operator-key', 'project-id', 'project-key'],
    'secret-key',
  ])
})

test('every role becomes ready', async () => {
  for (const role of roles) {
    running.push(await startContainer(pods[role], pods[role].spec.containers[0], optionsOf(role)))
  }
  await Promise.all(running.map(whenReady))
  for (const role of roles) {
    const answer = await fetch(`http://127.0.0.1:${optionsOf(role).ports[9464]}/readyz`)
    expect(answer.status, await answer.text()).toBe(200)
  }
})

test('the command of helm test passes, with the key of the Secret', async () => {
  const smokeTest = await startContainer(pods.test, pods.test.spec.containers[0], optionsOf('test'))
  expect(await smokeTest.ended, smokeTest.output()).toBe(0)
})

test('another start changes nothing', async () => {
  const before = await secret()
  const again = await startContainer(pods.api, pods.api.spec.initContainers[0], optionsOf('api'))
  expect(await again.ended, again.output()).toBe(0)
  expect(await secret()).toEqual(before)
})

test('no log has a key or a password; every role ends cleanly', async () => {
  const { data } = await secret()
  const values = Object.entries(data as Record<string, string>)
    .filter(([key]) => !['admin-email', 'project-id'].includes(key))
    .map(([, value]) => Buffer.from(value, 'base64').toString())
  const stopping = running.splice(0)
  const ended = await Promise.all(stopping.map((container) => container.stop()))
  expect(ended).toEqual(roles.map(() => 0))
  const logs = stopping.map(({ output }) => output()).join('\n')
  for (const value of values) expect(logs).not.toContain(value)
})

async function makeNamespace(): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }
  await server.tell('POST', '/api/v1/namespaces', { body })
}

/** The stores of this machine, as values of the chart and Secrets of the namespace. */
async function install(directory: string): Promise<void> {
  const postgres = new URL(await testPostgres('empty'))
  const clickhouse = await testClickHouse('empty')
  const nats = await startNatsServer({ directory: join(directory, 'nats') })
  parts.defer(() => nats.stop())
  await makeSecret('pg-app', {
    username: decodeURIComponent(postgres.username),
    password: decodeURIComponent(postgres.password),
  })
  const { username, password, database } = clickhouse
  await makeSecret('clickhouse-login', { username, password })
  const at = new URL(clickhouse.url)
  const values = {
    mode: 'cluster',
    postgres: {
      ...{ host: postgres.hostname, port: Number(postgres.port), sslMode: 'disable' },
      ...{ database: postgres.pathname.slice(1), existingSecret: 'pg-app' },
    },
    clickhouse: {
      ...{ host: at.hostname, port: Number(at.port), database },
      existingSecret: 'clickhouse-login',
    },
    nats: { servers: [nats.url] },
    proxy: { drainSeconds: 0 },
    api: { drainSeconds: 0 },
  }
  const file = join(directory, 'values.json')
  await writeFile(file, JSON.stringify(values))
  const asked = ['install', 'looptrace', chart, '-n', namespace, '--values', file]
  const { status, stderr } = await server.helm(asked)
  if (status !== 0) throw new Error(stderr)
}

async function makeSecret(name: string, stringData: Record<string, string>): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData }
  await server.tell('POST', `/api/v1/namespaces/${namespace}/secrets`, { body })
}

function secret(): Promise<KubeObject> {
  return server.tell('GET', secretPath)
}

async function installedPods(): Promise<typeof pods> {
  const api = `/apis/apps/v1/namespaces/${namespace}/deployments`
  const templates = roles.map(async (role) => {
    return [role, (await server.tell('GET', `${api}/looptrace-${role}`)).spec.template]
  })
  const hooks = await server.helm(['get', 'hooks', 'looptrace', '-n', namespace])
  const hook = objectsIn(hooks.stdout).find(({ kind }) => kind === 'Pod')
  return Object.fromEntries([...(await Promise.all(templates)), ['test', hook]])
}

/** Each pod has its own ports and folder; Services have the ports of their pods. */
async function podOptions(directory: string): Promise<typeof optionsOf> {
  const ports = new Map<string, Record<number, number>>()
  for (const role of [...roles, 'test']) {
    const own: Record<number, number> = {}
    for (const port of [8080, 8090, 4317, 9464]) own[port] = await freePort()
    ports.set(role, own)
  }
  const services = {
    'looptrace:8080': ports.get('proxy')?.[8080] ?? 0,
    'looptrace-api:8080': ports.get('api')?.[8080] ?? 0,
    'looptrace-test:8090': ports.get('test')?.[8090] ?? 0,
  }
  return (role) => ({
    ...{ server, namespace, services, outside: {} },
    directory: join(directory, role),
    ports: ports.get(role) ?? {},
    user: role === 'operator' ? operatorAccount : serviceAccount,
  })
}
