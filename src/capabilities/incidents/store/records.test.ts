import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonBatches } from './records.ts'

test('batches have all records in their order, and only a single record exceeds the size', () => {
  const records = fc.array(fc.record({ text: fc.string({ maxLength: 60 }), n: fc.nat() }))
  fc.assert(
    fc.property(records, fc.integer({ min: 10, max: 200 }), (given, characters_max) => {
      const batches = [...jsonBatches(given, characters_max)]
      const parsed = batches.map((batch) => JSON.parse(batch))
      const clean = given.map((one) => ({ ...one, text: one.text.replaceAll('\0', '\ufffd') }))
      expect(parsed.flat()).toEqual(clean)
      batches.forEach((batch, at) => {
        expect(batch.length <= characters_max || parsed[at].length === 1).toBe(true)
      })
    }),
  )
})

test('the messages of a rule to all channels are never in memory together', () => {
  const message = { incident: { annotations: { text: 'x'.repeat(100_000) } } }
  const records = Array.from({ length: 10_000 }, (_, n) => ({ n, message }))
  const [first = ''] = jsonBatches(records, 4_000_000)
  expect(first.length).toBeLessThanOrEqual(4_000_000)
})
