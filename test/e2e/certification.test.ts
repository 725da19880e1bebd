import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'

/** Role `all`: tasks come in by the ingest API, a release is certified, and the CLI verifies it. */
let machine: SingleMachine
beforeAll(async () => {
  machine = await startSingleMachine()
}, 240_000)
afterAll(() => machine?.[Symbol.asyncDispose]())

const run = promisify(execFile)
type Json = ReturnType<typeof JSON.parse>

async function call(method: string, path: string, token: string, body?: object): Promise<Json> {
  const response = await fetch(`${machine.service.base_url}${path}`, {
    method,
    headers: {
      ...(token.startsWith('lt_') ? { 'x-api-key': token } : { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function signIn(): Promise<string> {
  const { admin_email: username, admin_password: password } = machine.login
  const response = await fetch(`${machine.service.base_url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', username, password }),
  })
  return ((await response.json()) as Json).access_token
}

const users = 60
const tasks = Array.from({ length: users * 2 }, (_, at) => ({
  task_id: `task-${at}`,
  user_id: `user-${at % users}`,
}))

test('a release is certified from its tasks, and the statement is verified offline', async () => {
  const { project_key } = machine.login
  const now = new Date(Date.now() - 60_000).toISOString()
  const observations = tasks.map((task, at) => ({
    ...{ ...task, task_name: 'refund', environment: 'staging', release: '1.0.0' },
    ...{ trace_id: randomBytes(16).toString('hex'), observation_id: `o-${at}` },
    ...{ type: 'generation', start_time: now, end_time: now },
  }))
  await call('POST', '/api/v2/observability/ingest?wait=true', project_key, {
    ...{ idempotency_key: randomBytes(8).toString('hex'), schema_version: '2026-02-23', traces: [] },
    ...{ observations, events: [], links: [], correlations: [] },
  })
  for (const { task_id } of tasks) {
    await call('PUT', `/api/v1/tasks/${task_id}/complete`, project_key)
  }
  const token = await signIn()
  const P = '/api/v1/reliability/phase10'
  await call('PUT', `${P}/release-policies/default`, token, {
    gates: [{ metric: 'task_success_rate', kind: 'absolute', threshold: 0.9 }],
  })
  const certified = await eventually('a complete ledger', async () => {
    const image_digest = `sha256:${randomBytes(32).toString('hex')}`
    const body = await call('POST', `${P}/release-certification?wait=true`, token, {
      release: { name: 'agent', version: '1.0.0', image_digest },
      environment: 'staging',
    })
    return body.result === 'certified' && body
  })
  expect(certified).toMatchObject({
    ...{ obstacles: [], ledger: { lost: 0, pending: 0, accepted: tasks.length } },
    gates: [{ n: tasks.length, k: tasks.length, clusters: users, verdict: 'passed' }],
  })
  const id = certified.certification_id
  const statement = await call('GET', `${P}/release-certification/${id}/statement`, token)
  const jwks = await call('GET', '/.well-known/looptrace-certification-keys.json', token)
  const { policy } = await call('GET', `${P}/benchmark-policy`, token)
  const path = (name: string) => join(machine.directory, name)
  await writeFile(path('statement.json'), JSON.stringify(statement))
  await writeFile(path('jwks.json'), JSON.stringify(jwks))
  await writeFile(path('policy.json'), JSON.stringify(policy))
  const { stdout } = await run(process.execPath, [
    ...['src/main.ts', 'verify', path('statement.json'), '--keys', path('jwks.json')],
    ...['--policy', path('policy.json'), '--subject', certified.subject],
  ])
  expect(stdout).toContain('verdict: certified\n')
  const recomputed = await call('POST', `${P}/release-certification/${id}/recompute`, token)
  expect(recomputed).toMatchObject({ result: 'equal', verdict: 'certified' })
}, 120_000)
