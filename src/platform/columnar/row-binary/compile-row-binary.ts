import { ByteWriter } from './byte-writer.ts'
import { decimalTicks } from './scalar-formats.ts'

/**
 * One column of an insert. `type` is the ClickHouse type. `from` returns the value of a row, by
 * default the field with the name of the column.
 */
export type RowBinaryColumn<Row> = {
  name: string
  type: string
  from?: (row: Row) => unknown
}

/** Encodes rows in ClickHouse's format RowBinary. */
export type RowBinaryEncoder<Row> = (rows: readonly Row[]) => Buffer

/** A value does not fit its column. `row` counts from 0. */
export class RowBinaryError extends Error {
  override readonly name = 'RowBinaryError'
  readonly column: string
  readonly row: number

  constructor(column: string, row: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`row ${row}, column ${column}: ${reason}`, { cause })
    this.column = column
    this.row = row
  }
}

/**
 * Compiles columns to an encoder of rows. JS values by type: String and UUID: text; UInt and Int
 * below 64 bits: number; 64 bits: number or bigint; DateTime64(n): a bigint of ticks since 1970;
 * Decimal: text; Array: array; Map: object; Tuple: object by element name. The encoder throws
 * RowBinaryError. The caller owns the returned buffer. Format:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export function compileRowBinary<Row extends object>(
  columns: readonly RowBinaryColumn<Row>[],
): RowBinaryEncoder<Row> {
  const writers = columns.map((column) => compileValueWriter(parseColumnType(column.type)))
  const readers = columns.map(({ name, from }) => from ?? fieldReader<Row>(name))
  const names = columns.map((column) => column.name)
  let row_bytes_guess = 4096
  return (rows) => {
    const size_bytes = Math.max(rows.length * row_bytes_guess, size_bytes_min)
    const out = new ByteWriter(Buffer.allocUnsafe(size_bytes))
    let index = 0
    for (const row of rows) writeRow(out, { row, index: index++, writers, readers, names })
    const encoded = out.written()
    if (rows.length > 0) row_bytes_guess = Math.ceil((encoded.length / rows.length) * 1.25)
    return encoded
  }
}

const size_bytes_min = 256

type RowToWrite<Row> = {
  row: Row
  index: number
  writers: readonly ValueWriter[]
  readers: readonly ((row: Row) => unknown)[]
  names: readonly string[]
}

function writeRow<Row>(out: ByteWriter, { row, index, writers, readers, names }: RowToWrite<Row>) {
  let column = 0
  try {
    for (; column < writers.length; column++) writers[column]?.(out, readers[column]?.(row))
  } catch (cause) {
    throw new RowBinaryError(names[column] ?? '', index, cause)
  }
}

function fieldReader<Row extends object>(name: string): (row: Row) => unknown {
  return (row) => (row as Record<string, unknown>)[name]
}

/** Writes one value. Throws when it does not fit the type. */
type ValueWriter = (out: ByteWriter, value: unknown) => void

/** Compiles the writer of a type. Throws TypeError for an unsupported type. */
function compileValueWriter(type: ColumnType): ValueWriter {
  const make = writerMakers[type.name]
  if (!make) throw new TypeError(`column type: got "${type.name}", expected a supported type`)
  return make(type)
}

const writerMakers: Record<string, (type: ColumnType) => ValueWriter> = {
  String: () => writeString,
  FixedString: fixedStringWriter,
  UUID: () => writeUuid,
  Bool: () => (out, value) =>
    out.bool(typeof value === 'boolean' ? value : throwWrongValue(value, 'Bool')),
  UInt8: () => (out, value) => out.u8(integerOf(value)),
  UInt16: () => (out, value) => out.u16(integerOf(value)),
  UInt32: () => (out, value) => out.u32(integerOf(value)),
  UInt64: () => (out, value) =>
    typeof value === 'bigint' ? out.u64(value) : out.u53(numberOf(value)),
  Int64: () => (out, value) => out.i64(bigintOf(value)),
  Float64: () => (out, value) => out.f64(numberOf(value)),
  DateTime64: () => (out, value) => out.i64(bigintOf(value)),
  Decimal: decimalWriter,
  LowCardinality: (type) => compileValueWriter(nestedType(type, 0)),
  Nullable: nullableWriter,
  Array: arrayWriter,
  Map: mapWriter,
  Tuple: tupleWriter,
}

function writeString(out: ByteWriter, value: unknown): void {
  if (typeof value === 'string' || value instanceof Uint8Array) out.text(value)
  else throwWrongValue(value, 'String')
}

function fixedStringWriter(type: ColumnType): ValueWriter {
  const length_bytes = type.numbers[0] ?? 0
  return (out, value) => {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value
    if (!(bytes instanceof Uint8Array) || bytes.length > length_bytes) {
      throwWrongValue(value, `FixedString(${length_bytes})`)
    } else {
      out.raw(bytes)
      for (let padding = bytes.length; padding < length_bytes; padding++) out.u8(0)
    }
  }
}

