import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'
import { eventually } from '../support/eventually.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

/** A pipeline: two releases of an agent run through the proxy in staging, and are certified. */
const root = '/api/v1/reliability/phase10'
const goodDigest = `sha256:${'a'.repeat(64)}`
/** Above the 20 users below which a gate is inconclusive. */
const users = 25
const tasks_per_user = 4

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>
let machine: SharedMachine
let directory: string
let token: string
let key: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-certify-'))
  const content = 'Your parcel arrives on Tuesday.'
  machine = await sharedMachine({ script: { steps: [{ reply: { content } }] } })
  const { admin_email, admin_password, project_id } = machine.login
  const credentials = { username: admin_email, password: admin_password }
  const signedIn = await call('POST', '/api/v1/auth/token', {
    body: { grant_type: 'password', ...credentials },
  })
  token = String(signedIn.body.access_token)
  const scopes = ['proxy:write', 'tasks:read', 'tasks:write', 'certification:run']
  const created = await call('POST', `/api/v2/access/projects/${project_id}/api-keys`, {
    body: { name: 'pipeline', scopes, environment: 'staging' },
  })
  key = String(created.body.key)
  const policy = await call('PUT', `${root}/release-policies/default`, {
    body: {
      gates: [
        { metric: 'task_success_rate', kind: 'absolute', threshold: 0.85, min_samples: 50 },
        { metric: 'loop_rate', kind: 'absolute', threshold: 0.15, tier: 'supporting' },
        { metric: 'eval_pass_rate', kind: 'absolute', threshold: 0.5, tier: 'advisory' },
      ],
    },
  })
  expect([signedIn.status, created.status, policy.status]).toEqual([200, 201, 200])
  await Promise.all([play('1.4.0', { failing: 0 }), play('1.5.0', { failing: 2 })])
}, 300_000)
afterAll(async () => {
  await rm(directory, { recursive: true })
})

