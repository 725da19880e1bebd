import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  openClickHouseLedgerStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type IngestBench, openIngestBench } from '../support/ingest.ts'
import { consumeOptions } from '../support/queues.ts'
import { daysAgo, openRetentionApi, type RetentionApi } from '../support/retention-api.ts'

const user_id = 'ada@example.com'
let api: RetentionApi
let bench: IngestBench
beforeAll(async () => {
  api = await openRetentionApi()
  const { columnar } = api
  bench = await openIngestBench({
    store: {
      ...openClickHouseStore({ columnar }),
      ...api.records,
      ...openClickHouseLedgerStore({ columnar }),
    },
    url: api.postgres_url,
  })
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

type Receipt = { counts: Record<string, number>; remaining: { what: string }[] }

async function erase(project: string, handler = api.erasureHandler()): Promise<Receipt> {
  const body = { user_id, reason: 'asked by mail' }
  const asked = await api.call('POST', '/erasures', project, { body })
  expect((await api.done(String(asked.body['job_id']), handler)).error).toBeNull()
  const read = await api.call('GET', `/erasures/${asked.body['erasure_id']}`, project)
  return read.body['receipt'] as Receipt
}

const call = (task_id: string) => ({ facts: { task_id, user_id } })

async function tasksOf(project: string): Promise<string[]> {
  const rows = await bench.db
    .selectFrom('tasks')
    .select('task_id')
    .where('project_id', '=', project)
    .orderBy('task_id')
    .execute()
  return rows.map(({ task_id }) => task_id)
}

/** Lets the worker process the queue. */
async function work(): Promise<void> {
  const worker = await bench.startWorker()
  await bench.settled()
  await worker.stop()
}

test('rows that arrive during the erasure are deleted, with their tasks', async () => {
  const project = await api.newProject()
  await bench.publish(project, [call('early')])
  await work()
  let rounds = 0
  const late = {
    ...api.store,
    eraseUser: async (...asked: Parameters<typeof api.store.eraseUser>) => {
      await api.store.eraseUser(...asked)
      rounds += 1
      if (rounds > 1) return
      await bench.publish(project, [call('late')])
      await work()
    },
  }
  const { counts } = await erase(project, api.erasureHandler({ store: late }))
  expect(counts).toMatchObject({ observations: 2, tasks: 2 })
  expect((await api.rows(project))['observations']).toBe(0)
  expect(await tasksOf(project)).toEqual([])
})

test('rows that were queued when it ended are stored, as the receipt says; a second erasure deletes them', async () => {
  const project = await api.newProject()
  await bench.publish(project, [call('queued')])
  const first = await erase(project)
  expect(first.counts).toMatchObject({ tasks: 0 })
  expect(first.remaining.map(({ what }) => what)).toContain('late_rows')
  await work()
  expect((await api.rows(project))['observations']).toBe(1)
  expect(await tasksOf(project)).toEqual(['queued'])

  expect((await erase(project)).counts).toMatchObject({ observations: 1, tasks: 1 })
  expect((await api.rows(project))['observations']).toBe(0)
  expect(await tasksOf(project)).toEqual([])
})

test('a replayed dead letter is stored; a second erasure deletes it', async () => {
  const project = await api.newProject()
  await bench.publish(project, [call('set apart')], 'dead-1')
  const burying = await bench.queue.consume(consumeOptions, async (batch) => {
    for (const delivery of batch) await delivery.bury('it could not be stored')
  })
  await bench.settled()
  await burying.stop()
  await erase(project)
  expect(await bench.queue.replayDeadLetter('dead-1', { project_id: project })).toBe(true)
  await work()
  expect(await tasksOf(project)).toEqual(['set apart'])
  expect((await erase(project)).counts).toMatchObject({ observations: 1, tasks: 1 })
  expect((await api.rows(project))['observations']).toBe(0)
})

test('a second erasure deletes late rows without a user: their trace is known', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const [trace_id, theirs] = [newId(), newId()]
  const child = { trace_id, observation_id: 'child', start_time: daysAgo(3) }
  await api.seed(project, {
    observations: [{ trace_id, start_time: daysAgo(3), observation_id: 'root', user_id }],
  })
  await erase(project)
  for (const where of [project, other]) {
    await api.seed(where, { observations: [child], events: [{ trace_id, time: daysAgo(3) }] })
  }
  await api.seed(project, {
    observations: [
      { ...child, trace_id: theirs },
      { ...child, observation_id: 'his', user_id: 'bob' },
    ],
  })
  expect((await erase(project)).counts).toMatchObject({ observations: 1, events: 1 })
  const left = await api.ask<{ id: string }>(
    'SELECT observation_id AS id FROM observations WHERE project_id = {project:UUID} ORDER BY id',
    { project },
  )
  expect(left.map(({ id }) => id)).toEqual(['child', 'his'])
  expect(await api.rows(other)).toMatchObject({ observations: 1, events: 1 })
})

test('a hold on an erased trace keeps the rows that arrived since', async () => {
  const project = await api.newProject()
  const trace_id = newId()
  const root = { trace_id, start_time: daysAgo(3), observation_id: 'root', user_id }
  await api.seed(project, { observations: [root] })
  await erase(project)
  await api.seed(project, { observations: [{ ...root, observation_id: 'late' }] })
  const body = { kind: 'trace', value: trace_id, reason: 'a case' }
  await api.call('POST', '/legal-holds', project, { body })
  expect(await erase(project)).toMatchObject({ held_rows: 1 })
  expect((await api.rows(project))['observations']).toBe(1)
})
