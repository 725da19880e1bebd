import { parseProjectId } from '../../../../model/project-id.ts'
import {
  type Columnar,
  type ProjectColumnar,
  renderStatement,
} from '../../../../platform/columnar/index.ts'
import { JobRefused } from '../../../jobs/index.ts'
import {
  type ErasureTarget,
  openClickHouseErasure,
  type RecordKind,
} from '../../../storage/index.ts'
import { columnsSql } from '../archive-store.ts'
import type { NsWindow } from '../days.ts'
import { asArchiveFailure } from '../failures.ts'
import { type ArchivedKind, archivedKinds } from '../kinds.ts'
import { type ArchivedColumn, quoteColumn, rowHash, rowHashColumn } from '../manifest.ts'

/** The tables of slices. Rejects with `store_unavailable`. */
export type RestoredStore = {
  /** Returns the columns of a kind that can be restored. */
  columnsOf(kind: RecordKind): Promise<ArchivedColumn[]>
  /**
   * Inserts the rows of a file into a slice, without those with the hashes of `left_out`.
   * Idempotent, because rows replace themselves.
   */
  insertFile(file: FileToInsert): Promise<void>
  /** Sums up the rows of a kind and window in a slice. */
  sums(asked: SumsQuery): Promise<{ rows: number; row_checksum: string }>
  /** Deletes a user's data in all slices of a project. */
  erasure: Required<Omit<ErasureTarget, 'countHeld'>>
  /** Drops a slice. */
  dropSlice(slice_id: string): Promise<void>
}

type SliceKey = { slice_id: string; project_id: string }
type FileToInsert = SliceKey & {
  kind: RecordKind
  columns: readonly ArchivedColumn[]
  bytes: Buffer
  /** Hashes of rows that are left out, ascending. */
  left_out: readonly bigint[]
  signal: AbortSignal
}

type SumsQuery = SliceKey & {
  kind: ArchivedKind
  columns: readonly ArchivedColumn[]
  window: NsWindow
  /** Whether to count duplicate rows once; takes longer. */
  each_once: boolean
  signal: AbortSignal
}

/** Opens the tables of slices. */
export function openRestoredStore({ columnar }: { columnar: Columnar }): RestoredStore {
  return {
    columnsOf: async (kind) => {
      const catalogue = columnar.acrossProjects('catalogue')
      const columns = await asArchiveFailure(
        catalogue.query<ArchivedColumn>(columnsSql, { table: tableOf(kind) }, { timeout_ms }),
      )
      return columns.filter(({ name }) => name !== 'slice_id')
    },
    insertFile: (file) => {
      const ofProject = columnar.ofProject(parseProjectId(file.project_id))
      return asArchiveFailure(insertFile(ofProject, file))
    },
    sums: async ({ window, slice_id, project_id, signal, ...asked }) => {
      const ofProject = columnar.ofProject(parseProjectId(project_id))
      const [row] = await asArchiveFailure(
        ofProject.query<{ rows: string; row_checksum: string }>(
          sumsSql(asked),
          { slice: slice_id, ...window },
          { timeout_ms, signal },
        ),
      )
      return { rows: Number(row?.rows ?? 0), row_checksum: row?.row_checksum ?? '0' }
    },
    erasure: openClickHouseErasure({ columnar, tableOf }),
    dropSlice: (slice_id) => asArchiveFailure(dropSlice(columnar, slice_id)),
  }
}

/** A statement takes seconds; this time-out is for an overloaded machine. */
const timeout_ms = 600_000

function tableOf(kind: RecordKind): string {
  return `restored_${kind}`
}

/** Most hashes of one statement, which are sent as its parameters. */
const maxLeftOut = 20_000

