import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationIdFrom } from '../../src/kernel/ids.ts'
import { testPostgres } from '../support/postgres.ts'
import {
  instant,
  keyOf,
  openTaskApi,
  type Reply,
  type TaskApi,
  tokenOf,
} from '../support/task-api.ts'

let url: string
let api: TaskApi
beforeAll(async () => {
  url = await testPostgres()
  api = await openTaskApi({ url })
})
afterAll(() => api[Symbol.asyncDispose]())

const idsOf = ({ body }: Reply) =>
  (body['conversations'] as { conversation_id: string }[]).map((one) => one.conversation_id)

describe('GET /api/v1/conversations', () => {
  let ada: string
  let bob: string
  beforeAll(async () => {
    ada = await api.seedConversation({
      user_id: 'ada',
      models: ['m-1', 'm-2'],
      external_id: 'chat',
      tasks: 2,
      traces: 3,
      calls: 4,
      errors: 1,
      total_tokens: 50,
      cost_usd: '0.500000000',
    })
    const times = { started_at: instant(-7200), last_activity_at: instant(-3600) }
    bob = await api.seedConversation({ user_id: 'bob', models: ['m-2'], ...times })
  })

  test('shows sums and times', async () => {
    const { body } = await api.get('/api/v1/conversations?user_id=ada')
    expect(body).toEqual({
      conversations: [
        {
          conversation_id: ada,
          external_id: 'chat',
          user_id: 'ada',
          started_at: instant(-60),
          last_activity_at: instant(-30),
          duration_ms: 30_000,
          total_tasks: 2,
          total_traces: 3,
          calls: 4,
          errors: 1,
          total_tokens: 50,
          cost_usd: '0.5',
          models: ['m-1', 'm-2'],
          url: `/api/v1/conversations/${ada}`,
        },
      ],
      total: 1,
      next_cursor: null,
    })
  })

  test('filters', async () => {
    const expected: [string, string[]][] = [
      ['', [ada, bob]],
      ['model=m-1', [ada]],
      ['model=m-2', [ada, bob]],
      [`from=${instant(-3600)}`, [ada, bob]],
      [`from=${instant(-3599)}`, [ada]],
      [`to=${instant(-60)}`, [bob]],
      ['user_id=nobody', []],
    ]
    for (const [query, ids] of expected) {
      const reply = await api.get(`/api/v1/conversations?${query}`)
      expect([query, idsOf(reply)]).toEqual([query, ids])
      expect(reply.body['total']).toBe(ids.length)
    }
  })

  test.each([
    ['limit=0', 'query.limit'],
    ['sort=tasks', 'query.sort'],
    ['from=x', 'query.from'],
    ['state=running', 'query.state'],
  ])('refuses %s', async (query, pointer) => {
    const { status, body } = await api.get(`/api/v1/conversations?${query}`)
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['errors']).toMatchObject([{ pointer }])
  })

  test('credentials, and other projects', async () => {
    const { project_id, get } = api
    const path = '/api/v1/conversations'
    expect((await get(path, { headers: {} })).status).toBe(401)
    const writer = keyOf(project_id, 'tasks:write')
    expect((await get(path, { headers: writer })).status).toBe(403)
    const viewer = tokenOf('viewer', project_id)
    expect(idsOf(await get(path, { headers: viewer }))).toEqual([ada, bob])
    expect(idsOf(await get(path, { headers: keyOf(randomUUID()) }))).toEqual([])
  })
})

