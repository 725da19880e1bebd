import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openTestStore, type TestStore } from '../support/observation-store.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'
import {
  instant,
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

type Entry = Record<string, unknown> & { role: string; running: Record<string, unknown> }
const entriesOf = ({ body }: Reply) => body['entries'] as Entry[]
const path = (task_id: string, query = '') =>
  `/api/v1/tasks/${encodeURIComponent(task_id)}/timeline?${query}`

const start_ns = BigInt(now_ms - 60_000) * 1_000_000n

/** A call of a task from second to second; its id names its position. */
function call(task_id: string, n: number, more: Partial<Observation> = {}): Observation {
  const start_time = start_ns + BigInt(n) * 2_000_000_000n
  return observationOf({
    project_id: api.project_id,
    task_id,
    observation_id: String(n).padStart(16, '0'),
    trace_id: newId(),
    start_time,
    end_time: start_time + 1_000_000_001n,
    ...more,
  })
}

/**
 * A task of `n` calls in which every call answers the tool of the one before, with the whole
 * history.
 */
async function seedAgent(task_id: string, n: number): Promise<void> {
  await api.seedTask({ task_id })
  const results = Array.from({ length: n }, (_, i) => ({ tool_call_id: `c${i}`, content: `r${i}` }))
  const rows = Array.from({ length: n }, (_, i) =>
    call(task_id, i, {
      tool_calls: [{ id: `c${i}`, name: 'find', arguments: `{"n":${i}}` }],
      tool_results: results.slice(Math.max(0, i - 20), i),
    }),
  )
  await stores.store.insert(rows, { token: randomUUID() })
}

describe('GET /api/v1/tasks/{task_id}/timeline', () => {
  test('begins with the task, also when its second call was stored first', async () => {
    await api.seedTask({ task_id: 'out-of-order', started_at: isoFromNs(start_ns) })
    await api.db
      .insertInto('task_events')
      .values({
        id: newId(),
        project_id: api.project_id,
        task_id: 'out-of-order',
        kind: 'created',
        at: isoFromNs(start_ns + 90_000_000_000n),
        actor_kind: 'worker',
      })
      .execute()
    await stores.store.insert([call('out-of-order', 0), call('out-of-order', 1)], {
      token: randomUUID(),
    })
    const { body } = await api.get(path('out-of-order'))
    const entries = body['entries'] as Entry[]
    expect(entries.map(({ role }) => role)).toEqual(['state_change', 'model_call', 'model_call'])
    expect(entries[0]).toMatchObject({ change: 'created', time: isoFromNs(start_ns) })
  })

  test('lists calls, tools, results and changes of state in order', async () => {
    await api.seedTask({ task_id: 'story' })
    await api.db
      .insertInto('task_events')
      .values({
        id: newId(),
        project_id: api.project_id,
        task_id: 'story',
        kind: 'created',
        at: instant(-60),
        actor_kind: 'worker',
      })
      .execute()
    const tool_calls = [
      { id: 'c1', name: 'find', arguments: '{"q":"x"}' },
      { id: 'c2', name: 'count', arguments: '{}' },
    ]
    const first = call('story', 0, { tool_calls, finish_reason: 'tool_calls' })
    const retried = call('story', 1, {
      tool_results: [{ tool_call_id: 'c1', content: 'found' }],
      status: 'error',
      status_code: 500,
      outcome: 'provider_error',
      error_type: 'server_error',
      error_message: 'try again',
      input_uncached_tokens: null,
      output_visible_tokens: null,
      cost_usd: null,
    })
    const last = call('story', 2, {
      ...retryOf(retried),
      streamed: true,
      time_to_first_token_ms: 5,
    })
    await stores.store.insert([last, first, retried], { token: randomUUID() })
    await api.put('/api/v1/tasks/story/complete', { payload: { note: 'done' } })

    const { status, body } = await api.get(path('story'))
    expect(status).toBe(200)
    const entries = body['entries'] as Entry[]
    expect(entries.map((entry) => entry['change'] ?? entry['tool_call_id'] ?? entry.role)).toEqual([
      'created',
      'model_call',
      'c1',
      'c2',
      'c1',
      'model_call',
      'model_call',
      'completed',
    ])
    expect(entries[1]).toEqual({
      role: 'model_call',
      time: isoFromNs(start_ns),
      since_previous_ms: 0,
      gap_ms: null,
      running: {
        calls: 1,
        errors: 0,
        tool_calls: 0,
        total_tokens: 15,
        cost_usd: '0.001',
        elapsed_ms: 0,
      },
      observation_id: '0000000000000000',
      trace_id: first.trace_id,
      ...{ step: 0, step_number: 1, findings: [] },
      end_time: isoFromNs(start_ns + 1_000_000_001n),
      type: 'generation',
      name: 'chat m-1',
      status: 'ok',
      outcome: 'complete',
      status_code: 200,
      error: null,
      provider: 'openai',
      model: 'm-1-2026',
      streamed: false,
      finish_reason: 'tool_calls',
      latency_ms: 1000,
      time_to_first_token_ms: null,
      tokens: {
        input_uncached: 10,
        cache_read: 0,
        cache_write: 0,
        output_visible: 5,
        reasoning: 0,
        total: 15,
        source: 'provider',
      },
      cost_usd: '0.001',
      price_version: 'test',
      price_partial: [],
      cost_computed_usd: null,
      cost_reported_usd: null,
      service_tier: '',
      counted_with: '',
      usage_details: {},
    })
    expect(entries[2]).toMatchObject({
      role: 'tool_call',
      tool_name: 'find',
      arguments: '{"q":"x"}',
      orphan: false,
      latency_ms: 999.999,
      result_observation_id: retried.observation_id,
      result_trace_id: retried.trace_id,
    })
    expect(entries[3]).toMatchObject({ tool_name: 'count', orphan: true })
    expect(entries[4]).toMatchObject({
      role: 'tool_result',
      content: 'found',
      orphan: false,
      call_observation_id: first.observation_id,
    })
    expect(entries[5]).toMatchObject({
      status: 'error',
      error: { type: 'server_error', message: 'try again' },
      cost_usd: null,
    })
    expect(entries[6]).toMatchObject({ streamed: true, time_to_first_token_ms: 5 })
    expect(entries[7]).toMatchObject({
      note: 'done',
      actor: { kind: 'key', id: 'key-1' },
      gap_ms: 54_999.999,
    })
    expect(body).toMatchObject({
      task_id: 'story',
      total: 8,
      next_cursor: null,
      totals: { calls: 3, errors: 1, tool_calls: 2, total_tokens: 30, cost_usd: '0.002' },
    })
  })

  test('a trace of spans reads as calls, tools, results and operations', async () => {
    await api.seedTask({ task_id: 'spans' })
    const trace = { trace_id: newId(), source: 'otlp', outcome: '' } as const
    const asked = { id: 'c1', name: 'find', arguments: '{}' }
    const rows = [
      call('spans', 0, { ...trace, type: 'agent', tool_calls: [asked] }),
      call('spans', 1, { ...trace, tool_calls: [asked] }),
      call('spans', 2, {
        ...trace,
        type: 'tool',
        tool_calls: [asked],
        tool_results: [{ tool_call_id: 'c1', content: '{"n":1}' }],
      }),
      call('spans', 3, { ...trace, type: 'span' }),
      call('spans', 4, { ...trace, tool_results: [{ tool_call_id: 'c1', content: '1' }] }),
    ]
    await stores.store.insert(rows, { token: randomUUID() })
    const entries = entriesOf(await api.get(path('spans')))
    expect(entries.map((entry) => [entry.role, Number(entry['observation_id'])])).toEqual([
      ['operation', 0],
      ['model_call', 1],
      ['tool_call', 1],
      ['tool_result', 2],
      ['model_call', 4],
    ])
    expect(entries[3]).toMatchObject({ content: '{"n":1}', status: 'ok', error: null })
    const operations = entriesOf(await api.get(path('spans', 'role=operation')))
    expect(operations).toEqual([entries[0]])
  })

  test('has the tool calls of /tool-calls, including those before the recorded start', async () => {
    await api.seedTask({ task_id: 'same', started_at: isoFromNs(start_ns + 1_800_000_000_000n) })
    const user = { role: 'user', content: 'Find it.' }
    const asked = (id: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'find', arguments: '{"q":1}' } }],
    })
    const toolMessage = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'found' })
    const trace = { trace_id: newId() }
    const twin = { parent_observation_id: '0000000000000000', source: 'proxy' } as const
    const first = { input: JSON.stringify([user]), output: JSON.stringify([asked('c1')]) }
    const tool_calls = [{ id: 'c1', name: 'find', arguments: '{"q":1}' }]
    const rows = [
      call('same', 0, { ...trace, ...first, source: 'otlp', tool_calls }),
      {
        ...call('same', 0, { ...trace, ...first, ...twin, tool_calls }),
        observation_id: 'b'.repeat(16),
      },
      call('same', 2, {
        input: JSON.stringify([
          user,
          asked('c1'),
          toolMessage('c1'),
          asked('c2'),
          toolMessage('c2'),
          toolMessage('c9'),
        ]),
        output: JSON.stringify([{ role: 'assistant', content: 'Done.' }]),
      }),
    ]
    await stores.store.insert(rows, { token: randomUUID() })
    const { body } = await api.get('/api/v1/tasks/same/tool-calls')
    const uses = body['tool_calls'] as Record<string, unknown>[]
    const shown = entriesOf(await api.get(path('same')))
    expect(uses.map((use) => [use['tool_call_id'], use['orphan']])).toEqual([
      ['c1', null],
      ['c2', null],
      ['c9', 'result'],
    ])
    expect(
      shown.flatMap((entry) =>
        entry.role === 'model_call' ? [] : [[entry.role, entry['tool_call_id']]],
      ),
    ).toEqual([
      ['tool_call', 'c1'],
      ['tool_result', 'c1'],
      ['tool_call', 'c2'],
      ['tool_result', 'c2'],
      ['tool_result', 'c9'],
    ])
    expect(shown.at(-1)?.running).toMatchObject({ tool_calls: 2 })
  })

  test('pages put together are the whole, with continued running totals', async () => {
    await seedAgent('pages', 100)
    const whole = entriesOf(await api.get(path('pages', 'limit=1000')))
    expect(whole).toHaveLength(100 + 100 + 99)
    const paged: Entry[] = []
    let cursor: unknown = ''
    for (let page = 0; cursor !== null && page < 10; page++) {
      const from = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await api.get(path('pages', `limit=128${from}`))
      expect(body).toMatchObject({ total: 299, totals: { calls: 100, cost_usd: '0.1' } })
      paged.push(...(body['entries'] as Entry[]))
      cursor = body['next_cursor']
    }
    expect(paged).toEqual(whole)
    expect(paged.at(-1)?.running).toMatchObject({ calls: 100, total_tokens: 1500 })
  })

  test('a call that is recorded late shifts no page and is counted on later ones', async () => {
    await seedAgent('late', 6)
    const first = await api.get(path('late', 'limit=8'))
    const early = call('late', 0, { observation_id: 'a000000000000000', end_time: start_ns + 3n })
    await stores.store.insert([{ ...early, start_time: start_ns + 2n }], { token: randomUUID() })
    const second = await api.get(path('late', `limit=1000&cursor=${first.body['next_cursor']}`))
    const calls = (reply: Reply) =>
      entriesOf(reply).flatMap((e) => (e.role === 'model_call' ? [e['observation_id']] : []))
    expect([...calls(first), ...calls(second)]).toEqual(
      Array.from({ length: 6 }, (_, n) => String(n).padStart(16, '0')),
    )
    expect(entriesOf(second).at(-1)?.running).toMatchObject({ calls: 7 })
  })

  test('roles filter the entries and leave sums, distances and joins unchanged', async () => {
    await seedAgent('roles', 4)
    const whole = entriesOf(await api.get(path('roles')))
    for (const roles of ['tool_call', 'tool_result', 'tool_call,model_call', 'state_change']) {
      const reply = await api.get(path('roles', `role=${roles}`))
      const expected = whole.filter(({ role }) => roles.split(',').includes(role))
      expect(entriesOf(reply)).toEqual(expected)
      expect(reply.body).toMatchObject({ total: expected.length, totals: { calls: 4 } })
    }
  })

  test('gaps are marked from the threshold on', async () => {
    await api.seedTask({ task_id: 'gaps' })
    const rows = [call('gaps', 0), call('gaps', 1), call('gaps', 10)]
    await stores.store.insert(rows, { token: randomUUID() })
    const gaps = async (query: string) =>
      entriesOf(await api.get(path('gaps', query))).map((entry) => entry['gap_ms'])
    expect(await gaps('')).toEqual([null, null, 16_999.999])
    expect(await gaps('gap_min_ms=500')).toEqual([null, 999.999, 16_999.999])
    expect(await gaps('gap_min_ms=17000')).toEqual([null, null, null])
  })

  test('an observation that was written twice is listed once', async () => {
    await api.seedTask({ task_id: 'twice' })
    const row = call('twice', 0)
    await stores.store.insert([row], { token: randomUUID() })
    await stores.store.insert([row], { token: randomUUID() })
    expect((await api.get(path('twice'))).body['totals']).toMatchObject({ calls: 1 })
  })

  test('a task whose rows are not stored yet has an empty timeline', async () => {
    await api.seedTask({ task_id: 'empty' })
    expect((await api.get(path('empty'))).body).toEqual({
      task_id: 'empty',
      entries: [],
      totals: { calls: 0, errors: 0, tool_calls: 0, total_tokens: 0, cost_usd: '0', elapsed_ms: 0 },
      total: 0,
      next_cursor: null,
    })
  })

  test('of more than 200 observations has pages, exact running totals, and says what it estimates', async () => {
    await api.seedTask({ task_id: 'long', calls: 12_000 })
    const row = call('long', 0, { trace_id: newId() })
    const rows = Array.from({ length: 12_000 }, (_, n) => {
      const start_time = start_ns + BigInt(n) * 1_000_000n
      const observation_id = String(n).padStart(16, '0')
      return { ...row, observation_id, start_time, end_time: start_time }
    })
    await api.seedTask({ task_id: 'small' })
    const small = rows.slice(0, 200).map((one) => ({ ...one, task_id: 'small' }))
    await stores.store.insert(small, { token: randomUUID() })
    const exact = await api.get(path('small', 'limit=1'))
    expect(exact.body).toMatchObject({ total: 200 })
    expect(exact.body).not.toHaveProperty('total_is_exact')
    await stores.store.insert(rows.slice(0, 200), { token: randomUUID() })
    await stores.store.insert(rows.slice(200), { token: randomUUID() })
    const { body } = await api.get(path('long', 'limit=1'))
    expect(body).toMatchObject({ total: 12_000, total_is_exact: false, totals: { calls: 12_000 } })
    let [cursor, seen] = ['', 0]
    for (let page = 0; page < 20; page++) {
      const reply = await api.get(path('long', `limit=1000${cursor}`))
      for (const entry of entriesOf(reply)) {
        expect(entry['observation_id']).toBe(String(seen).padStart(16, '0'))
        seen += 1
        expect(entry.running).toMatchObject({ calls: seen, elapsed_ms: seen - 1 })
      }
      if (reply.body['next_cursor'] === null) break
      cursor = `&cursor=${reply.body['next_cursor']}`
    }
    expect(seen).toBe(12_000)
  })

  test('rows of another project are not shown, even for a task of the same id', async () => {
    await api.seedTask({ task_id: 'shared' })
    await using foreign = await openTaskApi({ url, store: stores.store })
    await foreign.seedTask({ task_id: 'shared' })
    const rows = [call('shared', 0), { ...call('shared', 1), project_id: foreign.project_id }]
    await stores.store.insert(rows, { token: randomUUID() })
    expect((await api.get(path('shared'))).body['totals']).toMatchObject({ calls: 1 })
    const [entry] = entriesOf(await foreign.get(path('shared')))
    expect(entry).toMatchObject({ observation_id: rows[1]?.observation_id })
  })

  test.each([
    ['limit=0', 'invalid_request', 'got "0"'],
    ['role=model_call,x', 'invalid_request', 'got "model_call,x", expected roles of model_call'],
    ['gap_min_ms=0', 'invalid_request', 'got "0", expected an integer from 1 to 86400000'],
    ['order=desc', 'invalid_request', '"order" is not a field here'],
    ['cursor=x', 'invalid_cursor', 'got "x"'],
    [
      `cursor=${Buffer.from('["timeline of bad",1,2,3,4,5,6,7]').toString('base64url')}`,
      'invalid_cursor',
      'next_cursor of an earlier page',
    ],
  ])('%s is refused', async (query, code, detail) => {
    await api.seedTask({ task_id: 'bad' }).catch(() => undefined)
    const { status, body } = await api.get(path('bad', query))
    expect([status, body['code']]).toEqual([400, code])
    expect(body['detail']).toContain(detail)
  })

  test('a cursor of another task is refused', async () => {
    await seedAgent('one', 2)
    await seedAgent('other', 2)
    const { body } = await api.get(path('one', 'limit=1'))
    const reply = await api.get(path('other', `cursor=${body['next_cursor']}`))
    expect(reply.body['code']).toBe('invalid_cursor')
  })

  test('unknown, foreign and without permission', async () => {
    await api.seedTask({ task_id: 'mine' })
    expect((await api.get(path('none'))).body['code']).toBe('task_not_found')
    const statuses = [
      [keyOf(randomUUID()), 404],
      [keyOf(api.project_id, 'tasks:write'), 403],
      [{}, 401],
      [tokenOf('viewer', api.project_id), 200],
    ] as const
    for (const [headers, status] of statuses) {
      expect((await api.get(path('mine'), { headers })).status).toBe(status)
    }
  })

  test('an unavailable store is 503 and named', async () => {
    await using withoutClickHouse = await openTaskApi({ url, store: stores.unreachable })
    await withoutClickHouse.seedTask({ task_id: 'a' })
    const reply = await withoutClickHouse.get(path('a'))
    expect([reply.status, reply.body['code']]).toEqual([503, 'store_unavailable'])
    expect(reply.body['detail']).toMatch(/clickhouse|columnar/i)
    await using dead = await openTaskApi({ url: 'postgres://nobody@127.0.0.1:1/none' })
    expect((await dead.get(path('a'))).status).toBe(503)
  })
})

/** What a client sends when it retries a call: the same results. */
function retryOf({ tool_results }: Observation): Partial<Observation> {
  return { tool_results }
}
