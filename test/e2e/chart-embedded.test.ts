import { rm } from 'node:fs/promises'
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
import { freePort } from '../support/free-port.ts'
import {
  type ApiServer,
  apiServerStart_timeout_ms,
  startApiServer,
} from '../support/kube/api-server.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'

const namespace = 'looptrace-system'
const user = `system:serviceaccount:${namespace}:looptrace`
const parts = new AsyncDisposableStack()
let server: ApiServer
let options: PodOptions
let pod: KubeObject
const running: ContainerProcess[] = []

beforeAll(async () => {
  server = await startApiServer({ users: [user] })
  parts.defer(() => server.stop())
  const body = {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  }
  await server.tell('POST', '/api/v1/namespaces', { body })
  const installed = await server.helm(['install', 'looptrace', chart, '--namespace', namespace])
  if (installed.status !== 0) throw new Error(installed.stderr)
  const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/looptrace`
  pod = (await server.tell('GET', path)).spec.template
  const directory = await podDirectory()
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const ports: Record<number, number> = {}
  for (const port of [8080, 4317, 9464, 9465, 8090]) ports[port] = await freePort()
  const local = ['looptrace', 'looptrace-api', 'looptrace-test', '127.0.0.1']
  const hosts = Object.fromEntries(local.map((name) => [name, '127.0.0.1']))
  options = { server, namespace, directory, ports, hosts, user }
  parts.defer(async () => {
    await Promise.all(running.map((container) => container.stop()))
  })
}, apiServerStart_timeout_ms)
afterAll(() => parts.disposeAsync())

test('the pod of an installation without values starts, on a read-only tree', async () => {
  for (const container of pod.spec.initContainers) {
    const started = await startContainer(container, options)
    expect(await started.ended, started.output()).toBe(0)
  }
  for (const container of pod.spec.containers) {
    const started = await startContainer(container, options)
    running.push(started)
  }
  await Promise.all(running.map(whenReady))
  for (const port of [9464, 9465]) {
    const answer = await fetch(`http://127.0.0.1:${options.ports[port]}/readyz`)
    expect(answer.status, await answer.text()).toBe(200)
  }
})

test('no log has a key or the password', async () => {
  const path = `/api/v1/namespaces/${namespace}/secrets/looptrace-bootstrap`
  const { data } = await server.tell('GET', path)
  const secrets = Object.entries(data as Record<string, string>)
    .filter(([key]) => !['admin-email', 'project-id'].includes(key))
    .map(([, value]) => Buffer.from(value, 'base64').toString())
  expect(secrets).toHaveLength(4)
  const logs = running.map(({ output }) => output()).join('\n')
  expect(logs).toContain('ready')
  for (const secret of secrets) expect(logs).not.toContain(secret)
})

test('the command of helm test sends a completion and a span and reads both back', async () => {
  const hooks = await server.helm(['get', 'hooks', 'looptrace', '--namespace', namespace])
  const hook = objectsIn(hooks.stdout).find(({ kind }) => kind === 'Pod')
  const tried = await startContainer(hook?.spec.containers[0], options)
  expect(await tried.ended, tried.output()).toBe(0)
  const lines = tried
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"done"'))
  expect(lines.map((line) => JSON.parse(line).done.split(' ')[0])).toEqual([
    ...['completion:', 'span:', 'completion:', 'span:'],
  ])
})

test('examples/retention.yaml becomes Ready, and the API has the policy', async () => {
  const example = join(import.meta.dirname, '../../examples/retention.yaml')
  const kubectl = (...args: string[]) => server.kubectl([...args, '--namespace', namespace])
  expect(await kubectl('apply', '-f', example)).toMatchObject({ status: 0 })
  const waited = await kubectl('wait', '-f', example, '--for=condition=Ready', '--timeout=30s')
  expect(waited, running.map(({ output }) => output()).join('\n')).toMatchObject({ status: 0 })
  const shown = await kubectl('get', 'retpol')
  expect(shown.stdout).toMatch(/^NAME +READY .*\n.* True /)
  expect(await kubectl('delete', '-f', example, '--timeout=30s')).toMatchObject({ status: 0 })
})

test('the pod ends cleanly, and has written nothing but its volumes', async () => {
  const stopped = await Promise.all(running.splice(0).map((container) => container.stop()))
  expect(stopped).toEqual([0, 0])
})