describe('sorting and pages of conversations', () => {
  const sorts = [
    'last_activity_at',
    'started_at',
    'cost_usd',
    'total_tokens',
    'calls',
    'total_tasks',
    'total_traces',
  ]
  let sorted: TaskApi
  beforeAll(async () => {
    sorted = await openTaskApi({ url })
    for (let n = 0; n < 10; n++) {
      await sorted.seedConversation({
        last_activity_at: instant((n * 3) % 5),
        started_at: instant(((n * 7) % 5) - 100),
        cost_usd: `${9 + ((n * 2) % 5)}.5`,
        total_tokens: 9 + ((n * 4) % 5),
        calls: (n * 6) % 5,
        tasks: (n * 8) % 5,
        traces: (n * 9) % 5,
      })
    }
  })
  afterAll(() => sorted[Symbol.asyncDispose]())

  test.each(sorts.flatMap((sort) => [[sort, 'asc'] as const, [sort, 'desc'] as const]))(
    'by %s %s, in pages of 3, while others are added',
    async (sort, order) => {
      const seen: Record<string, unknown>[] = []
      let cursor: unknown = ''
      for (let page = 0; cursor !== null && page < 50; page++) {
        const from = cursor === '' ? '' : `&cursor=${cursor}`
        const query = `sort=${sort}&order=${order}&limit=3${from}`
        const { body } = await sorted.get(`/api/v1/conversations?${query}`)
        const found = body['conversations'] as Record<string, unknown>[]
        seen.push(...found.filter((one) => one['user_id'] !== 'added'))
        cursor = body['next_cursor']
        await sorted.seedConversation({ user_id: 'added', last_activity_at: instant(2) })
      }
      await sorted.db.deleteFrom('conversations').where('user_id', '=', 'added').execute()
      expect(seen).toHaveLength(10)
      expect(new Set(seen.map((one) => one['conversation_id'])).size).toBe(10)
      const values = seen.map((one) =>
        sort.endsWith('_at') ? Date.parse(String(one[sort])) : Number(one[sort]),
      )
      const expected = values.toSorted((a, b) => (order === 'asc' ? a - b : b - a))
      expect(values).toEqual(expected)
    },
  )

  test('a cursor of another order, or with an invalid id, is refused', async () => {
    const { body } = await sorted.get('/api/v1/conversations?limit=1')
    const forged = JSON.stringify(['conversations by last_activity_at desc', instant(0), 'x'])
    for (const query of [
      `order=asc&cursor=${body['next_cursor']}`,
      `cursor=${Buffer.from(forged).toString('base64url')}`,
    ]) {
      const reply = await sorted.get(`/api/v1/conversations?${query}`)
      expect([reply.status, reply.body['code']]).toEqual([400, 'invalid_cursor'])
    }
  })
})

describe('GET /api/v1/conversations/{conversation_id}', () => {
  test('shows its first tasks and the counts of all states, by UUID and by the client’s id', async () => {
    const external_id = 'thread/7 ü'
    const { conversation_id } = conversationIdFrom(api.project_id, external_id)
    await api.seedConversation({ conversation_id, external_id, tasks: 53 })
    const state = ['completed', 'failed', 'running'] as const
    for (let n = 0; n < 53; n++) {
      await api.seedTask({
        task_id: `talk ${n}`,
        conversation_id,
        started_at: instant(n - 9000),
        last_activity_at: instant(n === 50 ? 0 : -1900),
        state: state[n % 3] ?? 'running',
      })
    }
    const byUuid = await api.get(`/api/v1/conversations/${conversation_id.toUpperCase()}`)
    const byName = await api.get(`/api/v1/conversations/${encodeURIComponent(external_id)}`)
    expect(byUuid.status).toBe(200)
    expect(byName.body).toEqual(byUuid.body)
    const { tasks, tasks_url, ...rest } = byUuid.body
    expect(rest).toMatchObject({
      conversation_id,
      external_id,
      total_tasks: 53,
      task_states: { completed: 18, failed: 18, running: 17, stalled: 16 },
    })
    const shown = (tasks as { task_id: string }[]).map(({ task_id }) => task_id)
    expect(shown).toEqual(Array.from({ length: 50 }, (_, n) => `talk ${n}`))
    expect((await api.get(String(tasks_url))).body['total']).toBe(53)
  })

  test('unknown, foreign and without permission', async () => {
    const id = await api.seedConversation()
    const path = `/api/v1/conversations/${id}`
    for (const headers of [keyOf(randomUUID()), tokenOf('viewer', randomUUID())]) {
      const { status, body } = await api.get(path, { headers })
      expect([status, body['code']]).toEqual([404, 'conversation_not_found'])
    }
    expect((await api.get(path, { headers: {} })).status).toBe(401)
    expect((await api.get(`/api/v1/conversations/${'x'.repeat(257)}`)).status).toBe(400)
    const none = await api.get('/api/v1/conversations/none')
    expect(none.body['detail']).toContain('"none"')
  })

  test('an unavailable database is 503', async () => {
    await using dead = await openTaskApi({ url: 'postgres://nobody@127.0.0.1:1/none' })
    for (const path of ['', '/x', '/x/traces']) {
      const reply = await dead.get(`/api/v1/conversations${path}`)
      expect([reply.status, reply.body['code']]).toEqual([503, 'store_unavailable'])
    }
  })
})
