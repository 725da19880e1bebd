import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  assertWhole,
  enqueuerOf,
  framesIn,
  observationsIn,
} from '../../../../test/support/enqueuers.ts'
import { observation, projects, requestOf } from '../../../../test/support/ingest-requests.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { QueueUnavailable } from '../../../platform/queue/index.ts'
import { readObservation } from '../../storage/row-format/index.ts'
import type { IngestRequest } from './contract.ts'

const traffic = fc.record({
  frame_bytes: fc.integer({ min: 1_500, max: 12_000 }),
  messages_max: fc.integer({ min: 1, max: 4 }),
  /** Which publishes fail, and how long each takes. */
  failures: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 20 }),
  requests: fc.array(
    fc.record({
      project: fc.nat({ max: 1 }),
      alone: fc.boolean(),
      sizes: fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 12 }),
      pause: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  ),
})

test('a request resolves exactly when all its rows are durable, each once', async () => {
  const message_bytes_max = 6_000
  await fc.assert(
    fc.asyncProperty(traffic, async ({ frame_bytes, messages_max, failures, requests }) => {
      let publishes = 0
      let underWay = 0
      let largest = 0
      const frame_max = Math.min(frame_bytes, message_bytes_max)
      const { enqueuer, messages, entries } = enqueuerOf({
        ...{ frame_bytes, message_bytes_max, frame_age_ms: 1 },
        window: { messages_max, bytes_max: 20_000 },
        retry: { attempts_max: 1, delay_ms: 1 },
        publish: async ({ data }) => {
          largest = Math.max(largest, data.length / (data[1] === 1 ? message_bytes_max : frame_max))
          underWay += 1
          const fate = failures[publishes++ % failures.length] ?? 0
          await (fate % 3 === 0 ? Promise.resolve() : new Promise(setImmediate))
          underWay -= 1
          if (fate === 9) throw new QueueUnavailable('away')
        },
      })
      const sent: { request: IngestRequest; answer: Promise<boolean> }[] = []
      for (const { project, alone, sizes, pause } of requests) {
        const request = requestOf(
          sizes.map((size) => observation({ input: randomBytes(size).toString('base64') })),
          { project_id: projects[project] ?? '' },
        )
        const answer = enqueuer.enqueue(request, { alone }).then(
          () => true,
          () => false,
        )
        sent.push({ request, answer })
        if (pause) await new Promise(setImmediate)
      }
      await enqueuer.close()
      expect(underWay).toBe(0)
      expect(largest).toBeLessThanOrEqual(1)
      const frames = framesIn(messages)
      const durable = observationsIn(messages).map(({ observation_id }) => observation_id)
      expect(new Set(durable).size).toBe(durable.length)
      for (const { request, answer } of sent) {
        const ids = request.records.observations.map(({ observation_id }) => observation_id)
        const found = ids.filter((id) => durable.includes(id))
        expect(await answer).toBe(found.length === ids.length)
        const receipts = frames.flatMap((frame) =>
          frame.receipts.filter((one) => one.ingest_request_id === request.ingest_request_id),
        )
        expect(receipts.reduce((sum, { items }) => sum + items, 0)).toBe(found.length)
        const told = entries.filter((one) => one.ingest_request_id === request.ingest_request_id)
        expect(told.reduce((sum, { items }) => sum + items, 0)).toBe(found.length)
        for (const frame of frames) assertInOrder(frame, ids)
      }
      frames.forEach(assertWhole)
    }),
    { numRuns: fuzzRuns(100) },
  )
})

function assertInOrder(frame: { rows: { bytes: Buffer }[] }, ids: readonly string[]): void {
  const places = frame.rows
    .map(({ bytes }) => ids.indexOf(readObservation(bytes).observation_id))
    .filter((place) => place >= 0)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
}
