import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isoFromMs } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { conversationIdFrom } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { type IngestBench, openIngestBench, start_ms } from '../support/ingest.ts'
import { memoryStore } from '../support/memory-store.ts'
import { testPostgres } from '../support/postgres.ts'

const url = await testPostgres()
const at = (seconds: number) => isoFromMs(start_ms + seconds * 1000)

async function taskOf(bench: IngestBench, project_id: string, task_id: string) {
  return bench.db
    .selectFrom('tasks')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .executeTakeFirst()
}

async function eventsOf(bench: IngestBench, project_id: string) {
  const events = await bench.db
    .selectFrom('task_events')
    .select(['task_id', 'kind', 'at', 'actor_kind'])
    .where('project_id', '=', project_id)
    .orderBy('at')
    .execute()
  return events.map((event) => [event.task_id, event.kind, event.at, event.actor_kind])
}

test('calls become observations, a task and a conversation; the queue is empty then', async () => {
  const store = memoryStore()
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  const facts = { task_id: 't-1', conversation_id: 'chat 7', user_id: 'ada', environment: 'test' }
  await bench.publish(project_id, [
    { from: 0, to: 2, facts: { ...facts, task_name: 'Plan' } },
    { from: 3, to: 4.5, facts, request: {}, response: { model: 'my-own', choices: [] } },
  ])
  await bench.publish(project_id, [
    { from: 5, facts: { ...facts, outcome: 'client_gone', status_code: 499 }, response: '' },
    { from: 7, facts: { ...facts, outcome: 'provider_error', status_code: 500 }, response: '' },
  ])
  const worker = await bench.startWorker()
  await bench.settled()

  expect(store.rows()).toHaveLength(4)
  const conversation_id = conversationIdFrom(project_id, 'chat 7').conversation_id
  expect(await taskOf(bench, project_id, 't-1')).toMatchObject({
    name: 'Plan',
    user_id: 'ada',
    conversation_id,
    implicit: false,
    state: 'running',
    ended_at: null,
    started_at: at(0),
    last_activity_at: at(8),
    duration_ms: 8000,
    late_activity: false,
    calls: 4,
    errors: 1,
    cancelled: 1,
    estimated_calls: 2,
    unpriced_calls: 2,
    models: ['gpt-4o-mini', 'my-own'],
    providers: ['openai'],
    environment: 'test',
    release: null,
    cluster_name: null,
  })
  const conversations = await bench.db
    .selectFrom('conversations')
    .selectAll()
    .where('project_id', '=', project_id)
    .execute()
  expect(conversations).toMatchObject([
    {
      conversation_id,
      external_id: 'chat 7',
      user_id: 'ada',
      started_at: at(0),
      last_activity_at: at(8),
      tasks: 1,
      traces: 4,
      calls: 4,
      errors: 1,
    },
  ])
  expect(await eventsOf(bench, project_id)).toEqual([['t-1', 'created', at(0), 'call']])
  expect(await worker.metric('looptrace_ingest_rows_stored_total{kind="observations"}')).toBe(4)
  expect(await worker.metric('looptrace_ingest_lag_seconds_count')).toBe(4)
})

test('projects of one batch stay separate, with the same ids too', async () => {
  const store = memoryStore()
  await using bench = await openIngestBench({ store, url })
  const projects = [randomUUID(), randomUUID(), randomUUID()]
  for (const [calls, project_id] of projects.entries()) {
    const messageCalls = Array.from({ length: calls + 1 }, () => ({ facts: { task_id: 'same' } }))
    await bench.publish(project_id, messageCalls)
  }
  await bench.startWorker()
  await bench.settled()
  const counted = await Promise.all(projects.map((id) => taskOf(bench, id, 'same')))
  expect(counted.map((task) => task?.calls)).toEqual([1, 2, 3])
})

describe('a task without X-Task-ID', () => {
  test('is its trace, and ends as its calls do', async () => {
    await using bench = await openIngestBench({ store: memoryStore(), url })
    const project_id = randomUUID()
    const trace_id = randomUUID()
    await bench.startWorker()
    await bench.publish(project_id, [
      { from: 0, to: 1, facts: { trace_id } },
      { from: 2, to: 3, facts: { trace_id, outcome: 'timeout' }, response: '' },
    ])
    await bench.settled()
    const failed = { implicit: true, state: 'failed', ended_at: at(3), ended_by: 'call', calls: 2 }
    expect(await taskOf(bench, project_id, trace_id)).toMatchObject(failed)

    await bench.publish(project_id, [{ from: 1, to: 2, facts: { trace_id } }])
    await bench.settled()
    expect(await taskOf(bench, project_id, trace_id)).toMatchObject({ ...failed, calls: 3 })

    await bench.publish(project_id, [{ from: 4, to: 5, facts: { trace_id } }])
    await bench.settled()
    expect(await taskOf(bench, project_id, trace_id)).toMatchObject({
      state: 'completed',
      ended_at: at(5),
      late_activity: false,
    })
    expect(await eventsOf(bench, project_id)).toEqual([[trace_id, 'created', at(0), 'call']])
  })
})

