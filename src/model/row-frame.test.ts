import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MalformedFrame } from './exchange-frame.ts'
import {
  decodeRowFrame,
  type FrameReceipt,
  isRowFrame,
  type RowKind,
  rowFrameHeader,
  rowKinds,
} from './row-frame.ts'

const bytes_max = 1_000_000
const project_id = '01900000-0000-7000-8000-000000000001'

type Row = { kind: RowKind; bytes: Uint8Array }

const rowsOfReceipts = fc.array(
  fc.array(fc.record({ kind: fc.constantFrom(...rowKinds), bytes: fc.uint8Array() }), {
    minLength: 1,
    maxLength: 5,
  }),
  { minLength: 1, maxLength: 5 },
)

function receiptOf(rows: readonly Row[], index: number): FrameReceipt {
  const records = { observations: 0, traces: 0, events: 0, links: 0, correlations: 0 }
  for (const { kind } of rows) records[kind] += 1
  return {
    ingest_request_id: `request ${index}`,
    path: 'otlp',
    received_at_ms: 1_790_000_000_000,
    items: records.observations,
    rows: rows.length,
    records,
    masked: 0,
    rejected: index === 0 ? { sampled: 3 } : {},
  }
}

function encodedRows(rows: readonly Row[]): Buffer {
  return Buffer.concat(
    rows.flatMap(({ kind, bytes }) => {
      const header = Buffer.alloc(5)
      header.writeUInt8(rowKinds.indexOf(kind) + 1, 0)
      header.writeUInt32LE(bytes.length, 1)
      return [header, bytes]
    }),
  )
}

function frameOf(rows: Buffer, trailer: unknown, compressed = false): Buffer {
  const body = compressed ? zstdCompressSync(rows) : rows
  const header = rowFrameHeader({ compressed, row_format: 7, rows_bytes: body.length })
  return Buffer.concat([header, body, Buffer.from(JSON.stringify(trailer))])
}

test('reads frames as they were written, compressed or not', () => {
  fc.assert(
    fc.property(rowsOfReceipts, fc.boolean(), (parts, compressed) => {
      const receipts = parts.map(receiptOf)
      const data = frameOf(encodedRows(parts.flat()), { project_id, receipts }, compressed)
      const frame = decodeRowFrame(new Uint8Array(data), bytes_max)
      expect(frame).toMatchObject({ project_id, row_format: 7, receipts })
      const read: unknown[] = []
      frame.eachRow((kind, start, end, receipt) =>
        read.push({ kind, receipt, bytes: new Uint8Array(frame.bytes.subarray(start, end)) }),
      )
      expect(read).toEqual(
        parts.flatMap((rows, receipt) => rows.map((row) => ({ ...row, receipt }))),
      )
    }),
  )
})

const rows: Row[] = [
  { kind: 'observations', bytes: Buffer.from('one') },
  { kind: 'events', bytes: Buffer.from('two') },
]
const receipt = receiptOf(rows, 0)
const good = frameOf(encodedRows(rows), { project_id, receipts: [receipt] })

describe('rejects malformed frames:', () => {
  const wrongTrailer = (trailer: unknown) => frameOf(encodedRows(rows), trailer)
  const wrongReceipt = (about: object) =>
    wrongTrailer({ project_id, receipts: [{ ...receipt, ...about }] })
  const wrongByte = (at: number, value: number) => {
    const data = Buffer.from(good)
    data[at] = value
    return data
  }

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['another version', wrongByte(0, 1)],
    ['another compression', wrongByte(1, 9)],
    ['rows that do not decompress', wrongByte(1, 1)],
    ['a row of no kind', wrongByte(8, 0)],
    ['a row of an unknown kind', wrongByte(8, 6)],
    ['a row of another kind', wrongByte(8, 3)],
    ['a row that is too long', wrongByte(12, 200)],
    ['rows that are too long', wrongByte(7, 200)],
    ['a trailer that is not an object', wrongTrailer([])],
    ['no receipts', wrongTrailer({ project_id })],
    ['no project', wrongTrailer({ receipts: [receipt] })],
    ['too few rows', wrongReceipt({ rows: 3 })],
    ['too many rows', wrongReceipt({ rows: 1, records: { ...receipt.records, events: 0 } })],
    ['a fraction of a row', wrongReceipt({ rows: 1.5 })],
    ['an endless number of rows', wrongReceipt({ rows: 1e300 })],
    ['another path', wrongReceipt({ path: 'post' })],
    ['no counts', wrongReceipt({ records: null })],
    ['rejections that are not counts', wrongReceipt({ rejected: { a: 'b' } })],
  ])('%s', (_, data) => {
    expect(() => decodeRowFrame(data, bytes_max)).toThrow(MalformedFrame)
  })

  test('more rows than they may decompress to', () => {
    const large: Row[] = [{ kind: 'traces', bytes: Buffer.alloc(5_000) }]
    const data = frameOf(encodedRows(large), { project_id, receipts: [receiptOf(large, 0)] }, true)
    expect(data.length).toBeLessThan(1_000)
    expect(() => decodeRowFrame(data, 4_000)).toThrow(MalformedFrame)
    expect(decodeRowFrame(data, 6_000).receipts).toHaveLength(1)
  })

  const anywhere = fc.nat({ max: good.length - 1 })
  const damaged = fc
    .array(fc.tuple(anywhere, fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 })
    .map((damage) => {
      const data = Buffer.from(good)
      for (const [at, byte] of damage) data[at] = byte
      return data
    })

  test('arbitrary bytes, with no other error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), damaged), anywhere, (data, end) => {
        expect([undefined, MalformedFrame]).toContain(failureOf(data))
        expect([undefined, MalformedFrame]).toContain(failureOf(data.subarray(0, end)))
      }),
      { numRuns: 3_000 },
    )
  })
})

/** Returns the class of the error that reading throws. */
function failureOf(data: Uint8Array): unknown {
  try {
    decodeRowFrame(data, bytes_max).eachRow(() => undefined)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.constructor : error
  }
}

test('the first byte distinguishes row frames from exchange frames', () => {
  expect(isRowFrame(good)).toBe(true)
  expect(isRowFrame(Buffer.from([1, 0]))).toBe(false)
})
