import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testPostgres } from '../support/postgres.ts'
import { instant, keyOf, openTaskApi, type TaskApi, tokenOf } from '../support/task-api.ts'

let url: string
let api: TaskApi
beforeAll(async () => {
  url = await testPostgres()
  api = await openTaskApi({ url })
})
afterAll(() => api[Symbol.asyncDispose]())

const path = (task_id: string, move = '') =>
  `/api/v1/tasks/${encodeURIComponent(task_id)}${move && `/${move}`}`

const eventsOf = ({ db, project_id }: TaskApi, task_id: string) =>
  db
    .selectFrom('task_events')
    .select(['kind', 'at', 'actor_kind', 'actor_id', 'note'])
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .execute()

describe('GET /api/v1/tasks/{task_id}', () => {
  test('shows every field', async () => {
    const conversation_id = await api.seedConversation({ external_id: 'chat' })
    await api.seedTask({
      task_id: 'full',
      name: 'Sort',
      user_id: 'ada',
      conversation_id,
      calls: 3,
      errors: 1,
      cancelled: 1,
      input_uncached_tokens: 1,
      cache_read_tokens: 2,
      cache_write_tokens: 3,
      output_visible_tokens: 4,
      reasoning_tokens: 5,
      total_tokens: 15,
      estimated_calls: 1,
      cost_usd: '0.012500000',
      unpriced_calls: 1,
      partially_priced_calls: 0,
      models: ['m-1'],
      providers: ['openai'],
      environment: 'production',
      release: 'v1',
      late_activity: true,
    })
    const { status, body } = await api.get(path('full'))
    expect(status).toBe(200)
    expect(body).toEqual({
      task_id: 'full',
      name: 'Sort',
      user_id: 'ada',
      conversation: { id: conversation_id, external_id: 'chat' },
      state: 'running',
      stalled: false,
      late_activity: true,
      task_rule: null,
      implicit: false,
      started_at: instant(-60),
      ended_at: null,
      last_activity_at: instant(-30),
      duration_ms: 30_000,
      calls: 3,
      errors: 1,
      cancelled: 1,
      tokens: {
        input_uncached: 1,
        cache_read: 2,
        cache_write: 3,
        output_visible: 4,
        reasoning: 5,
        total: 15,
        estimated_calls: 1,
      },
      cost_usd: '0.0125',
      unpriced_calls: 1,
      partially_priced_calls: 0,
      merged_calls: 0,
      models: ['m-1'],
      providers: ['openai'],
      environment: 'production',
      release: 'v1',
      cluster_name: null,
      ended_by: null,
      end_note: null,
      trust_score: null,
      trust_coverage: null,
      verification_state: 'not_verified',
      verified_at: null,
      feedback: null,
      verdict: null,
      url: '/api/v1/tasks/full',
    })
  })

  test.each(['a/b c', '../..', 'ü€😀', '%41', 'a?b#c', '"', 'x'.repeat(256), '€'.repeat(256)])(
    'accepts the id %j',
    async (task_id) => {
      await api.seedTask({ task_id })
      const { status, body } = await api.get(path(task_id))
      expect([status, body['task_id']]).toEqual([200, task_id])
      expect((await api.get(String(body['url']))).body['task_id']).toBe(task_id)
    },
  )

  test('is stalled only if it runs, is explicit and idle for longer than the setting', async () => {
    const started_at = instant(-9000)
    const idle = { started_at, last_activity_at: instant(-1801) }
    const ended_at = instant(-1801)
    await api.seedTask({ task_id: 'idle', ...idle })
    await api.seedTask({ task_id: 'just', started_at, last_activity_at: instant(-1800) })
    await api.seedTask({ task_id: 'ended', ...idle, state: 'failed', ended_at })
    await api.seedTask({ task_id: 'unnamed', ...idle, implicit: true })
    const stalled = ['idle', 'just', 'ended', 'unnamed'].map(
      async (id) => (await api.get(path(id))).body['stalled'],
    )
    expect(await Promise.all(stalled)).toEqual([true, false, false, false])
  })

  test('an implicit task is found under both spellings of its trace id, no other one is', async () => {
    const implicit = randomUUID()
    const explicit = randomUUID()
    await api.seedTask({ task_id: implicit, implicit: true })
    await api.seedTask({ task_id: explicit })
    const hex = (id: string) => path(id.replaceAll('-', ''))
    expect((await api.get(hex(implicit))).body['task_id']).toBe(implicit)
    expect((await api.get(hex(explicit))).status).toBe(404)
  })

  test('unknown, too long, foreign and without permission', async () => {
    await api.seedTask({ task_id: 'mine' })
    const foreign = keyOf(randomUUID())
    const none = await api.get(path('none'))
    expect([none.status, none.body['code']]).toEqual([404, 'task_not_found'])
    expect(none.body['detail']).toContain('"none"')
    expect((await api.get(path('mine'), { headers: foreign })).status).toBe(404)
    expect((await api.get(path('x'.repeat(257)))).body['code']).toBe('invalid_request')
    expect((await api.get('/api/v1/tasks/a%00')).body['code']).toBe('invalid_request')
    expect((await api.get('/api/v1/tasks/%ff')).status).toBe(400)
    expect((await api.get(path('mine'), { headers: {} })).status).toBe(401)
    const writer = keyOf(api.project_id, 'tasks:write')
    expect((await api.get(path('mine'), { headers: writer })).status).toBe(403)
    const viewer = tokenOf('viewer', api.project_id)
    expect((await api.get(path('mine'), { headers: viewer })).status).toBe(200)
  })
})

