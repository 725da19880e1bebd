import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationTreeRoutes } from '../../src/capabilities/conversations/index.ts'
import { openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import type { Json } from '../support/query-api.ts'
import { keyOf } from '../support/task-api.ts'
import { type GivenRow, openTraceApi, type TraceApi } from '../support/trace-api.ts'
import { traceStartNs } from '../support/trace-rows.ts'

let api: TraceApi
beforeAll(async () => {
  const columnar = await migratedClickHouse()
  const store = openClickHouseStore({ columnar })
  api = await openTraceApi({
    columnar,
    routes: (queries, { db }) =>
      conversationTreeRoutes({
        ...{ db, store, queries },
        clock: { now_ms: () => Number(traceStartNs / 1_000_000n) },
      }),
  })
})
afterAll(() => api[Symbol.asyncDispose]())

async function get(id: string, query = '', scopes = keyOf(api.project_id)) {
  const url = `${api.url}/api/v1/conversations/${id}/trace-tree?${query}`
  const reply = await fetch(url, { headers: scopes })
  return { status: reply.status, body: (await reply.json()) as Json }
}

/** A conversation in the relational store, as roll-ups leave it. */
async function conversation(): Promise<string> {
  const conversation_id = newId()
  await api.relational.db
    .insertInto('conversations')
    .values({
      project_id: api.project_id,
      conversation_id,
      started_at: isoFromNs(traceStartNs),
      last_activity_at: isoFromNs(traceStartNs + 60_000_000_000n),
    })
    .execute()
  return conversation_id
}

const call = { type: 'generation', input_uncached_tokens: 10, cost_usd: '0.1' } as const

describe('the tree of a conversation', () => {
  test('tasks, traces, observations, each counted once', async () => {
    const conversation_id = await conversation()
    const of = (task_id: string) => ({ conversation_id, task_id })
    await api.insertTask({ task_id: `one ${conversation_id}`, conversation_id })
    const one = `one ${conversation_id}`
    const first = await api.store([
      { id: 'root', at: 0, took: 20, type: 'agent', input_uncached_tokens: 20, ...of(one) },
      { id: 'a', parent: 'root', at: 1, took: 3, ...call, ...of(one) },
      // A span that does not name its conversation still belongs to the trace.
      { id: 'plain', parent: 'root', at: 5, took: 3, task_id: '' },
    ])
    const second = await api.store([
      { id: 'b', parent: 'root', at: 8, took: 3, ...call, ...of(one), status: 'error' },
    ])
    const third = await api.store([
      { id: 'c', parent: 'nowhere', at: 30, took: 3, ...call, ...of('two') },
    ])
    const { status, body } = await get(conversation_id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 3, truncated: false, next_cursor: null })
    expect(body.conversation.conversation_id).toBe(conversation_id)
    expect(body.tasks.map((each: Json) => each.task_id)).toEqual([one, 'two'])
    const [ofOne, ofTwo] = body.tasks
    expect(ofOne.task).toMatchObject({ task_id: one, state: 'running' })
    expect(ofTwo.task).toBeNull()
    expect(ofOne.rollup).toMatchObject({ observations: 4, calls: 2, errors: 1, cost_usd: '0.2' })
    expect(ofOne.rollup.tokens.total).toBe(20)
    expect(ofOne.traces.map((each: Json) => each.trace_id)).toEqual([first, second])
    expect(ofOne.traces[0].rollup).toMatchObject({ observations: 3, calls: 1, errors: 0 })
    expect(ofOne.traces[1].rollup).toMatchObject({ observations: 1, calls: 1, errors: 1 })
    const shown = ofOne.traces[0].observations.map((each: Json) => [each.node_id, each.depth])
    expect(shown).toEqual([
      ['root', 0],
      ['a', 1],
      ['plain', 1],
    ])
    expect(ofOne.traces[1].observations).toMatchObject([
      { node_id: 'b', parent_id: 'root', parent_trace_id: first, marks: ['relinked'] },
    ])
    expect(ofOne.traces[0].observations[0]).toMatchObject({ children: 3, rollup: { calls: 2 } })
    expect(ofTwo.traces[0].observations).toMatchObject([
      { node_id: `orphans:${third}`, type: 'synthetic' },
      { node_id: 'c', missing_parent_id: 'nowhere', marks: ['orphan'] },
    ])
    const explored = await fetch(`${api.url}${ofOne.traces[0].explorer_url}`, {
      headers: keyOf(api.project_id, 'traces:read'),
    })
    expect(explored.status).toBe(200)
  })

  test('a parent that arrives late gets its children', async () => {
    const conversation_id = await conversation()
    const child: GivenRow = { id: 'b', parent: 'a', at: 1, took: 1, conversation_id }
    const trace_id = await api.store([child])
    const before = await get(conversation_id)
    expect(before.body.tasks[0].traces[0].observations[1].marks).toEqual(['orphan'])
    await api.store([{ id: 'a', at: 0, took: 5, conversation_id }], trace_id)
    const after = await get(conversation_id)
    expect(after.body.tasks[0].traces[0].observations).toMatchObject([
      { node_id: 'a' },
      { node_id: 'b', parent_id: 'a', marks: [] },
    ])
  })

  test('is read page by page, and bounded', async () => {
    const conversation_id = await conversation()
    const ids: string[] = []
    for (let at = 0; at < 3; at += 1) {
      const rows = Array.from({ length: 5 }, (_, n) => ({
        ...{ id: `n${n}`, at: at * 10 + n, took: 1, conversation_id },
        ...(n > 0 && { parent: `n${n - 1}` }),
      }))
      ids.push(await api.store(rows))
    }
    const seen: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 4; pages += 1) {
      const { body } = await get(conversation_id, `limit=2&depth=2&observations=1${cursor}`)
      for (const { traces } of body.tasks) {
        for (const trace of traces) {
          seen.push(trace.trace_id)
          expect(trace.observations).toHaveLength(1)
          expect(trace.rollup.observations).toBe(5)
        }
      }
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual(ids)
    const deep = await get(conversation_id, 'depth=2&limit=1')
    expect(deep.body.tasks[0].traces[0].observations).toHaveLength(2)
  })
})

describe('refuses', () => {
  test('conversations of others, and missing ones', async () => {
    const conversation_id = await conversation()
    expect((await get(conversation_id, '', keyOf(newId()))).status).toBe(404)
    expect((await get(newId())).body.code).toBe('conversation_not_found')
    const scopes = keyOf(api.project_id, 'traces:read')
    expect((await get(conversation_id, '', scopes)).status).toBe(403)
  })

  const times = ['to=2000-01-01T00:00:00Z', 'from=2199-01-01T00:00:00Z']
  test.each(['depth=0', 'limit=101', 'observations=201', 'cursor=x', 'more=1', ...times])(
    '%s',
    async (query) => {
      expect((await get(await conversation(), query)).status).toBe(400)
    },
  )

  test('is empty when a conversation has no traces', async () => {
    const { status, body } = await get(await conversation())
    expect(status).toBe(200)
    expect(body).toMatchObject({ tasks: [], total: 0, next_cursor: null })
  })
})
