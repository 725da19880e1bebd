import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: DetectionApi
let project: string
beforeAll(async () => {
  api = await openDetectionApi()
  project = await api.bench.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const start_time = 1_790_000_000_000_000_000n
const hour_ns = 3_600_000_000_000n

/** A conversation of two tasks: the second one forgets an instruction of the first. */
async function forgetful(conversation_id: string): Promise<void> {
  const about = { project_id: project, conversation_id }
  const first = agentRun(`${conversation_id} first`, {
    ...about,
    task_id: `${conversation_id}/1`,
    start_time,
  })
    .system('You are a support agent. Never use the word "cheap".')
    .user('My order number is 4711. Is it on its way?')
    .assistant('Yes, it is on its way.')
    .user('Is it good?')
    .assistant('It is cheap and good.')
  const second = agentRun(`${conversation_id} second`, {
    ...about,
    task_id: `${conversation_id}/2`,
    start_time: start_time + hour_ns,
  })
    .system('You are a support agent.')
    .user('I want to give it back.')
    .assistant('Gladly. What is your order number?')
    .user('You know it.')
    .assistant('Thank you, I will see to it.')
  await api.bench.bring(first.observations())
  await api.bench.bring(second.observations())
}

/** The same without a context failure. */
async function attentive(conversation_id: string): Promise<void> {
  const about = { project_id: project, conversation_id }
  const run = agentRun(`${conversation_id} only`, { ...about, task_id: `${conversation_id}/1` })
    .system('You are a support agent. Never use the word "cheap".')
    .user('My order number is 4711. Is it on its way?')
    .assistant('Yes, it is on its way.')
    .user('Is it good?')
    .assistant('It is very good.')
  await api.bench.bring(run.observations())
}

const path = (conversation_id: string, what = 'context-failures') =>
  `/conversations/${conversation_id}/${what}`

describe('GET /api/v1/conversations/{conversation_id}/context-failures', () => {
  test('analyses each task and has exactly the fields of the contract', async () => {
    const conversation_id = newId()
    await forgetful(conversation_id)
    const { status, body } = await api.get(project, path(conversation_id))
    expect(status).toBe(200)
    expect(body).toEqual({
      conversation_id,
      total_failures: 2,
      failures: [
        {
          type: 'lost_context',
          failure_type: 'lost_context',
          severity: 'medium',
          description: expect.stringContaining('cheap'),
          task_id: `${conversation_id}/1`,
          trace_id: expect.any(String),
          original_context: 'Never use the word "cheap".',
          violation: expect.stringContaining('It is cheap and good.'),
          original_trace_id: expect.any(String),
          confidence: expect.any(Number),
          detected_at: expect.any(String),
        },
        expect.objectContaining({
          type: 'lost_context',
          task_id: `${conversation_id}/2`,
          original_context: 'My order number is 4711.',
          violation: 'What is your order number?',
        }),
      ],
    })
    const [word, number] = body['failures'] as { trace_id: string; original_trace_id: string }[]
    expect(number?.original_trace_id).toBe(word?.original_trace_id)
    expect(number?.original_trace_id).not.toBe(number?.trace_id)
  })

  test('a repeated request gets the same answer', async () => {
    const conversation_id = newId()
    await forgetful(conversation_id)
    const once = await api.get(project, path(conversation_id))
    expect(await api.get(project, path(conversation_id))).toEqual(once)
  })

  test('a conversation without context failures has an empty list', async () => {
    const conversation_id = newId()
    await attentive(conversation_id)
    const { status, body } = await api.get(project, path(conversation_id))
    expect(status).toBe(200)
    expect(body).toEqual({ conversation_id, total_failures: 0, failures: [] })
  })
})

describe('GET /api/v1/conversations/{conversation_id}/context-health', () => {
  test('a score with its parts, and one for each task', async () => {
    const conversation_id = newId()
    await forgetful(conversation_id)
    const { status, body } = await api.get(project, path(conversation_id, 'context-health'))
    expect(status).toBe(200)
    const parts = body['parts'] as { factor: number; type: string }[]
    expect(parts.map(({ type }) => type)).toEqual(['lost_context', 'lost_context'])
    const product = parts.reduce((score, { factor }) => score * factor, 1)
    expect(body['score']).toBeCloseTo(product, 4)
    expect(body).toMatchObject({ conversation_id, turns: 4, window_fill: null, window_penalty: 0 })
    expect(body['tasks']).toMatchObject([
      { task_id: `${conversation_id}/1`, turns: 2, findings: 1 },
      { task_id: `${conversation_id}/2`, turns: 2, findings: 1 },
    ])
  })

  test('1 for a conversation without context failures', async () => {
    const conversation_id = newId()
    await attentive(conversation_id)
    const { body } = await api.get(project, path(conversation_id, 'context-health'))
    expect(body).toMatchObject({ score: 1, parts: [], turns: 2 })
  })

  test('null with fewer than two turns', async () => {
    const conversation_id = newId()
    const run = agentRun(conversation_id, { project_id: project, conversation_id })
    await api.bench.bring(run.user('Hello').assistant('Hello!').observations())
    const { body } = await api.get(project, path(conversation_id, 'context-health'))
    expect(body).toMatchObject({ score: null, turns: 1, tasks: [{ score: null }] })
  })
})

describe.each(['context-failures', 'context-health'])('permissions for %s', (what) => {
  test('another project does not see it', async () => {
    const conversation_id = newId()
    await attentive(conversation_id)
    const other = await api.bench.newProject()
    const { status, body } = await api.get(other, path(conversation_id, what))
    expect([status, body['code']]).toEqual([404, 'conversation_not_found'])
  })

  test.each([
    ['no credentials', {}, 401, 'credentials_missing'],
    ['a key without the scope', { scopes: 'ingest:write' }, 403, 'permission_denied'],
  ] as const)('%s is refused', async (_who, { scopes }: { scopes?: string }, status, code) => {
    const headers = scopes === undefined ? {} : keyOf(project, scopes)
    const reply = await api.call('GET', path(newId(), what), { headers })
    expect([reply.status, reply.body['code']]).toEqual([status, code])
  })

  test('a viewer may', async () => {
    const conversation_id = newId()
    await attentive(conversation_id)
    const headers = tokenOf('viewer', project)
    const { status } = await api.call('GET', path(conversation_id, what), { headers })
    expect(status).toBe(200)
  })
})
