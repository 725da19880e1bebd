import type { MoveProgress } from './progress-store.ts'
import type { Division, RowsStore, RowsSum, RowsTable } from './rows-store.ts'
import type { KeyValues } from './sorting-key.ts'

/** Both sides of a move of rows, and its limits. */
export type RowsMove = {
  source: RowsStore
  target: RowsStore
  progress: Pick<MoveProgress, 'read' | 'write'>
  /** Maximum rows and bytes of a batch, which is held in memory once. */
  batch_rows_max: number
  batch_bytes_max: number
  /** Called after each batch and each verified division. */
  report: (line: RowsReport) => void
  signal: AbortSignal
}

/** The state of a division: rows moved so far, and whether the sums of both sides are equal. */
type RowsReport = { table: string; division: string; rows: number; verified: boolean }

/** Both sides differ after a move. The message has the counts. */
export class MoveDiffers extends Error {
  override readonly name = 'MoveDiffers'
}

/**
 * Copies the rows of all tables, division by division in the order of their keys, and compares the
 * sums of each division. After a kill, another call continues behind the last recorded batch. A
 * repeated batch has the keys of the first, so it replaces its rows. Returns the rows per table.
 */
export async function moveRows(move: RowsMove): Promise<{ table: string; rows: number }[]> {
  const moved: { table: string; rows: number }[] = []
  for (const table of await move.source.listTables()) {
    for (const division of await move.source.listDivisions(table)) {
      await moveDivision(move, division)
    }
    moved.push({ table: table.name, rows: await compareTable(move, table) })
  }
  return moved
}

const startAgain = 'Empty both databases and run the move again. No role may run meanwhile.'

/** Compares the number of rows of both sides, also of divisions that were moved by an earlier run. */
async function compareTable({ source, target }: RowsMove, { name }: RowsTable): Promise<number> {
  const [rows, stored] = [await source.countRows(name), await target.countRows(name)]
  if (rows === stored) return rows
  throw new MoveDiffers(`${name}: ClickHouse has ${stored} rows, expected ${rows}. ${startAgain}`)
}

async function moveDivision(move: RowsMove, division: Division): Promise<void> {
  const recorded = await move.progress.read(division)
  if (recorded.verified) return
  let { rows, after } = recorded
  const record = async (batch: { until: KeyValues; rows: number }) => {
    after = batch.until
    rows += batch.rows
    await move.progress.write(division, { after, rows, verified: false })
    report(move, division, { rows, verified: false })
  }
  const adopted = await adoptBatch(move, division, after)
  if (adopted !== undefined) await record(adopted)
  // The size of the rows is not known yet.
  let size = Math.min(1_000, move.batch_rows_max)
  for (;;) {
    move.signal.throwIfAborted()
    const { bytes, until, ...batch } = await readBatch(move, division, after, size)
    if (bytes.length > 0) await move.target.insertRows(division.table, bytes)
    if (until === undefined) break
    await record({ until, ...batch })
    size = nextSize(move, { bytes, ...batch })
  }
  const sum = await compareDivision(move, division)
  await move.progress.write(division, { after, rows: sum.rows, verified: true })
  report(move, division, { rows: sum.rows, verified: true })
}

function report(move: RowsMove, division: Division, state: { rows: number; verified: boolean }) {
  move.report({ table: division.table.name, division: division.value, ...state })
}

/**
 * Finds rows that a killed run stored and did not record. If they are the same as in the source,
 * the move continues behind them.
 */
async function adoptBatch(
  { source, target }: RowsMove,
  division: Division,
  after: KeyValues | undefined,
): Promise<{ until: KeyValues; rows: number } | undefined> {
  const until = await target.findLastKey(division, after)
  if (until === undefined) return undefined
  const stored = await target.sumRows(division, { after, until })
  const given = await source.sumRows(division, { after, until })
  return isSame(given, stored) ? { until, rows: stored.rows } : undefined
}

type Batch = { bytes: Buffer; rows: number; until: KeyValues | undefined }

/** Reads a batch within the limits: half the rows as long as they are too large. */
async function readBatch(
  { source, batch_bytes_max }: RowsMove,
  division: Division,
  after: KeyValues | undefined,
  size: number,
): Promise<Batch> {
  for (let rows = size; ; rows = Math.ceil(rows / 2)) {
    const until = await source.findKey(division, after, rows)
    const bytes = await source.readRows(
      division,
      { after, until },
      bytes_max(rows, batch_bytes_max),
    )
    if (bytes !== undefined) return { bytes, rows, until }
    if (rows === 1) throw new RangeError(`a row of ${division.table.name} does not fit in memory`)
  }
}

/** Maximum bytes of a single row: the largest message of the queue, with its content twice. */
const row_bytes_max = 128 * 1_048_576

function bytes_max(rows: number, batch_bytes_max: number): number {
  return rows === 1 ? Math.max(row_bytes_max, batch_bytes_max) : batch_bytes_max
}

/** Chooses a batch of about half the limit in bytes, and at most twice the rows of the last one. */
function nextSize(
  { batch_rows_max, batch_bytes_max }: RowsMove,
  { bytes, rows }: Omit<Batch, 'until'>,
): number {
  const fitting = Math.floor((rows * batch_bytes_max) / (2 * Math.max(bytes.length, 1)))
  return Math.max(1, Math.min(fitting, 2 * rows, batch_rows_max))
}

async function compareDivision({ source, target }: RowsMove, division: Division): Promise<RowsSum> {
  const [given, stored] = [await source.sumRows(division, {}), await target.sumRows(division, {})]
  if (isSame(given, stored)) return stored
  throw new MoveDiffers(
    `${division.table.name}, ${division.value}: ClickHouse has ${stored.rows} rows with the sum ${stored.sum}, expected ${given.rows} with ${given.sum}. ${startAgain}`,
  )
}

function isSame(one: RowsSum, other: RowsSum): boolean {
  return one.rows === other.rows && one.sum === other.sum
}
