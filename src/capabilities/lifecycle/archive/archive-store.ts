import { parseProjectId } from '../../../model/project-id.ts'
import {
  type Columnar,
  ColumnarUnavailable,
  type ProjectColumnar,
  type QueryParams,
} from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../../storage/index.ts'
import type { Day, NsWindow } from './days.ts'
import { asArchiveFailure } from './failures.ts'
import type { ArchivedKind, PositionColumn } from './kinds.ts'
import { type ArchivedColumn, quoteColumn, rowHash, rowHashColumn } from './manifest.ts'

/** Rows of a kind that a run archives, by project, time and time of storage. */
export type ArchivedRows = {
  kind: ArchivedKind
  columns: readonly ArchivedColumn[]
  project_id: string
  /** Within one UTC day. */
  window: NsWindow
  /** Only rows stored before this, in milliseconds since 1970. */
  stored_before_ms: number
  /** Only records that match this condition over the kind's columns. */
  filter?: RowFilter | undefined
}

/** A condition and the values of its placeholders. */
type RowFilter = { sql: string; params: QueryParams }

/** The rows of one file: those after a position, within the limits. */
type Piece = {
  after: readonly string[] | undefined
  rows_max: number
  /** Approximate memory of the rows in the engine; the last block may exceed it. */
  bytes_max: number
  signal: AbortSignal
}

/** Reads rows out of the columnar store as Parquet. Rejects with `store_unavailable`. */
export type ArchiveStore = {
  now_ms(): Promise<number>
  columnsOf(kind: RecordKind): Promise<ArchivedColumn[]>
  /**
   * Reads rows in the order of the kind's position, each record once in its latest version, with
   * its hash. Only a piece without rows is the end; a piece may have fewer than `rows_max` rows
   * before.
   */
  readPiece(rows: ArchivedRows, piece: Piece): Promise<Buffer>
  /** Returns the days of a window with rows, in order; ignores the filter. */
  daysWithRows(rows: ArchivedRows, signal: AbortSignal): Promise<Day[]>
  /** Counts the records that all pieces of `readPiece` have together. */
  countRows(rows: ArchivedRows, signal: AbortSignal): Promise<number>
}

/** Opens the columnar store for reading archives. */
export function openArchiveStore({ columnar }: { columnar: Columnar }): ArchiveStore {
  const catalogue = columnar.acrossProjects('catalogue')
  const ofProject = ({ project_id }: ArchivedRows) => columnar.ofProject(parseProjectId(project_id))
  return {
    now_ms: async () => {
      const [row] = await asArchiveFailure(
        catalogue.query<{ now_ms: string }>('SELECT toUnixTimestamp64Milli(now64(3)) AS now_ms'),
      )
      return Number(row?.now_ms)
    },
    columnsOf: (kind) => asArchiveFailure(catalogue.query(columnsSql, { table: kind })),
    readPiece: (rows, piece) => readPiece(ofProject(rows), rows, piece),
    daysWithRows: async (rows, signal) => {
      const options = { signal, timeout_ms: piece_ms_max }
      const found = ofProject(rows).query<{ day: number }>(daysSql(rows), paramsOf(rows), options)
      return (await asArchiveFailure(found)).map(({ day }) => day)
    },
    countRows: async (rows, signal) => {
      const options = { signal, timeout_ms: piece_ms_max }
      const sql = `SELECT count() AS rows FROM (${recordsSql(rows, undefined)})`
      const found = ofProject(rows).query<{ rows: string }>(sql, paramsOf(rows), options)
      return Number((await asArchiveFailure(found))[0]?.rows)
    },
  }
}

/** Selects the stored columns of a table, in order. */
export const columnsSql = `SELECT name, type FROM system.columns
WHERE database = currentDatabase() AND table = {table:String}
  AND default_kind NOT IN ('ALIAS', 'MATERIALIZED', 'EPHEMERAL')
ORDER BY position`

/** A piece takes seconds; this time-out is for an overloaded machine. */
const piece_ms_max = 600_000

const pieceSettings = {
  result_overflow_mode: 'break',
  // The unit in which `max_result_bytes` is applied.
  max_block_size: 4_096,
  output_format_parquet_compression_method: 'zstd',
  output_format_compression_level: 1,
  // The engine and readers hold one row group in memory at a time.
  output_format_parquet_row_group_size: 25_000,
  optimize_read_in_order: 1,
}

/** Divisor of the rows of a piece that did not fit in the engine's memory. */
const shrink = 8

