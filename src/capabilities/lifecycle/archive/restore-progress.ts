import { z } from 'zod'
import type { JobValue } from '../../jobs/index.ts'
import { ErasedMeanwhile } from './left-out.ts'
import { type ArchivedFile, sumOfChecksums } from './manifest.ts'

const count = z.int().nonnegative()
const sums = z.object({ rows: count, row_checksum: z.string() })

const notedSchema = z.object({
  files: count,
  files_total: count,
  rows: count,
  /** Rows that stayed out, by kind and day. */
  left_out: z.record(z.string(), sums).default({}),
  /** The erasures that were known, as `LeftOut.version`. */
  version: count.default(0),
})
type Noted = z.infer<typeof notedSchema>
type Sums = z.infer<typeof sums>

/** The progress of a run that has not begun. */
export const noProgress: Noted = { files: 0, files_total: 0, rows: 0, left_out: {}, version: 0 }

/** How far a restore is, and which rows stayed out of the files that are done. */
export class RestoreProgress {
  #noted: Noted

  private constructor(noted: Noted) {
    this.#noted = noted
  }

  static from(progress: JobValue | null): RestoreProgress {
    return new RestoreProgress(notedSchema.safeParse(progress).data ?? noProgress)
  }

  /** Files that are done. */
  get files(): number {
    return this.#noted.files
  }

  get noted(): JobValue {
    return this.#noted
  }

  get erased_rows(): number {
    return Object.values(this.#noted.left_out).reduce((all, { rows }) => all + rows, 0)
  }

  /** Throws ErasedMeanwhile when files are done by what other erasures there were. */
  goOnWith(version: number): void {
    if (this.files === 0) this.#noted = { ...this.#noted, version }
    if (this.#noted.version === version) return
    throw new ErasedMeanwhile('an erasure was asked for since the restore was begun')
  }

  /** Adds a file, with the hashes of its rows that stayed out. */
  add(file: ArchivedFile, hashes: readonly bigint[], files_total: number): void {
    const { files, rows, left_out, ...others } = this.#noted
    const old = left_out[keyOf(file)] ?? noSums
    const checksums = [old.row_checksum, ...hashes.map(String)]
    const now = { rows: old.rows + hashes.length, row_checksum: sumOfChecksums(checksums) }
    this.#noted = {
      ...{ ...others, files: files + 1, files_total, rows: rows + file.rows },
      left_out: hashes.length === 0 ? left_out : { ...left_out, [keyOf(file)]: now },
    }
  }

  /** The sums of a kind and day without the rows that stayed out. */
  without(file: Pick<ArchivedFile, 'kind' | 'day'>, rows: number, row_checksum: string): Sums {
    const gone = this.#noted.left_out[keyOf(file)] ?? noSums
    const left = BigInt(row_checksum) - BigInt(gone.row_checksum)
    return { rows: rows - gone.rows, row_checksum: String(BigInt.asUintN(64, left)) }
  }
}

const noSums: Sums = { rows: 0, row_checksum: '0' }

function keyOf({ kind, day }: Pick<ArchivedFile, 'kind' | 'day'>): string {
  return `${kind} ${day}`
}
