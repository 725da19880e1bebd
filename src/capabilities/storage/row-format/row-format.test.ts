import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeFirstFormat } from '../../../../test/support/row-frames.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import type { IngestRecords, TextPairs } from '../../../model/ingest-records.ts'
import { observationSchema } from '../../../model/observation.ts'
import {
  ByteWriter,
  compileRowBinary,
  MalformedRow,
} from '../../../platform/columnar/row-binary/index.ts'
import { columnTypesByKind, rowFormat } from './columns.ts'
import { readObservation, readObservationHead } from './read-rows.ts'
import { upgradeFrame } from './upgrade-frame.ts'
import { type DraftOf, rowWriters } from './write-rows.ts'

const message_id = '01900000-0000-7000-8000-0000000000aa'
const char = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'abcdefgh 0123{}"') },
  fc.constantFrom('é', '語', '🙂'),
)
const text = fc.oneof(
  fc.string({ unit: char, maxLength: 40 }),
  fc.string({ unit: char, minLength: 100, maxLength: 140 }),
)
const bytesOrText = fc.oneof(
  text,
  text.map((value) => Buffer.from(value)),
)
const instant = fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
const countOrNull = fc.option(fc.maxSafeNat(), { nil: null })
const pairs = fc
  .uniqueArray(
    text.map((key) => `k${key}`),
    { maxLength: 5 },
  )
  .chain((keys) => fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), bytesOrText))))
  .map((entries): TextPairs => entries.flat())
const amount = fc
  .tuple(fc.nat({ max: 999_999_999 }), fc.nat({ max: 999_999_999 }), fc.boolean())
  .map(([whole, nano, minus]) => `${minus ? '-' : ''}${whole}.${String(nano).padStart(9, '0')}`)
  .filter((value) => value !== '-0.000000000')

const arbitraryByType: Record<string, fc.Arbitrary<unknown>> = {
  UUID: fc.uuid(),
  String: text,
  'LowCardinality(String)': text,
  "DateTime64(9, 'UTC')": instant,
  Bool: fc.boolean(),
  UInt32: fc.nat({ max: 0xffff_ffff }),
  UInt64: fc.maxSafeNat(),
  'Nullable(UInt64)': countOrNull,
  'Nullable(Float64)': fc.option(fc.double({ noNaN: true, min: 0 }), { nil: null }),
  'Nullable(Decimal(18, 9))': fc.option(amount, { nil: null }),
  'Map(LowCardinality(String), String)': pairs,
  'Map(LowCardinality(String), UInt64)': fc.dictionary(
    text.map((key) => `k${key}`),
    fc.maxSafeNat(),
    { maxKeys: 4 },
  ),
  'Array(LowCardinality(String))': fc.array(text, { maxLength: 3 }),
  'Array(Tuple(id String, name String, arguments String))': fc.array(
    fc.record({ id: text, name: text, arguments: text }),
    { maxLength: 3 },
  ),
  'Array(Tuple(tool_call_id String, content String))': fc.array(
    fc.record({ tool_call_id: text, content: text }),
    { maxLength: 3 },
  ),
}
const contentColumns = ['input', 'output', 'body']

function draftsOf<Kind extends keyof IngestRecords>(kind: Kind): fc.Arbitrary<DraftOf<Kind>> {
  const columns = Object.entries(columnTypesByKind[kind]).filter(([name]) => name !== 'message_id')
  const byName = columns.map(([name, type]) => [
    name,
    contentColumns.includes(name) ? bytesOrText : arbitraryByType[type],
  ])
  return fc.record(Object.fromEntries(byName)) as unknown as fc.Arbitrary<DraftOf<Kind>>
}

function encoded<Kind extends keyof IngestRecords>(kind: Kind, draft: DraftOf<Kind>): Buffer {
  const writer = new ByteWriter(Buffer.alloc(64), 3)
  rowWriters[kind](writer, draft, Buffer.from(message_id))
  return writer.written().subarray(3)
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : Buffer.from(value).toString()
}

/** The draft as a store reads it. */
function stored(draft: object): Record<string, unknown> {
  const entries = Object.entries(draft).map(([name, value]) => {
    if (value instanceof Uint8Array) return [name, textOf(value)]
    if (name === 'attributes' || name === 'metadata') return [name, recordOf(value)]
    return [name, value]
  })
  return { ...Object.fromEntries(entries), message_id }
}

