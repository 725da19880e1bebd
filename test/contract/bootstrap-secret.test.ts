import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiServer, apiServerStartTimeoutMs, nobody } from '../support/kube/api-server.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'
import { runRole } from '../support/service.ts'

/** `migrate secret`, as an init container runs it, against a real API server. */
let server: ApiServer
beforeAll(async () => {
  server = await sharedApiServer()
}, apiServerStartTimeoutMs)
afterAll(() => server?.[Symbol.asyncDispose]())

async function mint(namespace: string, user?: string, env: Record<string, string> = {}) {
  return runRole('migrate secret', {
    ...env,
    KUBECONFIG: await server.kubeconfig(user),
    LOOPTRACE_BOOTSTRAP_SECRET: `${namespace}/first`,
    LOOPTRACE_BOOTSTRAP_EMAIL: 'ada@example.com',
  })
}

async function minted(namespace: string): Promise<Record<string, string>> {
  const { data } = await server.tell('GET', `/api/v1/namespaces/${namespace}/secrets/first`)
  const values = Object.entries(data as Record<string, string>)
  return Object.fromEntries(
    values.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  )
}

function make(namespace: string, stringData: Record<string, string>): Promise<KubeObject> {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'first' }, stringData }
  return server.tell('POST', `/api/v1/namespaces/${namespace}/secrets`, { body })
}

test('of several concurrent starts one creates it, all succeed, and none prints it', async () => {
  const namespace = await server.namespace()
  const done = await Promise.all([1, 2, 3].map(() => mint(namespace)))
  const values = await minted(namespace)
  expect(values).toEqual({
    'admin-email': 'ada@example.com',
    'admin-password': expect.stringMatching(/^\w{24}$/),
    'operator-key': expect.stringMatching(/^lt_op_\w{8}_\w{32}$/),
    'project-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'project-key': expect.stringMatching(/^lt_\w{8}_\w{32}$/),
    'secret-key': expect.stringMatching(/^[\w-]{43}$/),
  })
  for (const { status, output } of done) {
    expect(status, output).toBe(0)
    expect(output.trim()).toBe(JSON.stringify({ secret: `${namespace}/first` }))
  }
})

test('an existing Secret is left unchanged', async () => {
  const namespace = await server.namespace()
  const given = Object.fromEntries(
    [
      'secret-key',
      'admin-email',
      'admin-password',
      'project-key',
      'project-id',
      'operator-key',
    ].map((key) => [key, `my ${key}`]),
  )
  await make(namespace, given)
  expect(await mint(namespace)).toMatchObject({ status: 0 })
  expect(await minted(namespace)).toEqual(given)
})

test('the values are also files that only their owner may read, also when it is repeated', async () => {
  const namespace = await server.namespace()
  const directory = await mkdtemp(join(server.directory, 'bootstrap-'))
  const env = { LOOPTRACE_BOOTSTRAP_DIRECTORY: directory }
  // A killed run can leave a part of a file.
  await writeFile(join(directory, 'secret-key.new'), 'part', { mode: 0o400 })
  for (const run of ['first', 'second']) {
    const { status, output } = await mint(namespace, undefined, env)
    expect(status, `${run}: ${output}`).toBe(0)
  }
  const values = await minted(namespace)
  expect((await readdir(directory)).toSorted()).toEqual(Object.keys(values).toSorted())
  for (const [key, value] of Object.entries(values)) {
    expect(await readFile(join(directory, key), 'utf8')).toBe(value)
    expect((await stat(join(directory, key))).mode & 0o777).toBe(0o400)
  }
})

test('an incomplete Secret is not completed: the message says what to do', async () => {
  const namespace = await server.namespace()
  await make(namespace, { 'secret-key': 'mine', 'admin-email': 'me@example.com' })
  const { status, output } = await mint(namespace)
  expect(status).toBe(1)
  expect(output).toContain(
    `Secret ${namespace}/first lacks admin-password, project-key, project-id, operator-key: add the keys`,
  )
  expect(Object.keys(await minted(namespace))).toHaveLength(2)
})

test('without permission the message names the verb and the Secret', async () => {
  const namespace = await server.namespace()
  const { status, output } = await mint(namespace, nobody)
  expect(status).toBe(1)
  expect(output).toMatch(/get/)
  expect(output).toContain('secrets')
  expect(output).toContain(namespace)
})

test('a setting that is not the name of a Secret is refused with what was expected', async () => {
  const env = { KUBECONFIG: await server.kubeconfig() }
  const without = await runRole('migrate secret', env)
  expect(without).toMatchObject({ status: 1, output: expect.stringContaining('namespace/name') })
  const wrong = await runRole('migrate secret', { ...env, LOOPTRACE_BOOTSTRAP_SECRET: 'first' })
  expect(wrong.output).toContain('got "first", expected namespace/name')
})
