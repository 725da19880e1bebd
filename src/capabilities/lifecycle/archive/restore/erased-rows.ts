import { z } from 'zod'
import { type Kysely, type RetentionTables, sql } from '../../../../platform/relational/index.ts'
import type { JobValue } from '../../../jobs/index.ts'
import { userDigest } from '../../retention/index.ts'
import type { ArchivedFiles } from '../archived-files.ts'
import { type ArchivedFile, sumOfChecksums } from '../manifest.ts'
import { type ParquetOwners, readOwners } from '../parquet-file.ts'

/** The erased users of a project, as digests, with their traces. */
type ErasedUsers = {
  /** Number of erasures; each later erasure changes it. */
  version: number
  /** False when another erasure was requested since. */
  isCurrent: () => Promise<boolean>
  isErased: (user_id: string) => boolean
  /** Returns those of the traces that erasures recorded as an erased user's. */
  erasedTraces: (trace_ids: readonly string[]) => Promise<string[]>
}

/** Reads the current erased users of a project. */
export type ReadErasedUsers = (project_id: string) => Promise<ErasedUsers>

/** Most traces of one statement. */
const traces_max = 10_000

/** Most users whose result of `isErased` is cached. */
const known_max = 100_000

/**
 * Reads the erased users of a project. Only their digests are stored, so `isErased` hashes the
 * user's id with the project's key.
 */
export async function readErasedUsers(
  db: Kysely<RetentionTables>,
  project_id: string,
): Promise<ErasedUsers> {
  const found = await db
    .selectFrom('erasure_keys')
    .select('key')
    .where('project_id', '=', project_id)
    .executeTakeFirst()
  const erasures = await db
    .selectFrom('erasures')
    .select('user_id_digest')
    .where('project_id', '=', project_id)
    .execute()
  const digests = new Set(erasures.map(({ user_id_digest }) => user_id_digest.toString('hex')))
  const known = new Map<string, boolean>()
  const isErased = (user_id: string): boolean => {
    if (found === undefined || user_id === '') return false
    const is_erased =
      known.get(user_id) ?? digests.has(userDigest(found.key, user_id).toString('hex'))
    if (known.size < known_max) known.set(user_id, is_erased)
    return is_erased
  }
  return {
    version: erasures.length,
    isCurrent: async () => (await countErasures(db, project_id)) === erasures.length,
    isErased,
    erasedTraces: async (trace_ids) => {
      const erased: string[] = []
      for (let at = 0; at < trace_ids.length && digests.size > 0; at += traces_max) {
        const some = trace_ids.slice(at, at + traces_max)
        erased.push(...(await tracesAmong(db, project_id, some)))
      }
      return erased
    },
  }
}

async function countErasures(db: Kysely<RetentionTables>, project_id: string): Promise<number> {
  const { erasures } = await db
    .selectFrom('erasures')
    .select(({ fn }) => fn.countAll<number>().as('erasures'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  return Number(erasures)
}

async function tracesAmong(
  db: Kysely<RetentionTables>,
  project_id: string,
  trace_ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ trace_id: string }>`
    select distinct trace_id from erased_traces
    where project_id = ${project_id} and trace_id = any(${[...trace_ids]}::uuid[])`.execute(db)
  return rows.map(({ trace_id }) => trace_id)
}

/** Whether an erasure of the project is under way or has ended since an instant. */
export async function isErasedSince(
  db: Kysely<RetentionTables>,
  project_id: string,
  since: Date,
): Promise<boolean> {
  const found = await db
    .selectFrom('erasures')
    .select('id')
    .where('project_id', '=', project_id)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>=', since.toISOString())]))
    .executeTakeFirst()
  return found !== undefined
}

/** An erasure was requested during a restore, so the slice may have rows that must be left out. */
export class ErasedMeanwhile extends Error {
  override readonly name = 'ErasedMeanwhile'
}

/** Options of the search for erased rows in an archive. */
type LeftOutOptions = {
  project_id: string
  readErased: ReadErasedUsers
  archive: ArchivedFiles
  signal: AbortSignal
}

/** The rows of an archive that a restore leaves out: those of erased users and of their traces. */
export class LeftOut {
  readonly #options: Pick<LeftOutOptions, 'project_id'>
  readonly #erased: ErasedUsers
  /** Traces whose rows in the archive name an erased user. */
  readonly #traces: ReadonlySet<string>

  private constructor(
    options: Pick<LeftOutOptions, 'project_id'>,
    erased: ErasedUsers,
    traces: ReadonlySet<string>,
  ) {
    this.#options = options
    this.#erased = erased
    this.#traces = traces
  }

  /**
   * Reads all files of the archive that have users, also files that are not restored: rows without
   * a user are found by their trace, which may span several days.
   */
  static async of(options: LeftOutOptions, files: readonly ArchivedFile[]): Promise<LeftOut> {
    const { project_id, readErased, archive, signal } = options
    const erased = await readErased(project_id)
    const traces = new Set<string>()
    for (const file of files) {
      if (erased.version === 0) break
      if (file.kind !== 'observations' && file.kind !== 'traces') continue
      signal.throwIfAborted()
      for (const { user_id, trace_id } of await readOwners(await archive.readVerified(file))) {
        if (erased.isErased(user_id)) traces.add(trace_id)
      }
    }
    return new LeftOut(options, erased, traces)
  }

  /** Number of the known erasures. */
  get version(): number {
    return this.#erased.version
  }

  /** Rejects with ErasedMeanwhile when an erasure was requested since. */
  async assertCurrent(): Promise<void> {
    if (await this.#erased.isCurrent()) return
    const { project_id } = this.#options
    throw new ErasedMeanwhile(`project ${project_id}: an erasure was requested during a restore`)
  }

  /** Returns the hashes of a file's rows that are left out, ascending. */
  async hashesOf(bytes: Buffer): Promise<bigint[]> {
    if (this.version === 0) return []
    const rows = await readOwners(bytes)
    const traces = await this.#erasedTraces(rows)
    const { isErased } = this.#erased
    return rows
      .filter(({ user_id, trace_id }) =>
        user_id === '' ? traces.has(trace_id) : isErased(user_id),
      )
      .map(({ hash }) => hash)
      .toSorted((left, right) => (left < right ? -1 : 1))
  }

  async #erasedTraces(rows: ParquetOwners): Promise<ReadonlySet<string>> {
    const unnamed = rows.filter(({ user_id }) => user_id === '')
    const ids = [...new Set(unnamed.map(({ trace_id }) => trace_id))]
    return new Set([...this.#traces, ...(await this.#erased.erasedTraces(ids))])
  }
}

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
      ...others,
      files: files + 1,
      files_total,
      rows: rows + file.rows,
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
