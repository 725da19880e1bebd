import { type Columnar, ColumnarError } from '../../../platform/columnar/index.ts'

/** Mean bytes of a value in memory, by column, and whether ClickHouse counts them by column. */
export type ColumnSizes = { bytes: ReadonlyMap<string, number>; from: 'columns' | 'parts' }

/** Sizes change slowly, so they are cached. */
const sizes_ttl_ms = 60_000

/**
 * Opens a cache of the sizes of the columns of a table. A Wide part has a file for each column, whose size
 * ClickHouse knows. A Compact part has one for all: without Wide parts, its size is shared out.
 */
export function openColumnSizes(columnar: Columnar): (table: string) => Promise<ColumnSizes> {
  const cached = new Map<string, { sizes: ColumnSizes; read_at_ms: number }>()
  return async (table) => {
    const earlier = cached.get(table)
    if (earlier && performance.now() - earlier.read_at_ms < sizes_ttl_ms) return earlier.sizes
    const sizes = await readSizes(columnar, table)
    cached.set(table, { sizes, read_at_ms: performance.now() })
    return sizes
  }
}

type Column = { name: string; type: string; bytes: string }
type Parts = { wide_rows: string; all_rows: string; bytes: string }

async function readSizes(columnar: Columnar, table: string): Promise<ColumnSizes> {
  const catalogue = columnar.acrossProjects('catalogue')
  const params = { database: columnar.database, table }
  const [columns, [parts]] = await Promise.all([
    catalogue.query<Column>(columnsSql, params),
    catalogue.query<Parts>(partsSql, params),
  ])
  const wide_rows = Number(parts?.wide_rows)
  if (wide_rows > 0) {
    const sizeOf = ({ type, bytes }: Column) => Number(bytes) / wide_rows + lengthBytes(type)
    return { bytes: new Map(columns.map((one) => [one.name, sizeOf(one)])), from: 'columns' }
  }
  const row_bytes = Number(parts?.bytes) / Math.max(1, Number(parts?.all_rows))
  const shares = await catalogue
    .query<Record<string, Mark | string>>(marksSql, params)
    .then(compressedShares, (error: unknown) => {
      // An account without the right to read marks, or an earlier version.
      if (error instanceof ColumnarError) return new Map<string, number>()
      throw error
    })
  return { bytes: shareOut(columns, row_bytes, shares), from: 'parts' }
}

const columnsSql = `SELECT name, type, data_uncompressed_bytes AS bytes FROM system.columns
  WHERE database = {database:String} AND table = {table:String}`

const partsSql = `SELECT sumIf(rows, part_type = 'Wide') AS wide_rows, sum(rows) AS all_rows,
    sum(data_uncompressed_bytes) AS bytes
  FROM system.parts WHERE active AND database = {database:String} AND table = {table:String}`

/** Marks say where the values of a column begin in the file of a part, for each granule. */
const marksSql = `SELECT COLUMNS('\\\\.mark$')
  FROM mergeTreeIndex({database:String}, {table:String}, with_marks = true)
  WHERE rows_in_granule > 0 LIMIT 64`

type Mark = { offset_in_compressed_file: string | null }

/** Returns the compressed bytes of each column in some granules. */
function compressedShares(
  granules: readonly Readonly<Record<string, Mark | string>>[],
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const marks of granules) {
    const starts = new Map<string, number>()
    for (const [stream, mark] of Object.entries(marks)) {
      if (typeof mark === 'string' || mark.offset_in_compressed_file === null) continue
      const column = /^[^.%]*/.exec(stream)?.[0] ?? ''
      const at = Number(mark.offset_in_compressed_file)
      starts.set(column, Math.min(at, starts.get(column) ?? at))
    }
    const ordered = [...starts].toSorted(([, a], [, b]) => a - b)
    for (const [index, [column, start]] of ordered.entries()) {
      const end = ordered[index + 1]?.[1] ?? start
      shares.set(column, (shares.get(column) ?? 0) + end - start)
    }
  }
  return shares
}

/**
 * Shares the bytes of a row out: values of a fixed width get that, and the others the rest, in proportion to
 * their compressed bytes.
 */
function shareOut(
  columns: readonly Column[],
  row_bytes: number,
  shares: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const isLong = ({ type }: Column) => widthOf(type) === undefined
  const fixed_bytes = columns.reduce((sum, { type }) => sum + (widthOf(type) ?? 1), 0)
  const rest_bytes = Math.max(0, row_bytes - fixed_bytes)
  const shareOf = ({ name }: Column) => shares.get(name) ?? 1
  const all = columns.filter(isLong).reduce((sum, one) => sum + shareOf(one), 0)
  const sizeOf = (one: Column) =>
    widthOf(one.type) ?? 1 + (rest_bytes * shareOf(one)) / all + lengthBytes(one.type)
  return new Map(columns.map((one) => [one.name, sizeOf(one)]))
}

/** Text takes 8 bytes more in memory than on disk, for its length. */
function lengthBytes(type: string): number {
  return type.includes('String') && !type.startsWith('LowCardinality') ? 8 : 0
}

/** Returns the bytes of a value of a type with a fixed width, of which our tables have these. */
function widthOf(type: string): number | undefined {
  const nullable = /^Nullable\((.*)\)$/.exec(type)?.[1]
  if (nullable !== undefined) {
    const width = widthOf(nullable)
    return width === undefined ? undefined : width + 1
  }
  if (/^(LowCardinality|Bool|U?Int8|Enum8)/.test(type)) return 1
  if (/^(U?Int16|Date$)/.test(type)) return 2
  if (/^(U?Int32|Float32|DateTime\b|Date32)/.test(type)) return 4
  if (/^(U?Int64|Float64|DateTime64|Decimal)/.test(type)) return 8
  return type === 'UUID' ? 16 : undefined
}
