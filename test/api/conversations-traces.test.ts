import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationIdFrom, newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openTestStore, type TestStore } from '../support/observation-store.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'
import {
  keyOf,
  now_ms,
  openTaskApi,
  type Reply,
  type TaskApi,
  tokenOf,
} from '../support/task-api.ts'

let url: string
let stores: TestStore
let api: TaskApi
beforeAll(async () => {
  ;[url, stores] = await Promise.all([testPostgres(), openTestStore()])
  api = await openTaskApi({ url, store: stores.store })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await stores.close()
})

const path = (id: string, query = '') =>
  `/api/v1/conversations/${encodeURIComponent(id)}/traces?${query}`
const idsOf = ({ body }: Reply) => (body['traces'] as { trace_id: string }[]).map((t) => t.trace_id)
const start_ns = BigInt(now_ms - 60_000) * 1_000_000n

let made = 0
function call(conversation_id: string, seconds: number, more: Partial<Observation>): Observation {
  const start_time = start_ns + BigInt(seconds) * 1_000_000_000n
  return observationOf({
    project_id: api.project_id,
    conversation_id,
    observation_id: String(++made).padStart(16, '0'),
    start_time,
    end_time: start_time + 500_000_000n,
    ...more,
  })
}

describe('GET /api/v1/conversations/{conversation_id}/traces', () => {
  test('sums up each trace', async () => {
    const conversation_id = await api.seedConversation()
    const trace_id = newId()
    const one = call(conversation_id, 0, { trace_id, task_id: 'a/b' })
    const failed = call(conversation_id, 3, {
      trace_id,
      task_id: 'a/b',
      status: 'error',
      model: 'm-0',
      cost_usd: null,
    })
    await stores.store.insert([failed, one], { token: randomUUID() })
    const { status, body } = await api.get(path(conversation_id))
    expect(status).toBe(200)
    expect(body).toEqual({
      traces: [
        {
          trace_id,
          name: 'chat m-1',
          status: 'error',
          started_at: isoFromNs(start_ns),
          ended_at: isoFromNs(start_ns + 3_500_000_000n),
          duration_ms: 3500,
          task_id: 'a/b',
          task_url: '/api/v1/tasks/a%2Fb',
          observations: 2,
          calls: 2,
          errors: 1,
          cancelled: 0,
          tokens: {
            input_uncached: 20,
            cache_read: 0,
            cache_write: 0,
            output_visible: 10,
            reasoning: 0,
            total: 30,
            estimated_calls: 0,
          },
          cost_usd: '0.001',
          unpriced_calls: 1,
          partially_priced_calls: 0,
          merged_calls: 0,
          models: ['m-0', 'm-1-2026'],
          providers: ['openai'],
        },
      ],
      total: 1,
      next_cursor: null,
    })
  })

  test.each(['asc', 'desc'])(
    'pages %s hold each trace once, while others arrive',
    async (order) => {
      const external_id = `thread ${order}`
      const { conversation_id } = conversationIdFrom(api.project_id, external_id)
      await api.seedConversation({ conversation_id, external_id })
      const traces = Array.from({ length: 9 }, () => newId())
      const rows = traces.map((trace_id, n) =>
        call(conversation_id, Math.floor(n / 3), { trace_id }),
      )
      await stores.store.insert(rows, { token: randomUUID() })
      const seen: string[] = []
      let cursor: unknown = ''
      for (let page = 0; cursor !== null && page < 20; page++) {
        const from = cursor === '' ? '' : `&cursor=${cursor}`
        const reply = await api.get(path(external_id, `order=${order}&limit=2${from}`))
        seen.push(...idsOf(reply))
        cursor = reply.body['next_cursor']
        if (page > 2) continue
        const added = [-10, 10].map((at) => call(conversation_id, at, { trace_id: newId() }))
        await stores.store.insert(added, { token: randomUUID() })
      }
      expect(new Set(seen).size).toBe(seen.length)
      const places = seen.filter((id) => traces.includes(id)).map((id) => traces.indexOf(id))
      const starts = places.map((place) => Math.floor(place / 3))
      const expected = [0, 0, 0, 1, 1, 1, 2, 2, 2]
      expect(starts).toEqual(order === 'asc' ? expected : expected.toReversed())
      const total = await api.get(path(external_id))
      expect(total.body['total']).toBe(15)
    },
  )

  test('a window selects the traces that started in it', async () => {
    const conversation_id = await api.seedConversation()
    const rows = [0, 10, 20].map((at) => call(conversation_id, at, { trace_id: newId() }))
    await stores.store.insert(rows, { token: randomUUID() })
    const at = (seconds: number) => isoFromNs(start_ns + BigInt(seconds) * 1_000_000_000n)
    const reply = await api.get(path(conversation_id, `from=${at(10)}&to=${at(20)}`))
    expect(idsOf(reply)).toEqual([rows[1]?.trace_id])
    expect(reply.body['total']).toBe(1)
  })

  test('nothing of another project shows', async () => {
    const conversation_id = await api.seedConversation()
    const foreign = { ...call(conversation_id, 0, {}), project_id: randomUUID() }
    await stores.store.insert([foreign], { token: randomUUID() })
    expect((await api.get(path(conversation_id))).body['traces']).toEqual([])
  })

  test('invalid queries and cursors are refused', async () => {
    const conversation_id = await api.seedConversation()
    const rows = [0, 1].map((at) => call(conversation_id, at, { trace_id: newId() }))
    await stores.store.insert(rows, { token: randomUUID() })
    const { body } = await api.get(path(conversation_id, 'order=asc&limit=1'))
    const forged = JSON.stringify([`traces of ${conversation_id} asc`, 'x', 'y'])
    const refused = [
      ['limit=1001', 'invalid_request'],
      ['sort=cost_usd', 'invalid_request'],
      [`from=${isoFromNs(2n)}&to=${isoFromNs(1n)}`, 'invalid_request'],
      [`order=desc&cursor=${body['next_cursor']}`, 'invalid_cursor'],
      [`order=asc&cursor=${Buffer.from(forged).toString('base64url')}`, 'invalid_cursor'],
    ]
    for (const [query, code] of refused) {
      const reply = await api.get(path(conversation_id, query))
      expect([query, reply.status, reply.body['code']]).toEqual([query, 400, code])
    }
    const other = await api.seedConversation()
    const reply = await api.get(path(other, `order=asc&cursor=${body['next_cursor']}`))
    expect(reply.body['code']).toBe('invalid_cursor')
  })

  test('unknown, foreign and without permission', async () => {
    const conversation_id = await api.seedConversation()
    const statuses = [
      [keyOf(randomUUID()), 404],
      [keyOf(api.project_id, 'tasks:write'), 403],
      [{}, 401],
      [tokenOf('viewer', api.project_id), 200],
    ] as const
    for (const [headers, status] of statuses) {
      expect((await api.get(path(conversation_id), { headers })).status).toBe(status)
    }
    expect((await api.get(path(randomUUID()))).body['code']).toBe('conversation_not_found')
  })

  test('an unavailable store is 503 and named', async () => {
    await using withoutClickHouse = await openTaskApi({ url, store: stores.unreachable })
    const id = await withoutClickHouse.seedConversation()
    const reply = await withoutClickHouse.get(path(id))
    expect([reply.status, reply.body['code']]).toEqual([503, 'store_unavailable'])
    expect(reply.body['detail']).toMatch(/clickhouse|columnar/i)
  })
})
