import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader, MalformedRow } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { decimalTicks } from './scalar-formats.ts'

function writerOf(size_bytes = 4): ByteWriter {
  return new ByteWriter(Buffer.alloc(size_bytes))
}

function readerOf(writer: ByteWriter): ByteReader {
  const reader = new ByteReader()
  reader.moveTo(Buffer.from(writer.written()), 0)
  return reader
}

test.each(['0', '0.5', '12', '-0.25', '999999.999999999', '1000000', '123456789.000000001'])(
  'the amount %s is written exactly',
  (amount) => {
    const writer = writerOf()
    writer.decimal9OrNull(amount)
    const bytes = writer.written()
    expect(bytes[0]).toBe(0)
    expect(bytes.readBigInt64LE(1)).toBe(decimalTicks(amount, 18, 9))
  },
)

test.each(['', '.', '1.', '.5', 'x', '1x', '1.5x', '1.2.3', '1e3', '0.0000000001', '1234567890'])(
  'the amount "%s" is refused',
  (amount) => {
    expect(() => writerOf().decimal9OrNull(amount)).toThrow(RangeError)
  },
)

test.each([
  ['a UUID that is too short', (out: ByteWriter) => out.uuid('0190')],
  ['a UUID without dashes', (out: ByteWriter) => out.uuid('0'.repeat(36))],
  ['a UUID with other digits', (out: ByteWriter) => out.uuid(`g${uuidText.slice(1)}`)],
  ['a UUID beyond Latin-1', (out: ByteWriter) => out.uuid(`${uuidText.slice(1)}\u0130`)],
  ['a negative count', (out: ByteWriter) => out.u53(-1)],
  ['half a count', (out: ByteWriter) => out.u53(0.5)],
  ['a count that is not exact', (out: ByteWriter) => out.u53(2 ** 53)],
  ['a status that is not a number', (out: ByteWriter) => out.u32(Number.NaN)],
  ['a time beyond 64 bits', (out: ByteWriter) => out.i64(2n ** 63n)],
  ['a key without its value', (out: ByteWriter) => out.pairs(['a'])],
])('%s is refused', (_, write) => {
  expect(() => write(writerOf())).toThrow()
})

const uuidText = '01900000-0000-7000-8000-0000000000af'

test('reads a UUID in lower case, also when it is repeated', () => {
  fc.assert(
    fc.property(fc.array(fc.uuid(), { minLength: 1, maxLength: 4 }), (ids) => {
      const writer = writerOf()
      for (const id of ids) {
        writer.uuid(id.toUpperCase())
        writer.uuid(id)
      }
      const reader = readerOf(writer)
      for (const id of ids) expect([reader.uuid(), reader.uuid()]).toEqual([id, id])
    }),
  )
})

test('a rejected UUID does not affect the next one', () => {
  const writer = writerOf()
  writer.uuid(uuidText)
  expect(() => writer.uuid(`${uuidText.slice(0, -1)}x`)).toThrow(TypeError)
  writer.uuid(uuidText)
  const reader = readerOf(writer)
  expect([reader.uuid(), reader.uuid()]).toEqual([uuidText, uuidText])
})

test('reads words and strings as they were written, in any order', () => {
  const word = fc.string({ unit: 'binary', maxLength: 80 })
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const writer = writerOf()
      for (const one of words) {
        writer.string(one)
        writer.text(Buffer.from(one))
      }
      const reader = readerOf(writer)
      for (const one of words) expect([reader.word(), reader.string()]).toEqual([one, one])
    }),
  )
})

test('rewind and moveTo keep earlier values', () => {
  const writer = writerOf()
  const place = writer.skip(4)
  writer.string('kept')
  const end = writer.at
  writer.string('x'.repeat(10_000))
  writer.rewind(end)
  const other = Buffer.alloc(1024)
  other.set(writer.written())
  writer.moveTo(other, writer.at)
  writer.putU32(place, 7)
  writer.string('more')
  expect(writer.buffer).toBe(other)
  const reader = readerOf(writer)
  expect([reader.u32(), reader.string(), reader.string()]).toEqual([7, 'kept', 'more'])
})

test('rejects a length of more than five bytes', () => {
  const reader = new ByteReader()
  reader.moveTo(Buffer.alloc(10, 0xff), 0)
  expect(() => reader.varint()).toThrow(MalformedRow)
})

const someTexts = fc.array(fc.constantFrom('a', 'key', 'é', 'x'.repeat(70), Buffer.from('bytes')), {
  maxLength: 90,
})
type Texts = (string | Uint8Array)[]
type Between = (writer: ByteWriter, at: number) => void

/** Operations after a map was written at `at`. Only the first keeps the written bytes. */
const between: Record<string, Between> = {
  nothing: () => undefined,
  moved: (writer) => writer.moveTo(Buffer.from(writer.written()), writer.at),
  taken_back: (writer, at) => writer.rewind(at),
}

test.each(Object.entries(between))(
  'writes maps with a common prefix in full; in between: %s',
  (name, then) => {
    fc.assert(
      fc.property(someTexts, fc.array(someTexts, { maxLength: 5 }), (start, rests) => {
        const writer = writerOf()
        const expected: Buffer[] = []
        for (const rest of rests) {
          const pairs = evenOnes([...start, ...rest])
          const at = writer.at
          writer.pairs(pairs)
          expect(Buffer.from(writer.written().subarray(at))).toEqual(pairsAlone(pairs))
          then(writer, at)
          writer.string('and')
          expected.push(...(name === 'taken_back' ? [] : [pairsAlone(pairs)]), text('and'))
        }
        expect(Buffer.from(writer.written())).toEqual(Buffer.concat(expected))
      }),
    )
  },
)

function evenOnes(texts: Texts): Texts {
  return texts.slice(0, texts.length - (texts.length % 2))
}

function pairsAlone(texts: Texts): Buffer {
  const writer = writerOf()
  writer.pairs(texts)
  return Buffer.from(writer.written())
}

function text(value: string): Buffer {
  const writer = writerOf()
  writer.string(value)
  return Buffer.from(writer.written())
}

test('writes a map correctly after a failed one', () => {
  const writer = writerOf()
  const broken = {
    get length(): number {
      throw new TypeError('no text')
    },
  } as unknown as string
  const pairs = ['one', 'two', 'three', 'four']
  writer.pairs(pairs)
  const at = writer.at
  expect(() => writer.pairs(['one', 'longer', broken, 'x'])).toThrow('no text')
  const after = writer.at
  const alike = ['one', 'two', 'other', 'four']
  writer.pairs(alike)
  expect(Buffer.from(writer.written().subarray(after))).toEqual(pairsAlone(alike))
  expect(Buffer.from(writer.written().subarray(0, at))).toEqual(pairsAlone(pairs))
})
