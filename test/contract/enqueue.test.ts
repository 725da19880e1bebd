import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEnqueuer, type EnqueuerOptions } from '../../src/capabilities/edge/enqueue/index.ts'
import { readObservation } from '../../src/capabilities/storage/row-format/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { decodeRowFrame } from '../../src/model/row-frame.ts'
import type { Queue } from '../../src/platform/queue/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { observation, requestOf } from '../support/ingest-requests.ts'
import { consumeOptions, jetStreamDriver, sqliteDriver } from '../support/queues.ts'

const long = { timeout_ms: 20_000 }

describe.each([sqliteDriver(), jetStreamDriver()])('enqueue to $name', (driver) => {
  beforeAll(() => driver.start())
  afterAll(() => driver.stop())

  function enqueuerTo(queue: Queue, options: Partial<EnqueuerOptions> = {}) {
    const entries: LedgerEntry[] = []
    const enqueuer = createEnqueuer({
      publish: (message) => queue.publish(message),
      message_bytes_max: queue.message_bytes_max,
      inflight_bytes_max: 64 * 1024 * 1024,
      clock: systemClock,
      newId,
      metrics: createMetrics(),
      logger: createLogger({ role: 'test', level: 'silent' }),
      retry: { attempts_max: 2, delay_ms: 1 },
      onAccepted: (told) => entries.push(...told),
      ...options,
    })
    return { enqueuer, entries }
  }

  /** Empties the queue; returns the ids of observations by message. */
  async function drainQueue(queue: Queue): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>()
    const consumer = await queue.consume(consumeOptions, async (batch) => {
      for (const { id, data } of batch) {
        const { bytes, eachRow } = decodeRowFrame(data, 64 * 1024 * 1024)
        const ids: string[] = []
        eachRow((_, start, end) => {
          const row = readObservation(bytes.subarray(start, end))
          expect(row.message_id).toBe(id)
          ids.push(row.observation_id)
        })
        found.set(id, ids)
      }
      await Promise.all(batch.map((delivery) => delivery.ack()))
    })
    await eventually('the queue is empty', async () => (await queue.stats()).pending === 0, long)
    await consumer.stop()
    return found
  }

  test('every acknowledged row is in the queue once, including large rows', async () => {
    const { queue } = await driver.open()
    const { enqueuer, entries } = enqueuerTo(queue)
    const requests = [1, 30, 400, 2].map((count) =>
      requestOf(Array.from({ length: count }, () => observation({ input: 'w'.repeat(2_000) }))),
    )
    requests.push(requestOf([observation({ input: 'large '.repeat(300_000) })]))
    await Promise.all(requests.map((request) => enqueuer.enqueue(request)))
    const messages = await drainQueue(queue)
    const expected = requests.flatMap(({ records }) => records.observations)
    expect([...messages.values()].flat().toSorted()).toEqual(
      expected.map(({ observation_id }) => observation_id).toSorted(),
    )
    expect(new Set(entries.map(({ message_id }) => message_id))).toEqual(new Set(messages.keys()))
    expect(entries.reduce((sum, { items }) => sum + items, 0)).toBe(expected.length)
  })

  test('a request that is sent alone and repeated is stored once', async () => {
    const { queue } = await driver.open()
    const request = requestOf(
      Array.from({ length: 100 }, () => observation({ input: 'w'.repeat(2_000) })),
    )
    const counts: number[] = []
    for (const { enqueuer } of [enqueuerTo(queue), enqueuerTo(queue)]) {
      counts.push(await enqueuer.enqueue(request, { alone: true }))
    }
    expect(counts[1]).toBe(counts[0])
    const messages = await drainQueue(queue)
    expect(messages.size).toBe(counts[0])
    expect([...messages.values()].flat()).toHaveLength(100)
  })

  test('a full queue refuses the request, and earlier acknowledged ones are kept', async () => {
    const { queue } = await driver.open({ bytes_max: 3_000_000 })
    const { enqueuer } = enqueuerTo(queue)
    const answered: string[] = []
    let refusal: unknown
    for (let round = 0; round < 100 && refusal === undefined; round++) {
      const request = requestOf(
        Array.from({ length: 50 }, () => observation({ input: 'w'.repeat(2_000) })),
      )
      try {
        await enqueuer.enqueue(request)
        answered.push(...request.records.observations.map((each) => each.observation_id))
      } catch (error) {
        refusal = error
      }
    }
    expect(refusal).toMatchObject({ code: 'overloaded', retry_after_s: 2 })
    await enqueuer.close()
    const stored = new Set([...(await drainQueue(queue)).values()].flat())
    expect(answered.length).toBeGreaterThan(0)
    expect(answered.filter((id) => !stored.has(id))).toEqual([])
  })
})
