import { zstdDecompressSync } from 'node:zlib'
import { type FileMetaData, parquetMetadata, parquetRead, parquetSchema } from 'hyparquet'
import type { ArchivedKind } from './kinds.ts'
import { rowHashColumn } from './manifest.ts'

/** Facts about a file of an archive, read from its contents. */
export type ParquetFacts = {
  rows: number
  columns: readonly string[]
  /** Sum of the rows' hashes, modulo 2^64. */
  row_checksum: string
  /** Nanoseconds since 1970; 0 without rows. */
  min_time: bigint
  max_time: bigint
  /** Position of the last row; all values as text, times in nanoseconds. */
  last: readonly string[] | undefined
}

/** The bytes are not a complete Parquet file with the columns of an archive. */
export class ParquetBroken extends Error {
  override readonly name = 'ParquetBroken'
}

/** Reads the footer, hashes, times and last position of a file. Rejects with ParquetBroken. */
export async function readParquet(bytes: Buffer, kind: ArchivedKind): Promise<ParquetFacts> {
  const metadata = footerOf(bytes)
  const columns = (parquetSchema(metadata).children ?? []).map(({ element }) => element.name)
  const read = [rowHashColumn, kind.time, ...kind.position.map(({ column }) => column)]
  const missing = read.find((column) => !columns.includes(column))
  if (missing !== undefined) throw new ParquetBroken(`it has no column ${missing}`)
  const rows = Number(metadata.num_rows)
  const facts = { rows, columns }
  if (rows === 0) {
    return { ...facts, row_checksum: '0', min_time: 0n, max_time: 0n, last: undefined }
  }
  const values = await valuesOf(bytes, metadata, [...new Set(read)])
  const of = (column: string) => {
    const found = values.get(column) ?? []
    if (found.length === rows) return found
    throw new ParquetBroken(`column ${column} has ${found.length} values, expected ${rows}`)
  }
  return {
    ...facts,
    row_checksum: String(sumOf(of(rowHashColumn))),
    ...edgesOf(of(kind.time)),
    last: kind.position.map(({ column }) => String(of(column).at(-1))),
  }
}

/** The traces and users of a file's rows. */
export type ParquetOwners = {
  /** The hash of the row. */
  hash: bigint
  trace_id: string
  /** Empty for rows and kinds without a user. */
  user_id: string
}[]

/** Reads the traces and users of a file's rows. Rejects with ParquetBroken. */
export async function readOwners(bytes: Buffer): Promise<ParquetOwners> {
  const metadata = footerOf(bytes)
  const columns = (parquetSchema(metadata).children ?? []).map(({ element }) => element.name)
  const wanted = [rowHashColumn, 'trace_id', 'user_id'].filter((name) => columns.includes(name))
  const values = await valuesOf(bytes, metadata, wanted)
  const [hashes = [], traces = [], users = []] = [rowHashColumn, 'trace_id', 'user_id'].map(
    (name) => values.get(name),
  )
  return hashes.map((hash, at) => {
    if (typeof hash !== 'bigint') throw new ParquetBroken('a row has no hash')
    const [trace_id, user_id] = [String(traces[at]), String(users[at] ?? '')]
    return { hash: BigInt.asUintN(64, hash), trace_id, user_id }
  })
}

function footerOf(bytes: Buffer): FileMetaData {
  try {
    return parquetMetadata(bytes)
  } catch (cause) {
    throw new ParquetBroken(`its footer can not be read: ${reasonOf(cause)}`, { cause })
  }
}

async function valuesOf(
  bytes: Buffer,
  metadata: FileMetaData,
  columns: string[],
): Promise<Map<string, unknown[]>> {
  const values = new Map<string, unknown[]>(columns.map((column) => [column, []]))
  const slice = (start: number, end = bytes.length) =>
    Uint8Array.from(bytes.subarray(start, end)).buffer
  try {
    await parquetRead({
      file: { byteLength: bytes.length, slice },
      metadata,
      columns,
      compressors: { ZSTD: (input) => zstdDecompressSync(input) },
      parsers: { timestampFromNanoseconds: (ns) => ns },
      onChunk: ({ columnName, columnData }) => {
        const known = values.get(columnName)
        for (const value of columnData) known?.push(value)
      },
    })
  } catch (cause) {
    throw new ParquetBroken(`its rows can not be read: ${reasonOf(cause)}`, { cause })
  }
  return values
}

function sumOf(hashes: readonly unknown[]): bigint {
  let sum = 0n
  for (const hash of hashes) {
    if (typeof hash !== 'bigint') throw new ParquetBroken('a row has no hash')
    sum += BigInt.asUintN(64, hash)
  }
  return BigInt.asUintN(64, sum)
}

function edgesOf(times: readonly unknown[]): { min_time: bigint; max_time: bigint } {
  let [min, max] = [undefined as bigint | undefined, undefined as bigint | undefined]
  for (const time of times) {
    if (typeof time !== 'bigint') throw new ParquetBroken('a row has no time')
    if (min === undefined || time < min) min = time
    if (max === undefined || time > max) max = time
  }
  return { min_time: min ?? 0n, max_time: max ?? 0n }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
}