async function readPiece(
  ofProject: ProjectColumnar,
  rows: ArchivedRows,
  piece: Piece,
): Promise<Buffer> {
  const { signal, bytes_max: max_result_bytes } = piece
  const settings = { ...pieceSettings, max_result_bytes }
  const options = { signal, timeout_ms: piece_ms_max, settings }
  const sql = pieceSql(rows, piece.after)
  const params = paramsOf(rows, piece.after)
  const read = (more: { rows_max: number }) =>
    asArchiveFailure(ofProject.queryParquet(sql, { ...params, ...more }, options))
  const { rows_max } = piece
  return read({ rows_max }).catch((error: unknown) => {
    if (!isMemoryLimit(error) || rows_max < shrink) throw error
    return read({ rows_max: Math.ceil(rows_max / shrink) })
  })
}

function isMemoryLimit(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof ColumnarUnavailable && cause.message.includes('MEMORY_LIMIT_EXCEEDED')
}

function pieceSql(rows: ArchivedRows, after: readonly string[] | undefined): string {
  const { columns } = rows
  return `SELECT ${columns.map(exportColumn).join(', ')}, ${rowHashColumn}
FROM (
  SELECT *, ${rowHash(columns)} AS ${rowHashColumn}
  FROM (${recordsSql(rows, after)})
  LIMIT {rows_max:UInt64}
)`
}

/** Selects each record once, in its latest version, in the order of positions. */
function recordsSql(rows: ArchivedRows, after: readonly string[] | undefined): string {
  const { kind, columns, filter } = rows
  const identity = identityOf(kind)
  const order = kind.order_before ? `${kind.order_before}, ${identity}` : identity
  const where = [
    ...scope(kind),
    ...(kind.time_moves ? [latestTime(kind, identity)] : []),
    ...(after ? behind(kind.position) : []),
  ]
  return `
    SELECT * FROM (
      SELECT ${columns.map(({ name }) => quoteColumn(name)).join(', ')}
      FROM ${kind.kind}
      WHERE ${where.join('\n        AND ')}
      ORDER BY ${order}, ingested_at DESC, message_id DESC
      LIMIT 1 BY ${identity}
    )${filter ? ` WHERE ${filter.sql}` : ''}`
}

function daysSql({ kind }: ArchivedRows): string {
  return `SELECT toInt32(toDate(${quoteColumn(kind.time)})) AS day FROM ${kind.kind}
WHERE ${scope(kind).join(' AND ')} GROUP BY day ORDER BY day LIMIT 100000`
}

function identityOf(kind: ArchivedKind): string {
  return kind.position.map(({ column }) => quoteColumn(column)).join(', ')
}

function scope(kind: ArchivedKind): string[] {
  return [
    'project_id = {project:UUID}',
    `${quoteColumn(kind.time)} >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')`,
    `${quoteColumn(kind.time)} < fromUnixTimestamp64Nano({to:Int64}, 'UTC')`,
    storedBefore,
  ]
}

const storedBefore = 'ingested_at < fromUnixTimestamp64Milli({stored_before:Int64})'

/** Writes UUIDs as text, for other tools; the restore converts them back. */
function exportColumn({ name, type }: ArchivedColumn): string {
  return type === 'UUID'
    ? `toString(${quoteColumn(name)}) AS ${quoteColumn(name)}`
    : quoteColumn(name)
}

/** Selects versions with the time of the record's latest version, which may be in any month. */
function latestTime(kind: ArchivedKind, identity: string): string {
  return `(${identity}, ${quoteColumn(kind.time)}) GLOBAL IN (
        SELECT ${identity}, argMax(${quoteColumn(kind.time)}, (ingested_at, message_id))
        FROM ${kind.kind}
        WHERE project_id = {project:UUID} AND ${storedBefore}
        GROUP BY ${identity}
      )`
}

/**
 * Returns conditions for rows after a position; the one on the first column alone uses the index.
 */
function behind(position: readonly PositionColumn[]): string[] {
  const columns = position.map(({ column }) => quoteColumn(column))
  const values = position.map(placeholder)
  return [`${columns[0]} >= ${values[0]}`, `(${columns.join(', ')}) > (${values.join(', ')})`]
}

function placeholder({ type }: PositionColumn, at: number): string {
  if (type === 'time') return `fromUnixTimestamp64Nano({after${at}:Int64}, 'UTC')`
  return `{after${at}:${type === 'uuid' ? 'UUID' : 'String'}}`
}

function paramsOf(rows: ArchivedRows, after: readonly string[] = []): QueryParams {
  return {
    from: rows.window.from,
    to: rows.window.to,
    stored_before: rows.stored_before_ms,
    ...rows.filter?.params,
    ...Object.fromEntries(after.map((value, at) => [`after${at}`, value])),
  }
}
