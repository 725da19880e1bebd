import fc from 'fast-check'
import { expect, test } from 'vitest'
import { enqueuerOf, observationsIn } from '../../../../test/support/enqueuers.ts'
import { observation, requestOf } from '../../../../test/support/ingest-requests.ts'

test('rows of one call, of one request or of two, have message ids in the order of arrival', async () => {
  const { enqueuer, messages } = enqueuerOf()
  const call = observation({ output: 'begin' })
  const other = observation({ trace_id: call.trace_id })
  const later = { ...call, output: 'end' }
  const last = { ...call, output: 'after the end' }
  const requests = [requestOf([call, other, later]), requestOf([last])]
  await Promise.all(requests.map((each) => enqueuer.enqueue(each)))
  const read = observationsIn(messages)
  const of = (output: string) => read.find((row) => row.output === output)?.message_id ?? ''
  expect(messages).toHaveLength(1)
  expect([of('begin'), of('out')]).toEqual([messages[0]?.id, messages[0]?.id])
  expect(of('end') > of('begin')).toBe(true)
  expect(of('after the end') > of('end')).toBe(true)
})

test('a later request with `alone` has later message ids, and its messages have them in their order', async () => {
  const { enqueuer, messages } = enqueuerOf({ frame_bytes: 4_000 })
  const inputs: string[] = []
  for (let request = 0; request < 10; request += 1) {
    const observations = Array.from({ length: 30 }, (_, row) =>
      observation({ input: `${request} ${row}`.padEnd(300) }),
    )
    inputs.push(...observations.map(({ input }) => String(input)))
    await enqueuer.enqueue(requestOf(observations), { alone: true })
  }
  const read = observationsIn(messages).map(({ message_id, input }) => ({ message_id, input }))
  const sorted = read.toSorted((one, other) => (one.message_id < other.message_id ? -1 : 1))
  expect(new Set(read.map(({ message_id }) => message_id)).size).toBeGreaterThan(30)
  expect(sorted.map(({ input }) => input)).toEqual(inputs)
})

test.each([false, true])(
  'versions of a call have ids in their order, also where some are larger than a frame (alone: %s)',
  async (alone) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(0, 300, 5_000), { maxLength: 40 }),
        async (sizes) => {
          const { enqueuer, messages } = enqueuerOf({ frame_bytes: 4_000 })
          const calls = [observation(), observation()]
          const versions = sizes.map((bytes, at) => {
            const call = calls[at % 2] as ReturnType<typeof observation>
            return { ...call, status_code: at, input: 'x'.repeat(bytes) }
          })
          await Promise.all([enqueuer.enqueue(requestOf(versions), { alone }), enqueuer.flush()])
          for (const { observation_id } of calls) {
            const ids = observationsIn(messages)
              .filter((row) => row.observation_id === observation_id)
              .toSorted((one, other) => one.status_code - other.status_code)
              .map(({ message_id }) => message_id)
            expect(ids).toEqual([...new Set(ids)].toSorted())
          }
        },
      ),
    )
  },
)
