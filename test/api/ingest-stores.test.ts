import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { computeTaskRollup } from '../../src/capabilities/ingest/roll-up/task-state.ts'
import { collectTouched } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { acceptedEntry, rejectedEntry } from '../../src/capabilities/ledger/index.ts'
import {
  openClickHouseLedgerStore,
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { findTasks } from '../../src/capabilities/tasks/list-store.ts'
import { nanoDollarsFrom } from '../../src/kernel/dollars.ts'
import { conversationIdFrom } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { openIngestBench, start_ms, type ToldCall, type WorkerStore } from '../support/ingest.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'
import { observationRow, rowFrame } from '../support/row-frames.ts'

/** When the requests of row frames arrived. */
const received_at_ms = start_ms

let columnar: ColumnarServer
let store: WorkerStore
const url = await testPostgres()

beforeAll(async () => {
  columnar = await migratedClickHouse()
  store = {
    ...openClickHouseStore({ columnar }),
    ...openClickHouseRecordStore({ columnar }),
    ...openClickHouseLedgerStore({ columnar }),
  }
})
afterAll(() => columnar.close())

const line = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`

test('records are read from ClickHouse and PostgreSQL exactly as they were queued', async () => {
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

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values)
const tokens = fc.option(fc.nat(1_000))
const observation = fc.record({
  observation_id: pick(['a', 'b', 'c', 'd', 'e']),
  trace_id: pick([0, 1].map((n) => `0199bbbb-0000-7000-8000-00000000000${n}`)),
  start: fc.nat(5),
  lasts: fc.nat(5),
  type: pick(['generation', 'embedding', 'tool', 'span'] as const),
  status: pick(['ok', 'error', 'cancelled'] as const),
  task_name: pick(['', 'x', 'y']),
  task_implicit: fc.boolean(),
  user_id: pick(['', 'u', 'v']),
  environment: pick(['', 'e', 'f']),
  release: pick(['', '1', '2']),
  cluster_name: pick(['', 'eu-1', 'us-1']),
  provider: pick(['', 'openai', 'gemini']),
  model: pick(['', 'm', 'n']),
  model_requested: pick(['', 'o']),
  usage_source: pick(['provider', 'estimated', 'none'] as const),
  input_uncached_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  output_visible_tokens: tokens,
  reasoning_tokens: tokens,
  cost_usd: fc.option(pick(['0', '0.000000001', '0.1', '12.000000001', '0.25'])),
  price_partial: fc.subarray(['audio', 'service_tier']),
})

test("a roll-up computed from rows equals the store's", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { minLength: 1, maxLength: 12 }), async (given) => {
      const project_id = randomUUID()
      const rows = given.map(({ start, lasts, cluster_name, ...row }) => {
        const start_time = BigInt(start_ms + start) * 1_000_000n
        const end_time = start_time + BigInt(lasts) * 1_000_000n
        const attributes = cluster_name && { 'resource.k8s.cluster.name': cluster_name }
        const more = {
          project_id,
          task_id: 't',
          start_time,
          end_time,
          attributes: attributes || {},
        }
        return { ...observationOf({ ...row, ...more }), cluster_name }
      })
      // The store keeps the version of the later insert; within one insert none is later.
      const unique = [...new Map(rows.map((row) => [identityOf(row), row])).values()]
      const observations = unique.map(({ cluster_name, ...row }): Observation => row)
      await store.insert(observations, { token: project_id })
      const hints = [{ task_id: 't', from: 0n }]
      const [stored] = await store.taskRollups(project_id, hints)
      const [touched] = collectTouched(unique).tasks
      if (touched === undefined) {
        expect(stored).toBeUndefined()
        return
      }
      const { cost_usd, fingerprints, ...made } = computeTaskRollup('t', touched.rows)
      expect(stored).toMatchObject({ ...made, cost_usd: stored?.cost_usd })
      expect(stored?.fingerprints?.toSorted()).toEqual(fingerprints?.toSorted())
      expect(nanoDollarsFrom(stored?.cost_usd ?? '')).toBe(nanoDollarsFrom(cost_usd))
    }),
    { numRuns: 40 },
  )
})

test("rows of a frame are stored unchanged; the edge's refusals take precedence", async () => {
  const ledger = openClickHouseLedgerStore({ columnar })
  await using bench = await openIngestBench({ store, url })
  const [project_id, ingest_request_id, trace_id] = [randomUUID(), randomUUID(), randomUUID()]
  const observation_id = '00000000000000b7'
  const row = observationRow({ project_id, trace_id, observation_id, input: '{"é":1}' })
  const requests = [{ ingest_request_id, rows: [row], rejected: { invalid_trace_id: 1 } }]
  const frame = { id: 'm', subject: `ingest.${project_id}` }
  const data = rowFrame({ project_id, message_id: 'm', requests })
  const request = { project_id, ingest_request_id, path: 'otlp', received_at_ms } as const
  await ledger.insertEntries([acceptedEntry(request, 'm', 1)], { token: '1' })
  const refused = rejectedEntry(request, { invalid_trace_id: 1, too_large: 2 })
  await ledger.insertEntries([refused], { token: '2' })
  await bench.queue.publish({ ...frame, data })
  await bench.startWorker()
  await bench.settled()
  expect(await store.observation(project_id, { trace_id, observation_id })).toMatchObject({
    ...{ input: '{"é":1}', model: 'm-1-2026', cost_usd: '0.001', message_id: 'm' },
  })
  const window = { from_ms: received_at_ms, to_ms: received_at_ms + 1 }
  expect(await ledger.sums(project_id, { ...window, lost_before_ms: undefined })).toEqual([
    {
      ...{ path: 'otlp', requests: 1, accepted: 4, stored: 1, pending: 0, masked: 0, lost: {} },
      rejected: { invalid_trace_id: 1, too_large: 2 },
    },
  ])
})

test('tasks of one name in two clusters differ by the cluster of their spans', async () => {
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  const clusters = { eu: 'eu-1', us: 'us-1', none: undefined }
  const send = async (message_id: string, clusterOf: (task_id: string) => string | undefined) => {
    const rows = Object.keys(clusters).map((task_id) => {
      const name = clusterOf(task_id)
      const attributes: Record<string, string> =
        name === undefined ? {} : { 'resource.k8s.cluster.name': name }
      const observation_id = `${task_id}-${message_id}`
      const ids = { project_id, trace_id: randomUUID(), observation_id, task_id }
      return observationRow({ ...ids, task_name: 'refund', attributes })
    })
    const requests = [{ ingest_request_id: randomUUID(), rows }]
    const data = rowFrame({ project_id, message_id, requests })
    await bench.queue.publish({ id: message_id, subject: `ingest.${project_id}`, data })
    await bench.settled()
  }
  const tasksIn = async (cluster_name: string) => {
    const page = { sort: 'started_at', order: 'asc', after: undefined, limit: 10 } as const
    const tasks = await findTasks(bench.db, project_id, { name: 'refund', cluster_name }, page)
    return tasks.map((task) => [task.task_id, task.cluster_name, task.calls])
  }
  await bench.startWorker()
  await send('first', (task_id) => clusters[task_id as keyof typeof clusters])
  expect(await tasksIn('eu-1')).toEqual([['eu', 'eu-1', 1]])
  expect(await tasksIn('us-1')).toEqual([['us', 'us-1', 1]])
  // A call without a cluster, such as a record of the proxy, says nothing about it.
  await send('second', () => undefined)
  await send('second', () => undefined)
  expect(await tasksIn('eu-1')).toEqual([['eu', 'eu-1', 2]])
  expect(await tasksIn('us-1')).toEqual([['us', 'us-1', 2]])
  expect(await tasksIn('eu')).toEqual([])
})

test('the later version of a batch counts', () => {
  const row = observationOf({ project_id: randomUUID(), task_id: 't' })
  const rollup = computeTaskRollup('t', [row, { ...row, status: 'error' }])
  expect(rollup).toMatchObject({ calls: 1, errors: 1, observations: 1 })
})

/** Of rows that start together, "latest" is by id only: rows of two traces must not share one. */
function identityOf(row: Observation): string {
  return `${row.start_time} ${row.observation_id}`
}
