import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzRuns } from '../../../test/support/suite/budget.ts'
import { encodeHeader, encodeRecord, readSegment } from './records.ts'
import { type LeftMessage, recoverMessages } from './recovery.ts'

const ids = ['a', 'b', 'c', 'd']
const subject = 'ingest.01900000-0000-7000-8000-000000000001'

/** Data of some sizes around those that are checked: pieces cross the samples and the pages. */
const dataPieces = fc.array(
  fc
    .tuple(fc.constantFrom(0, 1, 63, 64, 65, 200, 5_000), fc.integer({ min: 0, max: 255 }))
    .map(([bytes, value]) => Buffer.alloc(bytes, value)),
  { maxLength: 3 },
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ id: fc.constantFrom(...ids), data: dataPieces }) },
  { weight: 1, arbitrary: fc.record({ id: fc.constantFrom(...ids), data: fc.constant(null) }) },
)
type Step = { id: string; data: Buffer[] | null }

/** Writes a segment over `stale`, the bytes of an earlier use. Returns the file, and where records end. */
function segmentOf(steps: readonly Step[], { use = 7, ordinal = 1, stale = Buffer.alloc(0) } = {}) {
  const pieces: Uint8Array[] = [encodeHeader({ use, ordinal })]
  const ends: number[] = []
  let end = pieces[0]?.length ?? 0
  for (const [sequence, { id, data }] of steps.entries()) {
    const kind = data === null ? 'settled' : 'part'
    end += encodeRecord({ kind, id, subject, data: data ?? [] }, { use, sequence }, pieces)
    ends.push(end)
  }
  const own = Buffer.concat(pieces)
  expect(own).toHaveLength(end)
  return { file: Buffer.concat([own, stale.subarray(end)]), ends }
}

/** The naive model: parts of each id joined, without those that were ever settled. */
function leftOf(steps: readonly Step[]): LeftMessage[] {
  const left = new Map<string, Buffer>()
  for (const { id, data } of steps) {
    if (data !== null) left.set(id, Buffer.concat([left.get(id) ?? Buffer.alloc(0), ...data]))
  }
  for (const { id, data } of steps) if (data === null) left.delete(id)
  return [...left].map(([id, data]) => ({ id, subject, data }))
}

function comparable(messages: readonly LeftMessage[]) {
  return messages.map(({ id, subject: of, data }) => [id, of, Buffer.from(data).toString('hex')])
}

test('a segment that a kill cut at any byte yields its whole records, and one torn at most', () => {
  const stale = segmentOf(
    Array.from({ length: 40 }, (_, at) => ({ id: 'old', data: [Buffer.alloc(900, at)] })),
    { use: 3 },
  ).file
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (steps, share, isUsedAgain) => {
        const { file, ends } = segmentOf(steps)
        const cut = 12 + Math.floor(share * (file.length - 12))
        // The bytes behind the cut are missing, or those of the earlier use of the file.
        const found = Buffer.concat(
          [file.subarray(0, cut), isUsedAgain ? stale.subarray(cut) : ''].map((part) =>
            Buffer.from(part),
          ),
        )
        // A cut between equal bytes changes nothing.
        const whole = ends.filter((end) => file.subarray(0, end).equals(found.subarray(0, end)))
        const { messages, torn } = recoverMessages([found])
        expect(comparable(messages)).toEqual(comparable(leftOf(steps.slice(0, whole.length))))
        expect(torn).toBeLessThanOrEqual(1)
        if (cut === file.length) expect(torn).toBe(0)
      },
    ),
    { numRuns: fuzzRuns(400) },
  )
})

test('messages go over several segments, in any order of the files', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      (segments, order) => {
        const files = segments.map((steps, at) => segmentOf(steps, { use: at, ordinal: at }).file)
        const shuffled = files
          .map((file) => ({ file, rank: order.next().value ?? 0 }))
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ file }) => file)
        const { messages, torn } = recoverMessages(shuffled)
        expect(comparable(messages)).toEqual(comparable(leftOf(segments.flat())))
        expect(torn).toBe(0)
      },
    ),
    { numRuns: fuzzRuns(200) },
  )
})

test('a page of 4 KiB that was never written is found, anywhere in a record', () => {
  const data = Buffer.alloc(80_000, 0x61)
  const { file } = segmentOf([{ id: 'a', data: [data] }])
  for (let page = 4_096; page + 4_096 <= file.length; page += 4_096) {
    const damaged = Buffer.from(file)
    damaged.fill(0, page, page + 4_096)
    expect(readSegment(damaged)).toMatchObject({ records: [], isTorn: true })
  }
})

test('bytes that are not a segment are counted, and never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const { file } = segmentOf([])
      expect(recoverMessages([Buffer.from(bytes)]).messages).toEqual([])
      expect(recoverMessages([Buffer.concat([file, bytes])]).messages).toEqual([])
    }),
    { numRuns: fuzzRuns(400) },
  )
  expect(recoverMessages([Buffer.from('x'), Buffer.alloc(12)]).torn).toBe(2)
})
