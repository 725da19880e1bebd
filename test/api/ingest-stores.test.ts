import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ObservationStore,
  openClickHouseStore,
} from '../../src/capabilities/observability/stores/index.ts'
import { conversationIdFrom } from '../../src/kernel/ids.ts'
import type { Columnar } from '../../src/platform/columnar/index.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { openIngestBench, start_ms, type ToldCall } from '../support/ingest.ts'
import { testPostgres } from '../support/postgres.ts'

let columnar: Columnar
let store: ObservationStore
const url = await testPostgres()

beforeAll(async () => {
  columnar = await migratedClickHouse()
  store = openClickHouseStore({ columnar })
})
afterAll(() => columnar.close())

const line = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`

test('what goes in at the queue comes out of ClickHouse and PostgreSQL, exactly', async () => {
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  const trace_id = randomUUID()
  const facts = { trace_id, task_id: 'Reise „Süd“', conversation_id: 'chat/7', user_id: 'ada' }
  const calls: ToldCall[] = [
    {
      from: 0,
      to: 1.5,
      facts: { ...facts, observation_id: '00000000000000a1', task_name: 'Plan' },
      request: {
        model: 'gpt-4o-mini',
        temperature: 0,
        messages: [{ role: 'user', content: 'Hé' }],
      },
      response: {
        model: 'gpt-4o-mini-2024-07-18',
        choices: [
          {
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: {
          prompt_tokens: 1000,
          completion_tokens: 300,
          total_tokens: 1300,
          prompt_tokens_details: { cached_tokens: 400 },
          completion_tokens_details: { reasoning_tokens: 200 },
        },
      },
    },
    {
      from: 2,
      facts: {
        ...facts,
        observation_id: '00000000000000a2',
        streamed: true,
        response_type: 'text/event-stream',
      },
      request: {
        model: 'gpt-4o-mini',
        messages: [{ role: 'assistant' }, { role: 'tool', tool_call_id: 'c1', content: '☀️' }],
      },
      response:
        line({ model: 'own', choices: [{ index: 0, delta: { content: 'Sonn' } }] }) +
        line({ choices: [{ index: 0, delta: { content: 'ig' }, finish_reason: 'stop' }] }) +
        'data: [DONE]\n\n',
    },
  ]
  await bench.publish(project_id, calls, 'm-1')
  await bench.startWorker()
  await bench.settled()

  const rows = await store.traceObservations(project_id, { trace_id, limit: 10 })
  expect(rows).toMatchObject([
    {
      observation_id: '00000000000000a1',
      start_time: BigInt(start_ms) * 1_000_000n,
      input: '[{"role":"user","content":"Hé"}]',
      tool_calls: [{ id: 'c1', name: 'f', arguments: '{}' }],
      input_uncached_tokens: 600,
      cache_read_tokens: 400,
      output_visible_tokens: 100,
      reasoning_tokens: 200,
      usage_source: 'provider',
      cost_usd: '0.0003',
      attributes: { 'request.temperature': '0' },
      message_id: 'm-1',
    },
    {
      observation_id: '00000000000000a2',
      output: '[{"role":"assistant","content":"Sonnig"}]',
      tool_results: [{ tool_call_id: 'c1', content: '☀️' }],
      usage_source: 'estimated',
      streamed: true,
    },
  ])
  const [first, second] = rows
  const estimated = (second?.input_uncached_tokens ?? 0) + (second?.output_visible_tokens ?? 0)
  expect(first?.cost_usd).toBe('0.0003')
  const task = await bench.db
    .selectFrom('tasks')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  expect(task).toMatchObject({
    task_id: 'Reise „Süd“',
    name: 'Plan',
    user_id: 'ada',
    conversation_id: conversationIdFrom(project_id, 'chat/7').conversation_id,
    state: 'running',
    calls: 2,
    total_tokens: 1300 + estimated,
    estimated_calls: 1,
    duration_ms: 3000,
    models: ['gpt-4o-mini-2024-07-18', 'own'],
  })
  const conversation = await bench.db
    .selectFrom('conversations')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  expect(conversation).toMatchObject({
    external_id: 'chat/7',
    tasks: 1,
    traces: 1,
    calls: 2,
    total_tokens: task.total_tokens,
    cost_usd: task.cost_usd,
  })
})

test('the same calls in other messages are counted once', async () => {
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  const call = (id: string) => ({
    facts: { task_id: 't', trace_id: project_id, observation_id: id },
  })
  await bench.publish(project_id, [call('a'), call('b')])
  await bench.startWorker({ batch_messages_max: 1 })
  await bench.settled()
  await bench.publish(project_id, [call('b'), call('c')])
  await bench.publish(project_id, [call('a'), call('c')])
  await bench.settled()
  const task = await bench.db
    .selectFrom('tasks')
    .select(['calls', 'total_tokens'])
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  expect(task).toEqual({ calls: 3, total_tokens: 45 })
})
