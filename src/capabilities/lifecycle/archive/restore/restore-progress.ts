import { z } from 'zod'
import type { JobValue } from '../../../jobs/index.ts'
import { type ArchivedFile, sumOfChecksums } from '../manifest.ts'
import { ErasedMeanwhile } from './erased-rows.ts'

const count = z.int().nonnegative()
const sums = z.object({ rows: count, row_checksum: z.string() })

const storedSchema = z.object({
  files: count,
  files_total: count,
  rows: count,
  /** Rows that were left out, by kind and day. */
  left_out: z.record(z.string(), sums).default({}),
  /** Number of known erasures, as `LeftOut.version`. */
  version: count.default(0),
})
type Stored = z.infer<typeof storedSchema>
type Sums = z.infer<typeof sums>

/** The progress of a run that has not begun. */
export const noProgress: Stored = { files: 0, files_total: 0, rows: 0, left_out: {}, version: 0 }

/** Progress of a restore, with the rows that were left out of its finished files. */
export class RestoreProgress {
  #stored: Stored

  private constructor(stored: Stored) {
    this.#stored = stored
  }

  static from(progress: JobValue | null): RestoreProgress {
    return new RestoreProgress(storedSchema.safeParse(progress).data ?? noProgress)
  }

  /** Number of finished files. */
  get files(): number {
    return this.#stored.files
  }

  get stored(): JobValue {
    return this.#stored
  }

  get erased_rows(): number {
    return Object.values(this.#stored.left_out).reduce((all, { rows }) => all + rows, 0)
  }

  /** Throws ErasedMeanwhile when files were finished with another number of erasures. */
  continueWith(version: number): void {
    if (this.files === 0) this.#stored = { ...this.#stored, version }
    if (this.#stored.version === version) return
    throw new ErasedMeanwhile('an erasure was requested since the restore began')
  }

  /** Adds a finished file, with the hashes of its rows that were left out. */
  add(file: ArchivedFile, hashes: readonly bigint[], files_total: number): void {
    const { files, rows, left_out, ...others } = this.#stored
    const old = left_out[keyOf(file)] ?? noSums
    const checksums = [old.row_checksum, ...hashes.map(String)]
    const now = { rows: old.rows + hashes.length, row_checksum: sumOfChecksums(checksums) }
    this.#stored = {
      ...{ ...others, files: files + 1, files_total, rows: rows + file.rows },
      left_out: hashes.length === 0 ? left_out : { ...left_out, [keyOf(file)]: now },
    }
  }

  /** Returns the sums of a kind and day without the rows that were left out. */
  without(file: Pick<ArchivedFile, 'kind' | 'day'>, rows: number, row_checksum: string): Sums {
    const gone = this.#stored.left_out[keyOf(file)] ?? noSums
    const left = BigInt(row_checksum) - BigInt(gone.row_checksum)
    return { rows: rows - gone.rows, row_checksum: String(BigInt.asUintN(64, left)) }
  }
}

const noSums: Sums = { rows: 0, row_checksum: '0' }

function keyOf({ kind, day }: Pick<ArchivedFile, 'kind' | 'day'>): string {
  return `${kind} ${day}`
}
