import { createHash } from 'node:crypto'
import type { Blobs } from '../../../platform/blobs/index.ts'
import type { ArchivedRows, ArchiveStore } from './archive-store.ts'
import type { ArchiveSettings } from './contract.ts'
import { type Day, dayText } from './days.ts'
import { asArchiveFailure, settleBoth } from './failures.ts'
import { type ParquetFacts, readParquet } from './parquet-file.ts'
import {
  type ArchiveDb,
  countFileRows,
  filesTotal,
  forgetFiles,
  lastFile,
  recordFile,
} from './store.ts'

/** One day of one kind to be written into files. */
export type DayToArchive = {
  db: ArchiveDb
  store: ArchiveStore
  blobs: Blobs
  settings: ArchiveSettings
  signal: AbortSignal
  job_id: string
  prefix: string
  day: Day
  rows: ArchivedRows
  /** Called after each file, with the totals of all files so far. */
  onFile: (total: { files: number; rows: number; bytes: number }) => Promise<void>
}

type Piece = { bytes: Buffer; facts: ParquetFacts }
type Next = { ordinal: number; part: number }

/**
 * Writes the rows of the day into files, after the last recorded file of the day. While a file is
 * stored and read back, the next one is read. Rejects when the store has more rows of the day than
 * the files have; then the day's files are forgotten, and the next attempt writes them again.
 */
export async function archiveDay(target: DayToArchive): Promise<void> {
  const { db, job_id, rows, day } = target
  const last = await lastFile(db, job_id)
  const isOurs = last?.kind === rows.kind.kind && last.day === day
  const next: Next = {
    ordinal: (last?.ordinal ?? -1) + 1,
    part: isOurs ? last.part + 1 : 1,
  }
  const first_ordinal = next.ordinal - (isOurs ? last.part : 0)
  let piece = await readPiece(target, isOurs ? last.position : undefined)
  while (piece.facts.rows > 0) {
    const [following] = await settleBoth(
      readPiece(target, piece.facts.last),
      storeFile(target, piece, next),
    )
    const total = await filesTotal(db, job_id)
    await target.onFile(total)
    piece = following
    next.ordinal += 1
    next.part += 1
  }
  await assertComplete(target, first_ordinal)
}

async function readPiece(target: DayToArchive, after: Piece['facts']['last']): Promise<Piece> {
  const { store, rows, settings, signal } = target
  const bytes = await store.readPiece(rows, {
    after,
    rows_max: settings.file_rows_max,
    bytes_max: settings.file_bytes_max,
    signal,
  })
  return { bytes, facts: await readParquet(bytes, rows.kind) }
}

/** Stores a file, reads it back and records it. Only recorded files belong to the archive. */
async function storeFile(target: DayToArchive, { bytes, facts }: Piece, next: Next): Promise<void> {
  const { db, blobs, job_id, prefix, day, rows, signal } = target
  const { kind } = rows.kind
  const name = `${prefix}${kind}/${dayText(day)}-${String(next.part).padStart(4, '0')}.parquet`
  const { sha256 } = await asArchiveFailure(blobs.put(name, [bytes], { signal }))
  await asArchiveFailure(assertSame(blobs, { name, sha256, bytes: bytes.length }, signal))
  await recordFile(db, {
    job_id,
    name,
    kind,
    day,
    sha256,
    ...next,
    row_count: facts.rows,
    bytes: bytes.length,
    row_checksum: facts.row_checksum,
    min_time_ns: String(facts.min_time),
    max_time_ns: String(facts.max_time),
    position: [...(facts.last ?? [])],
  })
}

/** A blob reads back differently from what was written, so the blob store can't be trusted. */
class ReadBackDiffers extends Error {
  override readonly name = 'ReadBackDiffers'
}

/** Reads a blob back. Rejects with ReadBackDiffers when it differs from what was written. */
export async function assertSame(
  blobs: Blobs,
  { name, sha256, bytes }: { name: string; sha256: string; bytes: number },
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256')
  let length = 0
  for await (const chunk of await blobs.get(name, { signal })) {
    hash.update(chunk)
    length += chunk.length
  }
  if (hash.digest('hex') === sha256 && length === bytes) return
  throw new ReadBackDiffers(`${name} reads back as ${length} bytes other than the ${bytes} written`)
}

/** The store has rows that no file has. The next attempt writes the day again. */
class DayIncomplete extends Error {
  override readonly name = 'DayIncomplete'
}

async function assertComplete(target: DayToArchive, first_ordinal: number): Promise<void> {
  const { db, store, job_id, rows, day, signal } = target
  const archived = await countFileRows(db, { job_id, ordinal: first_ordinal })
  const stored = await store.countRows(rows, signal)
  if (stored <= archived) return
  await forgetFiles(db, { job_id, ordinal: first_ordinal })
  throw new DayIncomplete(
    `${rows.kind.kind} of ${dayText(day)}: the store has ${stored} rows, the files ${archived}`,
  )
}