/** Runs one statement for each group of left-out hashes, for the rows in the group's hash range. */
async function insertFile(ofProject: ProjectColumnar, file: FileToInsert): Promise<void> {
  const { kind, columns, slice_id, bytes, signal, left_out } = file
  const names = columns.map(({ name }) => quoteColumn(name))
  const values = columns.map((column) => insertValueOf(column))
  const structure = [...columns.map(givenColumn), `${rowHashColumn} UInt64`].join(', ')
  const statement = `INSERT INTO ${tableOf(kind)} (\`slice_id\`, ${names.join(', ')})
SELECT {slice:UUID}, ${values.join(', ')} FROM input('${structure.replaceAll("'", "\\'")}')`
  const params = { slice: slice_id }
  const about = { signal, timeout_ms, settings }
  if (left_out.length === 0) return ofProject.insertParquet(statement, bytes, { params, ...about })
  for (let at = 0; at < left_out.length; at += maxLeftOut) {
    const group = left_out.slice(at, at + maxLeftOut)
    const [from, to] = [at === 0 ? undefined : group[0], left_out[at + maxLeftOut]]
    const where = [
      `${rowHashColumn} NOT IN {left_out:Array(UInt64)}`,
      ...(from === undefined ? [] : [`${rowHashColumn} >= {hash_from:UInt64}`]),
      ...(to === undefined ? [] : [`${rowHashColumn} < {hash_to:UInt64}`]),
    ]
    const bounds = {
      ...(from !== undefined && { hash_from: from }),
      ...(to !== undefined && { hash_to: to }),
    }
    await ofProject.insertParquet(`${statement}\nWHERE ${where.join(' AND ')}`, bytes, {
      params: { ...params, ...bounds, left_out: group },
      ...about,
    })
  }
}

const settings = { input_format_parquet_allow_missing_columns: 0, max_insert_block_size: 25_000 }

/** Returns the value to insert; the project comes from the slice, not from the file. */
function insertValueOf({ name, type }: ArchivedColumn): string {
  if (name === 'project_id') return '{project:UUID}'
  return type === 'UUID' ? `toUUID(${quoteColumn(name)})` : quoteColumn(name)
}

function givenColumn({ name, type }: ArchivedColumn): string {
  return `${quoteColumn(name)} ${type === 'UUID' ? 'String' : type}`
}

function sumsSql({
  kind,
  columns,
  each_once,
}: Omit<SumsQuery, keyof SliceKey | 'window' | 'signal'>): string {
  const identity = kind.position.map(({ column }) => quoteColumn(column)).join(', ')
  const order = kind.order_before ? `${kind.order_before}, ${identity}` : identity
  const time = quoteColumn(kind.time)
  return `SELECT count() AS rows, toString(sum(${rowHash(columns)})) AS row_checksum FROM (
  SELECT ${columns.map(({ name }) => quoteColumn(name)).join(', ')} FROM ${tableOf(kind.kind)}
  WHERE slice_id = {slice:UUID} AND project_id = {project:UUID}
    AND ${time} >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND ${time} < fromUnixTimestamp64Nano({to:Int64}, 'UTC')${
      each_once ? `\n  ORDER BY ${order}\n  LIMIT 1 BY ${identity}` : ''
    }
)`
}

async function dropSlice(columnar: Columnar, slice_id: string): Promise<void> {
  for (const { kind } of archivedKinds) {
    const statement = `ALTER TABLE {{table:${tableOf(kind)}}} {{on_cluster}} DROP PARTITION `
    await columnar
      .acrossProjects('whole parts')
      .command(
        `${renderTemplate(statement, columnar)}{slice:UUID}`,
        { slice: slice_id },
        { timeout_ms },
      )
  }
}

function renderTemplate(template: string, { database, cluster }: Columnar): string {
  return renderStatement(template, { database, ...(cluster !== undefined && { cluster }) })
}

/**
 * Returns the columns of an archive with their types in the tables of slices. Columns added since
 * take their defaults. Throws JobRefused, with the name, for a column that is unknown or has
 * another type, and for a missing column that identifies rows.
 */
export function columnsToRestore(
  kind: ArchivedKind,
  archived: readonly ArchivedColumn[],
  known: readonly ArchivedColumn[],
): ArchivedColumn[] {
  const types = new Map(known.map(({ name, type }) => [name, type]))
  const columns = archived.map(({ name, type }) => {
    const here = types.get(name)
    if (here === undefined) {
      throw new JobRefused(
        `the archive's ${kind.kind} have a column ${name}, which is not known here`,
      )
    }
    if (plain(here) !== plain(type)) {
      throw new JobRefused(
        `the archive's column ${name} of ${kind.kind} is ${type}, here it is ${here}`,
      )
    }
    return { name, type: here }
  })
  const names = new Set(columns.map(({ name }) => name))
  for (const name of ['project_id', kind.time, ...kind.position.map(({ column }) => column)]) {
    if (names.has(name)) continue
    throw new JobRefused(`the archive's ${kind.kind} have no column ${name}`)
  }
  return columns
}

/** Removes LowCardinality, which only says how a type is stored. */
function plain(type: string): string {
  return type.replace(/LowCardinality\(([^()]+)\)/g, '$1')
}