describe('an ended task', () => {
  test('stays ended; only calls that began afterwards are late, and that is reported once', async () => {
    await using bench = await openIngestBench({ store: memoryStore(), url })
    const project_id = randomUUID()
    const facts = { task_id: 't-1' }
    await bench.startWorker()
    await bench.publish(project_id, [{ from: 0, facts }])
    await bench.settled()
    const end = {
      state: 'completed',
      ended_at: at(10),
      ended_by: 'user:u',
      end_note: 'done',
    } as const
    await bench.db.updateTable('tasks').set(end).where('project_id', '=', project_id).execute()

    await bench.publish(project_id, [{ from: 9, to: 12, facts }])
    await bench.settled()
    expect(await taskOf(bench, project_id, 't-1')).toMatchObject({
      ...end,
      late_activity: false,
      calls: 2,
    })

    await bench.publish(project_id, [{ from: 30, facts }])
    await bench.settled()
    await bench.publish(project_id, [{ from: 20, facts }])
    await bench.settled()
    expect(await taskOf(bench, project_id, 't-1')).toMatchObject({
      ...end,
      late_activity: true,
      calls: 4,
    })
    expect(await eventsOf(bench, project_id)).toEqual([
      ['t-1', 'created', at(0), 'call'],
      ['t-1', 'late_activity', at(30), 'call'],
    ])
  })
})

test('two workers that write calls of the same tasks at the same time count all of them', async () => {
  const store = memoryStore()
  store.at = async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
  }
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  const tasks = ['a', 'b', 'c']
  for (let message = 0; message < 40; message++) {
    const facts = (task_id: string) => ({ task_id, conversation_id: `c-${task_id}` })
    const messageCalls = tasks.map((task_id) => ({ from: message, facts: facts(task_id) }))
    await bench.publish(project_id, message % 2 === 0 ? messageCalls : messageCalls.toReversed())
  }
  await Promise.all([0, 1, 2].map(() => bench.startWorker({ batch_messages_max: 3 })))
  await bench.settled()
  const counted = await Promise.all(tasks.map((id) => taskOf(bench, project_id, id)))
  expect(counted.map((task) => task?.calls)).toEqual([40, 40, 40])
  const conversations = await bench.db
    .selectFrom('conversations')
    .select('calls')
    .where('project_id', '=', project_id)
    .execute()
  expect(conversations).toEqual([{ calls: 40 }, { calls: 40 }, { calls: 40 }])
})

test.each([
  ['that exists', true],
  ['that both make', false],
])(
  'a worker that counted before another one stored does not overwrite a task %s',
  async (_name, exists) => {
    const store = memoryStore()
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    // The conversation is read with the task's row locked, also a new one.
    const messageCalls = [{ facts: { task_id: 't', conversation_id: 'c' } }]
    await Promise.all([bench.startWorker(), bench.startWorker()])
    if (exists) {
      await bench.publish(project_id, messageCalls)
      await bench.settled()
    }
    const before = store.inserted
    let isFirst = true
    store.at = async (moment) => {
      if (moment !== 'after rollup' || !isFirst) return
      isFirst = false
      await bench.publish(project_id, messageCalls)
      await eventually('the other worker’s row', () => store.inserted === before + 2)
      // Enough time to finish, for a worker that does not wait for this one.
      await sleep(150)
    }
    await bench.publish(project_id, messageCalls)
    await bench.settled()
    expect((await taskOf(bench, project_id, 't'))?.calls).toBe(before + 2)
  },
)

test('more tasks than one query may name are rolled up', async () => {
  await using bench = await openIngestBench({ store: memoryStore(), url })
  const project_id = randomUUID()
  const messageCalls = Array.from({ length: 1_001 }, (_, task) => ({
    facts: { task_id: `t-${task}` },
  }))
  await bench.publish(project_id, messageCalls)
  await bench.startWorker()
  await bench.settled()
  const counted = await bench.db
    .selectFrom('tasks')
    .select((eb) => eb.fn.sum<string>('calls').as('calls'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  expect(Number(counted.calls)).toBe(1_001)
})