function recordOf(keysAndValues: TextPairs): Record<string, string> {
  const texts = keysAndValues.map(textOf)
  return Object.fromEntries(
    texts.flatMap((key, place) => (place % 2 === 0 ? [[key, texts[place + 1] ?? '']] : [])),
  )
}

const kinds = ['observations', 'traces', 'events', 'links', 'correlations'] as const

test.each(kinds)('%s are written as their columns say', (kind) => {
  const columns = Object.entries(columnTypesByKind[kind])
  const encode = compileRowBinary(columns.map(([name, type]) => ({ name, type })))
  fc.assert(
    fc.property(draftsOf(kind), (draft) => {
      const row = stored(draft)
      const withMaps = columns
        .filter(([, type]) => type.startsWith('Map'))
        .map(([name]) => [name, row[name]])
      expect(encoded(kind, draft)).toEqual(encode([{ ...row, ...Object.fromEntries(withMaps) }]))
    }),
    { numRuns: fuzzRuns(200) },
  )
})

test('an observation and its head are read as written', () => {
  fc.assert(
    fc.property(draftsOf('observations'), fc.nat({ max: 9 }), (draft, at) => {
      const bytes = encoded('observations', draft)
      const row = readObservation(bytes)
      expect(row).toEqual(stored(draft))
      const whole = Buffer.concat([Buffer.alloc(at), bytes])
      const { cluster_name, ...head } = readObservationHead(whole, at)
      expect(row).toMatchObject(head)
      expect(cluster_name).toBe('')
      const name = 'resource.k8s.cluster.name'
      const named = { ...draft, attributes: [...draft.attributes, name, 'eu-1', 'z', ''] }
      expect(readObservationHead(encoded('observations', named), 0).cluster_name).toBe('eu-1')
    }),
    { numRuns: fuzzRuns(300) },
  )
})

test('observations of format 1 get empty new columns, other rows stay', () => {
  fc.assert(
    fc.property(draftsOf('observations'), draftsOf('events'), (draft, event) => {
      const first = encodeFirstFormat([stored(draft)])
      const other = encoded('events', event)
      const broken = first.subarray(0, 40)
      const rows = [
        ['observations', first],
        ['events', other],
        ['observations', broken],
      ] as const
      const upgraded = upgradeFrame({
        row_format: 1,
        bytes: Buffer.concat(rows.map(([, bytes]) => bytes)),
        eachRow: (visit) => {
          let at = 0
          for (const [index, [kind, bytes]] of rows.entries()) {
            visit(kind, at, at + bytes.length, index)
            at += bytes.length
          }
        },
      })
      const read: [string, Buffer, number][] = []
      upgraded?.eachRow((kind, start, end, receipt) => {
        read.push([kind, Buffer.from(upgraded.bytes.subarray(start, end)), receipt])
      })
      const [one, two, three] = read
      expect(readObservation(one?.[1] ?? Buffer.alloc(0))).toEqual({
        ...stored(draft),
        price_partial: [],
        response_id: '',
        counted_with: '',
        usage_details: {},
        service_tier: '',
        cost_computed_usd: null,
        cost_reported_usd: null,
      })
      expect(two).toEqual(['events', other, 1])
      expect(three).toEqual(['observations', broken, 2])
    }),
    { numRuns: fuzzRuns(100) },
  )
})

test('rows of the current format stay, those of an unknown one are refused', () => {
  const frame = { row_format: rowFormat, bytes: Buffer.alloc(0), eachRow: () => undefined }
  expect(upgradeFrame(frame)).toBe(frame)
  expect(upgradeFrame({ ...frame, row_format: 3 })).toBeUndefined()
})

test('the columns are those of the model, with message_id last', () => {
  expect(Object.keys(columnTypesByKind.observations).toSorted()).toEqual(
    Object.keys(observationSchema.shape).toSorted(),
  )
  for (const kind of kinds) expect(Object.keys(columnTypesByKind[kind]).at(-1)).toBe('message_id')
})

test('a row that is cut anywhere throws MalformedRow', () => {
  const [draft] = fc.sample(draftsOf('observations'), 1)
  if (draft === undefined) throw new Error('no sample')
  const bytes = encoded('observations', draft)
  for (let end = 0; end < bytes.length; end++) {
    expect(() => readObservation(bytes.subarray(0, end))).toThrow(MalformedRow)
  }
  expect(() => readObservation(Buffer.concat([bytes, Buffer.from('x')]))).toThrow(MalformedRow)
})
