import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { keyScopes } from '../../src/kernel/scopes.ts'
import { eventually } from '../support/eventually.ts'
import { hostileIds } from '../support/isolation/hostile-ids.ts'
import { inParallel } from '../support/isolation/in-parallel.ts'
import { signIn } from '../support/isolation/victim.ts'
import { type Json, type Method, startWorld, type World } from '../support/isolation/world.ts'
import { type NatsServer, startNatsServer } from '../support/nats.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { budget } from '../support/suite/budget.ts'

/**
 * Two projects of two organizations are active at once, with equal names, task ids and trace ids:
 * what the service sends for one project holds nothing of the other.
 */
type Tenant = { name: string; marker: string; project_id: string; key: string }

let directory: string
let nats: NatsServer
let listener: NatsConnection
let receiver: Receiver
let world: World
let token: string
let tenants: [Tenant, Tenant]
/** Subjects of all messages in NATS, without those of its own protocol. */
const subjects = new Set<string>()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-messages-'))
  nats = await startNatsServer({ directory })
  listener = await connect({ servers: nats.url })
  listener.subscribe('looptrace.>', {
    callback: (_error, { subject }) => void subjects.add(subject),
  })
  receiver = await startReceiver()
  world = await startWorld(receiver.port, { LOOPTRACE_NATS_URL: nats.url })
  token = await signIn(world, world.admin)
  tenants = [await newTenant('first'), await newTenant('second')]
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await receiver?.close()
  await listener?.close()
  await nats?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function must(method: Method, path: string, body?: unknown, more = {}): Promise<Json> {
  const reply = await world.call(method, path, { token, body, ...more })
  if (reply.status < 300) return reply.body
  throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
}

/** Names the project of a call. */
const of = ({ project_id }: Tenant) => ({ project_id })

const incidents = '/api/v2/observability/incidents'

/** Creates an organization with a project, a key, and a rule that sends loops to a webhook. */
async function newTenant(name: string): Promise<Tenant> {
  const organizations = '/api/v2/access/organizations'
  const { id } = await must('POST', organizations, { name: `${name} organization` })
  const { id: project_id } = await must('POST', `${organizations}/${id}/projects`, { name: 'app' })
  const keys = `/api/v2/access/projects/${project_id}/api-keys`
  const { key } = await must('POST', keys, { name: 'all', scopes: [...keyScopes] })
  const webhook = { url: `${receiver.url}/${name}` }
  await must('POST', `${incidents}/channels`, { name: 'on-call', webhook }, { project_id })
  const rule = {
    ...{ name: 'loops', severity: 'high', notify: ['on-call'], group_by: ['task_name'] },
    event: { match: { source: 'finding', kinds: ['loop'] } },
    grouping: { wait: '0s', interval: '0s' },
  }
  await must('POST', `${incidents}/rules`, rule, { project_id })
  return { name, marker: `zq${name}zq`, project_id, key }
}

/** The trace of each task: the same one in both projects. */
const traces = new Map<string, string>()

/** The observations of an agent that repeats one tool call; the marker is in every text. */
function loopOf({ marker }: Tenant, task_id: string): object[] {
  const trace_id = traces.get(task_id) ?? newId()
  traces.set(task_id, trace_id)
  const named = { trace_id, task_id, task_name: `${marker} ${task_id.slice(0, 20)}` }
  const at = (n: number) => new Date(Date.now() - 60_000 + n * 1_000).toISOString()
  const messages: object[] = [{ role: 'user', content: `${marker} asks` }]
  return Array.from({ length: 5 }, (_one, n) => {
    const tool_call_id = `call-${n}`
    const content = `${marker}: nothing there`
    const look = { name: 'look', arguments: '{"id":7}' }
    const tool_calls = [{ id: tool_call_id, type: 'function', function: look }]
    const output = { role: 'assistant', content: null, tool_calls }
    const input = [...messages]
    messages.push(output, { role: 'tool', tool_call_id, content })
    const asked = { type: 'generation', name: 'chat', model: 'gpt-4.1-mini', provider: 'openai' }
    return [
      {
        ...{ ...named, ...asked, observation_id: `g-${n}-${task_id.slice(0, 20)}`, input, output },
        ...{ finish_reason: 'tool_calls', start_time: at(4 * n), end_time: at(4 * n + 1) },
      },
      {
        ...{
          ...named,
          type: 'tool',
          name: 'look',
          observation_id: `t-${n}-${task_id.slice(0, 20)}`,
        },
        ...{ input: { id: 7 }, output: content, tool_results: [{ tool_call_id, content }] },
        ...{ start_time: at(4 * n + 2), end_time: at(4 * n + 3), status: 'ok' },
      },
    ]
  }).flat()
}

