import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import {
  type ColumnarServer,
  compileRowBinary,
  openColumnar,
  RowBinaryError,
} from '../../src/platform/columnar/index.ts'
import { columnarOptions, testClickHouse } from '../support/clickhouse.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/** Any text, including lone surrogates; those are stored as U+FFFD. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.nat({ max: 0xffff }), { maxLength: 200 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('\0', '', 'é'.repeat(64), 'a'.repeat(127), 'ü'.repeat(8_192), 'x'.repeat(20_000)),
)
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const decimal = fc.bigInt({ min: 1n - 10n ** 18n, max: 10n ** 18n - 1n }).map(decimalText)
const uuid = fc.uuid()

/** For each column: its type, values of it, the expression to read it, and the engine's answer. */
const columns = {
  text: { type: 'String', values: anyText, read: 'text', shown: wellFormed },
  word: { type: 'LowCardinality(String)', values: anyText, read: 'word', shown: wellFormed },
  fixed: {
    type: 'FixedString(4)',
    values: fc.uint8Array({ maxLength: 4 }),
    read: 'hex(fixed)',
    shown: (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase().padEnd(8, '0'),
  },
  uuid: { type: 'UUID', values: uuid, read: 'uuid', shown: String },
  u8: { type: 'UInt8', values: fc.nat({ max: 255 }), read: 'u8', shown: Number },
  u16: { type: 'UInt16', values: fc.nat({ max: 65_535 }), read: 'u16', shown: Number },
  u32: { type: 'UInt32', values: fc.nat({ max: 2 ** 32 - 1 }), read: 'u32', shown: Number },
  u64: {
    type: 'UInt64',
    values: fc.oneof(uint64, fc.maxSafeNat()),
    read: 'u64',
    shown: String,
  },
  i64: { type: 'Int64', values: int64, read: 'i64', shown: String },
  flag: { type: 'Bool', values: fc.boolean(), read: 'flag', shown: Boolean },
  real: {
    type: 'Float64',
    values: fc.double({ noNaN: true, noDefaultInfinity: true }),
    read: 'toString(reinterpretAsUInt64(real))',
    shown: bitsOf,
  },
  instant: {
    type: "DateTime64(9, 'UTC')",
    values: fc.bigInt({ min: -(2n ** 60n), max: 2n ** 62n }),
    read: 'toUnixTimestamp64Nano(instant)',
    shown: String,
  },
  price: { type: 'Decimal(18, 9)', values: decimal, read: 'toString(price)', shown: String },
  maybe: {
    type: 'Nullable(Decimal(18, 9))',
    values: fc.option(decimal),
    read: 'toString(maybe)',
    shown: (value: string | null) => value,
  },
  list: {
    type: 'Array(Nullable(UInt64))',
    values: fc.array(fc.option(uint64), { maxLength: 200 }),
    read: 'list',
    shown: (list: (bigint | null)[]) => list.map((item) => (item === null ? null : String(item))),
  },
  map: {
    type: 'Map(LowCardinality(String), Array(String))',
    values: fc.dictionary(
      fc.string({ unit: 'binary' }).filter((key) => key !== '__proto__'),
      fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
      { maxKeys: 5, noNullPrototype: true },
    ),
    read: 'map',
    shown: (map: object) => map,
  },
  pair: {
    type: 'Array(Tuple(id String, at UInt8))',
    values: fc.array(fc.record({ id: fc.string({ unit: 'binary' }), at: fc.nat({ max: 255 }) })),
    read: 'pair',
    shown: (list: object) => list,
  },
}

type Row = { [Name in keyof typeof columns]: unknown }

const names = Object.keys(columns) as (keyof Row)[]
const rows = fc.array(
  fc.record(Object.fromEntries(names.map((name) => [name, columns[name].values]))),
  { minLength: 1, maxLength: 30 },
) as fc.Arbitrary<Row[]>

let columnar: ColumnarServer

beforeAll(async () => {
  columnar = openColumnar(columnarOptions(await testClickHouse('empty')))
  await columnar.createDatabase()
  const types = names.map((name) => `${name} ${columns[name].type}`)
  await columnar.command(`CREATE TABLE r (batch UUID, at UInt32, ${types}) ENGINE = Memory`)
})
afterAll(() => columnar?.close())

test('the engine reads what was written, for any values', async () => {
  const encode = compileRowBinary<Row & { batch: string; at: number }>([
    { name: 'batch', type: 'UUID' },
    { name: 'at', type: 'UInt32' },
    ...names.map((name) => ({ name, type: columns[name].type })),
  ])
  const read = names.map((name) => `${columns[name].read} AS read_${name}`)
  const sql = `SELECT ${read} FROM r WHERE batch = {batch:UUID} ORDER BY at`
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const batch = newId()
      const encoded = encode(given.map((row, at) => ({ ...row, batch, at })))
      await columnar.insertRowBinary('r', ['batch', 'at', ...names], encoded)
      expect(await columnar.query(sql, { batch })).toEqual(given.map(shownRow))
    }),
    { numRuns: fuzzRuns(25) },
  )
})

test.each([
  ['UInt8', 256],
  ['UInt8', -1],
  ['UInt32', 1.5],
  ['UInt64', 2 ** 53],
  ['UInt64', -1n],
  ['Int64', 2n ** 63n],
  ['UUID', 'not one'],
  ['String', null],
  ['Bool', 1],
  ['FixedString(2)', 'abc'],
  ['Decimal(18, 9)', '0.0000000001'],
  ['Decimal(18, 9)', '1000000000'],
  ['Decimal(18, 9)', 0.5],
  ['Array(String)', 'abc'],
  ['Map(String, String)', null],
  ['Nullable(UInt8)', undefined],
])('%s refuses %s, with the row and column', (type, value) => {
  const encode = compileRowBinary<{ a: number; b: unknown }>([
    { name: 'a', type: 'UInt8' },
    { name: 'b', type },
  ])
  const failure = caught(() => encode([{ a: 1, b: value }]))
  expect(failure).toBeInstanceOf(RowBinaryError)
  expect(failure).toMatchObject({ column: 'b', row: 0 })
})

test.each(['Date', 'Decimal(38, 9)', 'Array', 'Nullable()', 'String)', ''])(
  'a column of type "%s" is refused when compiled',
  (type) => {
    expect(() => compileRowBinary([{ name: 'a', type }])).toThrow(TypeError)
  },
)

function shownRow(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    names.map((name) => [
      `read_${name}`,
      (columns[name].shown as (v: unknown) => unknown)(row[name]),
    ]),
  )
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}

function bitsOf(value: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return String(bytes.readBigUInt64LE())
}

/** A Decimal(18, 9) in the engine's format: without trailing zeros. */
function decimalText(billionths: bigint): string {
  const sign = billionths < 0n ? '-' : ''
  const digits = (billionths < 0n ? -billionths : billionths).toString().padStart(10, '0')
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
