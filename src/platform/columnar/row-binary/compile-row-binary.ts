import { ByteWriter } from './byte-writer.ts'
import { compileValueWriter, parseColumnType, type ValueWriter } from './value-writers.ts'

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
