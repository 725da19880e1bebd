import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { problem } from '../../src/kernel/problem.ts'
import { frameOf } from '../../src/model/exchange-frame.ts'
import { ColumnarError } from '../../src/platform/columnar/index.ts'
import type { Delivery, Queue } from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { callParts, type IngestBench, openIngestBench } from '../support/ingest.ts'
import { type MemoryStore, memoryStore, type StoreMoment } from '../support/memory-store.ts'
import { testPostgres } from '../support/postgres.ts'
import { tcpGate } from '../support/tcp-gate.ts'

const url = await testPostgres()

/** The final data of a project: rows, calls of its tasks, events. */
async function recorded(bench: IngestBench, store: MemoryStore, project_id: string) {
  const tasks = await bench.db
    .selectFrom('tasks')
    .select(['task_id', 'calls', 'total_tokens'])
    .where('project_id', '=', project_id)
    .orderBy('task_id')
    .execute()
  const events = await bench.db
    .selectFrom('task_events')
    .select(['task_id', 'kind'])
    .where('project_id', '=', project_id)
    .orderBy('task_id')
    .execute()
  const rows = store.rows().filter((row) => row.project_id === project_id)
  return { rows: rows.length, tasks, events }
}

const call = (task_id: string) => ({ facts: { task_id } })
const once = {
  rows: 3,
  tasks: [
    { task_id: 'a', calls: 2, total_tokens: 30 },
    { task_id: 'b', calls: 1, total_tokens: 15 },
  ],
  events: [
    { task_id: 'a', kind: 'created' },
    { task_id: 'b', kind: 'created' },
  ],
}

describe('the unfinished work of a dead worker is written once by the next', () => {
  test.each(['before insert', 'after insert', 'before rollup', 'after rollup'] as const)(
    '%s',
    async (moment) => {
      const store = memoryStore()
      failTimes(store, moment, 2, () => new Error('killed'))
      await using bench = await openIngestBench({ store, url })
      const project_id = randomUUID()
      await bench.publish(project_id, [call('a'), call('b')])
      await bench.publish(project_id, [call('a')])
      await bench.startWorker()
      await bench.settled()
      expect(await recorded(bench, store, project_id)).toEqual(once)
    },
  )

  test('before the acknowledgement', async () => {
    const store = memoryStore()
    const lost = { left: 3 }
    await using bench = await openIngestBench({
      store,
      url,
      wrapQueue: (queue) => withoutAcks(queue, lost),
    })
    const project_id = randomUUID()
    await bench.publish(project_id, [call('a'), call('b')])
    await bench.publish(project_id, [call('a')])
    await bench.startWorker()
    await bench.settled()
    expect(lost.left).toBe(0)
    expect(store.inserted).toBeGreaterThan(3)
    expect(await recorded(bench, store, project_id)).toEqual(once)
  })
})

describe('a poisoned message is dead-lettered', () => {
  test('if it is not a frame; other messages are written', async () => {
    const store = memoryStore()
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    const subject = `ingest.${project_id}`
    await bench.publish(project_id, [call('a'), call('b')])
    await bench.queue.publish({ id: 'bad', subject, data: Buffer.from('no frame') })
    await bench.publish(project_id, [call('a')])
    const worker = await bench.startWorker()
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
    expect(await bench.queue.deadLetters(10)).toMatchObject([
      { id: 'bad', reason: expect.stringContaining('frame version'), attempts: 1 },
    ])
    expect(await worker.metric('looptrace_ingest_poisoned_messages_total')).toBe(1)
  })

  test('if its facts are invalid; its other calls are written', async () => {
    const store = memoryStore()
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    const bad = callParts(project_id, { facts: { trace_id: 'x' } })
    const data = frameOf([
      ...['a', 'b', 'a'].flatMap((id) => callParts(project_id, call(id))),
      ...bad,
    ])
    await bench.queue.publish({ id: 'half-bad', subject: `ingest.${project_id}`, data })
    await bench.startWorker()
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
    expect(await bench.queue.deadLetters(10)).toMatchObject([
      { id: 'half-bad', reason: 'exchange 3: trace_id: expected 16 bytes spelled as a UUID' },
    ])
  })

  test('if the store refuses a value in it; its other calls are written', async () => {
    const store = memoryStore()
    store.at = (moment, rows) => {
      if (moment !== 'before insert' || !rows.some((row) => row.task_id === 'bad')) return
      const message = 'too large, near "Bearer abcdefgh"'
      throw new ColumnarError({ code: 407, type: 'DECIMAL_OVERFLOW', message })
    }
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    await bench.publish(project_id, [call('a'), call('bad'), call('b')], 'half-bad')
    await bench.publish(project_id, [call('a')])
    await bench.startWorker()
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
    const [letter] = await bench.queue.deadLetters(10)
    expect(letter).toMatchObject({ id: 'half-bad', attempts: 1 })
    expect(letter?.reason).toMatch(/ColumnarError: too large/)
    expect(letter?.reason).not.toContain('abcdefgh')
  })

  test('if PostgreSQL refuses a value of it, which no client of ours can send', async () => {
    const store = memoryStore()
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    const ids = { trace_id: randomUUID(), observation_id: '00000000000000b1' }
    const bad = { ...call('bad'), facts: { ...call('bad').facts, ...ids } }
    await bench.startWorker()
    await bench.publish(project_id, [bad])
    await bench.settled()
    const roll = store.taskRollups
    store.taskRollups = async (...args) =>
      (await roll(...args)).map((task) => ({
        ...task,
        name: task.task_id === 'bad' ? '\u0000' : '',
      }))
    await bench.publish(project_id, [call('a'), call('b')])
    // Sent again, so the store is asked for the task.
    await bench.publish(project_id, [bad], 'bad')
    await bench.publish(project_id, [call('a')])
    await bench.settled()
    expect((await recorded(bench, store, project_id)).tasks).toEqual([
      ...once.tasks,
      { task_id: 'bad', calls: 1, total_tokens: 15 },
    ])
    expect(await bench.queue.deadLetters(10)).toMatchObject([{ id: 'bad' }])
  })

  test('a replay does not change written rows', async () => {
    const store = memoryStore()
    let refuses = true
    store.at = (moment, rows) => {
      if (!refuses || moment !== 'before insert' || !rows.some((row) => row.task_id === 'b')) return
      throw new ColumnarError({ code: 27, type: 'X', message: 'm' })
    }
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    await bench.publish(project_id, [call('a'), call('b'), call('a')], 'half-bad')
    await bench.startWorker()
    await eventually('a dead letter', async () => (await bench.queue.deadLetters(1)).length === 1)
    refuses = false
    expect(await bench.queue.replayDeadLetter('half-bad')).toBe(true)
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
  })
})