function send({ key }: Tenant, idempotency_key: string, observations: object[]) {
  const body = { idempotency_key, observations }
  return world.call('POST', '/api/v2/observability/ingest?wait=true', { key, body })
}

test('the channel of each project gets the incidents of its own project only', async () => {
  const length = budget({ test: 3, soak: 6 })
  const tasks = Array.from({ length }, (_one, n) => `task-${n}`)
  // In turns, with the same ids, so that both projects are always in the same batches.
  for (const task_id of tasks) {
    const sent = tenants.map((tenant) => send(tenant, task_id, loopOf(tenant, task_id)))
    for (const { status, text } of await Promise.all(sent))
      expect([status, text]).toEqual([202, expect.anything()])
  }
  const to = (name: string) => receiver.received.filter(({ path }) => path === `/${name}`)
  await eventually(
    'each receiver has a message for each task',
    () => tenants.every(({ name }) => to(name).length >= tasks.length),
    { timeout_ms: 60_000 },
  )
  for (const [own, other] of [tenants, tenants.toReversed()]) {
    if (own === undefined || other === undefined) throw new Error('there are two')
    for (const { body, headers } of to(own.name)) {
      const text = `${body} ${JSON.stringify(headers)}`
      expect(text).toContain(own.marker)
      expect(text).toContain(own.project_id)
      expect(text).not.toContain(other.marker)
      expect(text).not.toContain(other.project_id)
    }
    const { incidents: opened } = await must('GET', incidents, undefined, of(own))
    expect(opened.length).toBe(tasks.length)
    expect(JSON.stringify(opened)).not.toContain(other.marker)
  }
  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/first', '/second']))
})

test('hostile task ids choose no subject of the queue', async () => {
  const [own, other] = tenants
  const stored: string[] = []
  await inParallel([...hostileIds.entries()], async ([n, task_id]) => {
    const { status, body, text } = await send(own, `hostile-${n}`, loopOf(own, task_id))
    if (status === 202 && body.result_payload.rejected === 0) stored.push(task_id)
    else expect([status, text]).toEqual([expect.any(Number), expect.stringContaining('task_id')])
  })
  expect(stored.length).toBeGreaterThan(5)
  await eventually('the tasks are there', async () => {
    const { tasks } = await must('GET', '/api/v1/tasks?limit=100', undefined, of(own))
    return stored.every((id) => tasks.some(({ task_id }: Json) => task_id === id))
  })
  const { tasks } = await must('GET', '/api/v1/tasks?limit=100', undefined, of(other))
  expect(JSON.stringify(tasks)).not.toContain(own.marker)
})

test('hostile values of headers choose no subject of the queue', async () => {
  const [own] = tenants
  const values = hostileIds.filter((id) => /^[\x20-\x7e]{1,4000}$/.test(id))
  const faults: string[] = []
  await inParallel(values, async (value) => {
    const headers = { 'x-project-id': value, 'x-task-id': value, 'idempotency-key': value }
    const body = { idempotency_key: newId(), observations: loopOf(own, 'headers') }
    const path = '/api/v2/observability/ingest?wait=true'
    const byKey = await world.call('POST', path, { key: own.key, headers, body })
    const byPerson = await world.call('GET', '/api/v2/observability/dead-letters', {
      token,
      headers,
    })
    const named = `${value}: ${byKey.status} ${byPerson.status} ${byPerson.text}`
    if (byKey.status >= 500) faults.push(named)
    if (![400, 403, 404].includes(byPerson.status)) faults.push(named)
  })
  expect(faults).toEqual([])
})

test('the queue had messages of both projects, and no other subjects', () => {
  const projects = tenants.map(({ project_id }) => project_id)
  const published = [...subjects].filter((subject) => subject.startsWith('looptrace.ingest.'))
  expect(published.toSorted()).toEqual(projects.map((id) => `looptrace.ingest.${id}`).toSorted())
  const others = [...subjects].filter(
    (subject) => !/^looptrace\.[a-z-]+\.[0-9a-z-]+$/.test(subject),
  )
  expect(others).toEqual([])
})