function writeUuid(out: ByteWriter, value: unknown): void {
  if (typeof value !== 'string') throwWrongValue(value, 'UUID')
  else out.uuid(value)
}

function decimalWriter(type: ColumnType): ValueWriter {
  const [precision = 18, scale = 0] = type.numbers
  if (precision > 18 || precision < 10) {
    throw new TypeError(
      `column type: got Decimal(${precision}, …), expected a precision of 10 to 18`,
    )
  }
  return (out, value) => {
    if (typeof value !== 'string') throwWrongValue(value, `Decimal(${precision}, ${scale}) as text`)
    else out.i64(decimalTicks(value, precision, scale))
  }
}

function nullableWriter(type: ColumnType): ValueWriter {
  const write = compileValueWriter(nestedType(type, 0))
  return (out, value) => {
    if (value === null) out.u8(1)
    else {
      out.u8(0)
      write(out, value)
    }
  }
}

function arrayWriter(type: ColumnType): ValueWriter {
  const write = compileValueWriter(nestedType(type, 0))
  return (out, value) => {
    if (!Array.isArray(value)) throwWrongValue(value, 'Array')
    else {
      out.varint(value.length)
      for (const item of value) write(out, item)
    }
  }
}

function mapWriter(type: ColumnType): ValueWriter {
  const writeKey = compileValueWriter(nestedType(type, 0))
  const writeValue = compileValueWriter(nestedType(type, 1))
  return (out, value) => {
    if (typeof value !== 'object' || value === null) throwWrongValue(value, 'Map')
    else {
      const entries = Object.entries(value)
      out.varint(entries.length)
      for (const [key, item] of entries) {
        writeKey(out, key)
        writeValue(out, item)
      }
    }
  }
}

function tupleWriter(type: ColumnType): ValueWriter {
  const elements = type.elements.map((name, index) => ({
    name,
    write: compileValueWriter(nestedType(type, index)),
  }))
  return (out, value) => {
    if (typeof value !== 'object' || value === null) throwWrongValue(value, 'Tuple')
    else {
      const record = value as Record<string, unknown>
      for (const { name, write } of elements) write(out, record[name])
    }
  }
}

function nestedType(type: ColumnType, index: number): ColumnType {
  const found = type.types[index]
  if (!found) throw new TypeError(`column type: ${type.name} lacks its type ${index + 1}`)
  return found
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : throwWrongValue(value, 'a number')
}

/** Checks for a whole number. The writer checks the range. */
function integerOf(value: unknown): number {
  return Number.isInteger(value) ? (value as number) : throwWrongValue(value, 'a whole number')
}

function bigintOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  return Number.isSafeInteger(value)
    ? BigInt(value as number)
    : throwWrongValue(value, 'a whole number')
}

function throwWrongValue(value: unknown, expected: string): never {
  const shown = typeof value === 'object' ? 'an object' : `"${String(value).slice(0, 80)}"`
  throw new TypeError(`got ${shown}, expected ${expected}`)
}

/** A parsed ClickHouse type: `Nullable(Decimal(18, 9))` contains `Decimal` with two numbers. */
type ColumnType = {
  name: string
  /** Nested types: one for an Array, two for a Map. */
  types: ColumnType[]
  /** Names of a Tuple's elements, in the order of `types`. */
  elements: string[]
  /** Numeric arguments: precision and scale, or a length. */
  numbers: number[]
}

/** Parses the name of a type. Throws TypeError when it is invalid. */
function parseColumnType(text: string): ColumnType {
  const { name, inner } = nameAndInner(text.trim())
  const type: ColumnType = { name, types: [], elements: [], numbers: [] }
  for (const argument of topLevelArguments(inner)) addArgument(type, argument)
  return type
}

function nameAndInner(text: string): { name: string; inner: string } {
  const match = /^(\w+)(?:\((.*)\))?$/s.exec(text)
  if (!match) throw new TypeError(`column type: got "${text}", expected for instance Array(String)`)
  return { name: match[1] ?? '', inner: match[2] ?? '' }
}

function addArgument(type: ColumnType, argument: string): void {
  if (/^\d+$/.test(argument)) {
    type.numbers.push(Number(argument))
    return
  }
  if (argument.startsWith("'")) return
  const element = type.name === 'Tuple' ? /^(\w+)\s+(.+)$/s.exec(argument) : null
  type.elements.push(element?.[1] ?? '')
  type.types.push(parseColumnType(element?.[2] ?? argument))
}

function topLevelArguments(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) {
      parts.push(text.slice(start, index).trim())
      start = index + 1
    }
  }
  const last = text.slice(start).trim()
  return last === '' ? parts : [...parts, last]
}