describe.each([
  { move: 'complete', state: 'completed', other: 'fail' },
  { move: 'fail', state: 'failed', other: 'complete' },
])('PUT /api/v1/tasks/{task_id}/$move', ({ move, state, other }) => {
  const id = (name: string) => `${move} ${name}`

  test('ends a running task and names who did it', async () => {
    await api.seedTask({ task_id: id('a') })
    const reply = await api.put(path(id('a'), move), { payload: { note: 'enough' } })
    const actor = { actor_kind: 'key', actor_id: 'key-1' }
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { state, ended_at: instant(0), ended_by: 'key:key-1', end_note: 'enough' },
    ])
    expect(await eventsOf(api, id('a'))).toEqual([
      { kind: state, at: instant(0), ...actor, note: 'enough' },
    ])
    expect((await api.get(path(id('a')))).body).toEqual(reply.body)
  })

  test('repeated, it returns the same and changes nothing', async () => {
    await api.seedTask({ task_id: id('b') })
    const first = await api.put(path(id('b'), move))
    const headers = tokenOf('editor', api.project_id)
    const second = await api.put(path(id('b'), move), { payload: { note: 'new' }, headers })
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(await eventsOf(api, id('b'))).toHaveLength(1)
  })

  test('the other end state is a conflict that quotes state and time', async () => {
    await api.seedTask({ task_id: id('c') })
    await api.put(path(id('c'), move))
    const { status, body } = await api.put(path(id('c'), other))
    expect([status, body['code']]).toEqual([409, 'task_state_conflict'])
    expect(body['detail']).toContain(`"${id('c')}" is ${state} since ${instant(0)}`)
    expect(await eventsOf(api, id('c'))).toHaveLength(1)
  })

  test('of concurrent contrary requests one wins and the others see it', async () => {
    await api.seedTask({ task_id: id('race') })
    const moves = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? move : other))
    const replies = await Promise.all(
      moves.map(async (one) => ({ one, ...(await api.put(path(id('race'), one))) })),
    )
    const won = new Set(replies.filter((r) => r.status === 200).map(({ one }) => one))
    expect(won.size).toBe(1)
    for (const reply of replies) expect(reply.status).toBe(won.has(reply.one) ? 200 : 409)
    expect(await eventsOf(api, id('race'))).toHaveLength(1)
  })

  test('an implicit task ends with its calls and explains how to create an explicit one', async () => {
    const ended = { implicit: true, ended_at: instant(-30), ended_by: 'call' }
    const contrary = state === 'completed' ? 'failed' : 'completed'
    await api.seedTask({ task_id: id('same'), ...ended, state: state as 'completed' })
    await api.seedTask({ task_id: id('contrary'), ...ended, state: contrary })
    expect((await api.put(path(id('same'), move))).status).toBe(200)
    const { status, body } = await api.put(path(id('contrary'), move))
    expect([status, body['code']]).toEqual([409, 'task_state_conflict'])
    expect(body['detail']).toContain('send X-Task-ID')
    expect(await eventsOf(api, id('contrary'))).toEqual([])
  })

  test('accepts a note or a reason of up to 2,000 characters, or no body', async () => {
    await api.seedTask({ task_id: id('d') })
    const refused = [
      [{ note: 'x'.repeat(2001) }, '/note'],
      [{ note: 'a', reason: 'b' }, '/reason'],
      [{ note: 'a\u0000' }, '/note'],
      [{ notes: 'a' }, '/notes'],
      [{ note: 1 }, '/note'],
    ] as const
    for (const [payload, pointer] of refused) {
      const { status, body } = await api.put(path(id('d'), move), { payload })
      expect([status, body['code']]).toEqual([400, 'invalid_request'])
      expect(body['errors']).toMatchObject([{ pointer }])
    }
    const reason = 'ü'.repeat(2000)
    const { body } = await api.put(path(id('d'), move), { payload: { reason } })
    expect(body['end_note']).toBe(reason)
  })

  test('a JSON content type without a body is no body', async () => {
    await api.seedTask({ task_id: id('empty') })
    const headers = { ...keyOf(api.project_id), 'content-type': 'application/json' }
    expect((await api.put(path(id('empty'), move), { headers })).status).toBe(200)
  })

  test('unknown, foreign and without permission', async () => {
    await api.seedTask({ task_id: id('e') })
    const { project_id } = api
    const none = await api.put(path(id('none'), move))
    expect([none.status, none.body['code']]).toEqual([404, 'task_not_found'])
    const refused = [
      [keyOf(randomUUID()), 404],
      [{}, 401],
      [keyOf(project_id, 'tasks:read'), 403],
      [tokenOf('viewer', project_id), 403],
      [tokenOf('editor', randomUUID()), 404],
    ] as const
    for (const [headers, status] of refused) {
      expect((await api.put(path(id('e'), move), { headers })).status).toBe(status)
    }
    expect((await api.get(path(id('e')))).body['state']).toBe('running')
    const editor = await api.put(path(id('e'), move), { headers: tokenOf('editor', project_id) })
    expect(editor.body).toMatchObject({ state, ended_by: 'user:user-1' })
  })

  test('waits for a task whose calls are still in flight', async () => {
    await using patient = await openTaskApi({ url, settings: { arrival_wait_ms: 30_000 } })
    const reply = patient.put(path(id('soon'), move))
    await setTimeout(120)
    await patient.seedTask({ task_id: id('soon') })
    expect(await reply).toMatchObject({ status: 200, body: { state } })
  })

  test('waits no longer than its setting, and creates no task', async () => {
    await using patient = await openTaskApi({ url, settings: { arrival_wait_ms: 200 } })
    expect((await patient.put(path(id('typo'), move))).status).toBe(404)
    expect((await patient.get('/api/v1/tasks')).body['total']).toBe(0)
  })

  test('an unavailable database is 503', async () => {
    await using dead = await openTaskApi({ url: 'postgres://nobody@127.0.0.1:1/none' })
    const reply = await dead.put(path('a', move))
    expect([reply.status, reply.body['code']]).toEqual([503, 'store_unavailable'])
  })
})
