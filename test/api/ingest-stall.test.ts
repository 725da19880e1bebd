import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { problem } from '../../src/kernel/problem.ts'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { openIngestBench } from '../support/ingest.ts'
import { memoryStore } from '../support/memory-store.ts'
import { testPostgres } from '../support/postgres.ts'

const url = await testPostgres()

test('a stalled store holds only the batches in progress', async () => {
  const store = memoryStore()
  const stalled = Promise.withResolvers<void>()
  store.at = () => stalled.promise
  const handed: number[] = []
  await using bench = await openIngestBench({
    store,
    url,
    wrapQueue: (queue) => ({
      ...queue,
      consume: (options, handler) =>
        queue.consume(options, (batch, signal) => {
          handed.push(batch.reduce((sum, { data }) => sum + data.length, 0))
          return handler(batch, signal)
        }),
    }),
  })
  const project_id = randomUUID()
  const request = { model: 'm', messages: [{ role: 'user', content: 'x'.repeat(20_000) }] }
  for (let sent = 0; sent < 40; sent += 1) {
    await bench.publish(project_id, [{ facts: { task_id: 'a' }, request }])
  }
  const worker = await bench.startWorker({ batch_bytes_max: 100_000, batches_max: 2 })
  await eventually('two batches under way', () => handed.length === 2)
  await sleep(200)
  expect(handed).toHaveLength(2)
  expect(Math.max(...handed)).toBeLessThanOrEqual(100_000)
  expect((await bench.queue.stats()).pending).toBe(40)
  stalled.resolve()
  await worker.stop()
  expect(store.rows().length).toBeGreaterThan(0)
  expect((await bench.queue.stats()).pending).toBe(40 - store.rows().length)
})

const call = (task_id: string) => ({ facts: { task_id } })

test('deliveries during an outage are not attempts', async () => {
  const store = memoryStore()
  await using bench = await openIngestBench({ store, url })
  const project_id = randomUUID()
  await bench.startWorker({ suspect_attempts: 2, ack_wait_ms: 60 })
  await bench.publish(project_id, [call('a'), call('b')])
  await bench.settled()
  let failures = 0
  store.at = (moment) => {
    if (moment !== 'before insert') return
    failures += 1
    if (failures <= 12) throw problem('store_unavailable')
    if (failures === 13) throw new TypeError('who knows')
  }
  await bench.publish(project_id, [call('a')])
  await bench.settled()
  expect(store.rows()).toHaveLength(3)
  expect(await bench.queue.deadLetters(10)).toEqual([])
})