describe('an unavailable store', () => {
  test('costs time, not calls; no attempt is used up while a batch waits', async () => {
    const store = memoryStore()
    failTimes(store, 'before insert', 5, () => problem('store_unavailable'))
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    await bench.publish(project_id, [call('a'), call('b'), call('a')])
    const worker = await bench.startWorker({ attempts_max: 1 })
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
    expect(await bench.queue.deadLetters(1)).toEqual([])
    expect(await worker.metric('looptrace_ingest_batches_total{result="stored"}')).toBe(1)
  })

  test('holds a batch for a bounded time, then it returns to the queue', async () => {
    const store = memoryStore()
    const outage = () => problem('store_unavailable')
    failTimes(store, 'before insert', 6, outage)
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    await bench.publish(project_id, [call('a'), call('b'), call('a')])
    const worker = await bench.startWorker({ ack_wait_ms: 60 })
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
    const given = await worker.metric('looptrace_ingest_batches_total{result="given_back"}')
    expect(given).toBeGreaterThan(0)
  })

  test('does not keep a worker from stopping; the next one writes its messages', async () => {
    const store = memoryStore()
    let away = true
    store.at = () => {
      if (away) throw problem('store_unavailable')
    }
    await using bench = await openIngestBench({ store, url })
    const project_id = randomUUID()
    await bench.publish(project_id, [call('a'), call('b'), call('a')])
    const worker = await bench.startWorker({ retry_delay_ms: 1_000, retry_delay_ms_max: 1_000 })
    await eventually('a batch under way', async () => (await bench.queue.stats()).pending === 1)
    await worker.stop()
    expect((await bench.queue.stats()).pending).toBe(1)
    away = false
    await bench.startWorker()
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
  })

  test('may be PostgreSQL', async () => {
    const store = memoryStore()
    await using gate = await tcpGate(url)
    await using bench = await openIngestBench({ store, url: gate.url })
    const project_id = randomUUID()
    gate.close()
    await bench.publish(project_id, [call('a'), call('b'), call('a')])
    await bench.startWorker()
    await eventually('rows in the store', () => store.inserted === 3)
    gate.open()
    await bench.settled()
    expect(await recorded(bench, store, project_id)).toEqual(once)
    expect(store.inserted).toBe(3)
  })
})

test('the message of an unclassified error is searched after some deliveries, and delays no others', async () => {
  const store = memoryStore()
  store.at = (_moment, rows) => {
    if (rows.some((row) => row.task_id === 'bad')) throw new TypeError('who knows')
  }
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  await bench.publish(project_id, [call('a'), call('b')])
  await bench.publish(project_id, [call('bad')], 'bad')
  await bench.publish(project_id, [call('a')])
  // All of them in one batch, mostly also the second time: a single delivery waits until others are
  // stored.
  await bench.startWorker({ suspect_attempts: 2, batches_max: 1, batch_wait_ms: 200 })
  await bench.settled()
  expect(await recorded(bench, store, project_id)).toEqual(once)
  const letters = await bench.queue.deadLetters(10)
  expect(letters).toMatchObject([{ id: 'bad' }])
  expect(letters[0]?.attempts).toBeGreaterThanOrEqual(2)
})

/** Makes the store throw this many times at a point. */
function failTimes(
  store: MemoryStore,
  moment: StoreMoment,
  times: number,
  error: () => Error,
): void {
  let left = times
  store.at = (now) => {
    if (now === moment && left-- > 0) throw error()
  }
}

/** The queue, but this many acknowledgements get lost, as if the worker had died before them. */
function withoutAcks(queue: Queue, lost: { left: number }): Queue {
  const losing = (delivery: Delivery): Delivery => ({
    ...delivery,
    ack: async () => {
      if (lost.left === 0) return delivery.ack()
      lost.left--
      throw new Error('killed')
    },
  })
  return {
    ...queue,
    consume: (options, handler) =>
      queue.consume(options, (batch, signal) => handler(batch.map(losing), signal)),
  }
}