async function call(
  method: string,
  path: string,
  { body, as = token }: { body?: object; as?: string | undefined } = {},
): Promise<{ status: number; body: Json }> {
  const isKey = as?.startsWith('lt_') === true
  const answer = await fetch(`${machine.service.base_url}${path}`, {
    method,
    headers: {
      ...(isKey ? { 'x-api-key': as ?? '' } : as && { authorization: `Bearer ${as}` }),
      ...(isKey ? {} : { 'x-project-id': machine.login.project_id }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Runs the agent for all users as a release. The last `failing` tasks of each user fail. */
async function play(release: string, { failing }: { failing: number }): Promise<void> {
  for (let user = 0; user < users; user += 1) {
    const ids = Array.from({ length: tasks_per_user }, (_, at) => `${release}-${user}-${at}`)
    await Promise.all(
      ids.map((id, at) => {
        const words = user * tasks_per_user + at
        return completion(release, { id, user: `user-${user}`, words })
      }),
    )
  }
  const ids = await eventually('all tasks are stored', () => taskIds(release), {
    ...{ timeout_ms: 60_000, interval_ms: 250 },
  })
  const end = async (id: string) => {
    const isFailing = Number(id.split('-')[2]) >= tasks_per_user - failing
    const move = isFailing ? 'fail' : 'complete'
    const { status } = await call('PUT', `/api/v1/tasks/${id}/${move}`, { body: {}, as: key })
    expect(status).toBe(200)
  }
  await Promise.all(ids.map(end))
  await eventually(
    'all tasks are analysed',
    async () => (await storedTasks(release)).every(({ verdict }) => verdict !== null),
    { timeout_ms: 120_000, interval_ms: 500 },
  )
}

/** Asks with as many more words as no other task of the release: equal tasks are no evidence. */
async function completion(
  release: string,
  { id, user, words }: { id: string; user: string; words: number },
) {
  const answer = await fetch(`${machine.service.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'x-api-key': key },
      ...{ authorization: 'Bearer key-of-the-provider', 'x-user-id': user },
      ...{ 'x-task-id': id, 'x-task-name': 'parcel', 'x-task-release': release },
    },
    body: JSON.stringify({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: `Where is parcel ${id}?${' Please.'.repeat(words)}` }],
    }),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Tuesday')])
}

async function storedTasks(release: string): Promise<{ task_id: string; verdict: unknown }[]> {
  const { body } = await call('GET', '/api/v1/tasks?limit=1000', { as: key })
  return body.tasks.filter(({ task_id }: { task_id: string }) => task_id.startsWith(release))
}

async function taskIds(release: string): Promise<string[] | undefined> {
  const tasks = await storedTasks(release)
  if (tasks.length < users * tasks_per_user) return undefined
  return tasks.map(({ task_id }) => task_id)
}

type Result = { status: number; stdout: string; stderr: string }

function commandEnv() {
  const url = machine.service.base_url
  return childEnv({ HOME: directory, LOOPTRACE_URL: url, LOOPTRACE_API_KEY: key })
}

/** The command line as a pipeline runs it. */
function looptrace(line: string): Promise<Result> {
  const env = commandEnv()
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, ...line.split(' ')],
      { cwd: directory, env },
      (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

describe('a good release', () => {
  test('is certified, with reports and a statement that is verified without the service', async () => {
    await writeFile(
      join(directory, 'evals.jsonl'),
      Array.from({ length: 30 }, (_, i) =>
        JSON.stringify({ case_id: `case-${i}`, passed: true }),
      ).join('\n'),
    )
    const { status, stdout, stderr } = await looptrace(
      `certify --release parcels@1.4.0 --environment staging --image-digest ${goodDigest} ` +
        '--eval-run evals.jsonl --junit report.xml --markdown report.md --statement statement.json',
    )
    expect([status, stdout], stderr).toEqual([
      ...[0, expect.stringMatching(/parcels@1.4.0 in staging: certified\n$/)],
    ])
    expect(stderr).toContain('eval run evals.jsonl: 30 cases, 0 failed')
    const read = (name: string) => readFile(join(directory, name), 'utf8')
    expect(await read('report.xml')).toContain('tests="4" failures="0" errors="0"')
    expect(await read('report.md')).toContain('| 100 of 25 users |')
    const keys = await call('GET', '/.well-known/looptrace-certification-keys.json')
    await writeFile(join(directory, 'keys.json'), JSON.stringify(keys.body))
    const policy = await call('GET', `${root}/benchmark-policy`, { as: key })
    await writeFile(join(directory, 'policy.json'), JSON.stringify(policy.body.policy))
    const options = `--keys keys.json --policy policy.json --subject ${goodDigest}`
    const verified = await looptrace(`verify statement.json ${options}`)
    expect([verified.status, verified.stdout]).toEqual([
      ...[0, expect.stringContaining('verdict: certified')],
    ])
    const envelope = JSON.parse(await read('statement.json'))
    const payload = Buffer.from(envelope.payload, 'base64').toString()
    const forged = Buffer.from(payload.replace('"1.4.0"', '"1.5.0"')).toString('base64')
    await writeFile(
      join(directory, 'forged.json'),
      JSON.stringify({ ...envelope, payload: forged }),
    )
    const refused = await looptrace(`verify forged.json ${options}`)
    expect([refused.status, refused.stderr]).toEqual([3, expect.stringContaining('not valid')])
  })

  test('passes the gate of the Argo Rollouts example, which reads a real reply', async () => {
    const text = await readFile('examples/certification/argo-rollouts.yaml', 'utf8')
    const [metric] = parse(text).spec.metrics
    const { url, jsonPath, headers } = metric.provider.web
    expect(headers[0].key).toBe('X-API-Key')
    const path = String(url)
      .replace(/^[a-z]+:\/\/[^/]+/, '')
      .replace('{{args.image-digest}}', goodDigest)
    const { status, body } = await call('GET', path, { as: key })
    expect([status, jsonPath]).toEqual([200, '{$.certifications[0].result}'])
    expect(body.certifications[0].result).toBe('certified')
    expect(metric).toMatchObject({
      ...{ successCondition: 'result == "certified"', failureCondition: 'result == "rejected"' },
    })
  })
})

describe('a worse release', () => {
  test('is rejected', async () => {
    const { status, stdout, stderr } = await looptrace(
      'certify --release parcels@1.5.0 --environment staging -o json --junit report.xml',
    )
    expect(status, stderr).toBe(1)
    const { result, gates } = JSON.parse(stdout)
    expect([result, gates[0].verdict, gates[0].estimate]).toEqual(['rejected', 'failed', 0.5])
    expect(await readFile(join(directory, 'report.xml'), 'utf8')).toContain('failures="2"')
  })
})

test('a release that nobody used is inconclusive; what cannot run has status 3', async () => {
  const unused = await looptrace('certify --release parcels@9.9.9 --environment staging -q')
  expect([unused.status, unused.stderr]).toEqual([2, ''])
  for (const line of [
    'certify --release parcels --environment staging',
    'certify --release parcels@1.4.0',
    'certify --release parcels@1.4.0 --environment staging --eval-run report.txt',
    'certify --release parcels@1.4.0 --environment staging --policy none',
    'certify --release parcels@1.4.0 --environment staging --bogus',
  ]) {
    const { status, stdout, stderr } = await looptrace(line)
    expect([status, stdout, stderr]).toEqual([3, '', expect.stringContaining('looptrace certify')])
  }
})

test('an interrupted command ends with status 3, and the same command finds its certification', async () => {
  const to = new Date(Date.now() + 3_600_000).toISOString()
  const line = `certify --release parcels@2.0.0 --environment staging --to ${to}`
  const child = spawn(process.execPath, [main, ...line.split(' ')], {
    ...{ cwd: directory, env: commandEnv(), stdio: ['ignore', 'pipe', 'pipe'] },
  })
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += String(bytes)
  })
  await eventually('it waits', () => stderr.includes('the end of the window'))
  child.kill('SIGINT')
  const [status] = await once(child, 'close')
  expect([status, stderr]).toEqual([3, expect.stringContaining('interrupted: run the same')])
  const again = await looptrace(`${line} --timeout 1s`)
  expect([again.status, again.stderr]).toEqual([
    3,
    expect.stringContaining('no verdict within --timeout'),
  ])
  const idIn = (text: string) => /certification ([0-9a-f-]{36})/.exec(text)?.[1]
  expect(idIn(again.stderr)).toBe(idIn(stderr))
})
