import type { ArchivedFiles } from './archived-files.ts'
import type { ErasedUsers, ReadErasedUsers } from './erased-users.ts'
import type { ArchivedFile } from './manifest.ts'
import { type ParquetOwners, readOwners } from './parquet-file.ts'

/** An erasure was requested during a restore, whose slice may have rows that must stay out. */
export class ErasedMeanwhile extends Error {
  override readonly name = 'ErasedMeanwhile'
}

/** Options of the search for erased rows in an archive. */
export type LeftOutOptions = {
  project_id: string
  readErased: ReadErasedUsers
  archive: ArchivedFiles
  signal: AbortSignal
}

/** The rows of an archive that stay out of a restore: those of erased users and of their traces. */
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
   * Reads all files of the archive that have users, also files that are not restored: rows without a
   * user are found by their trace, which may span several days.
   */
  static async of(options: LeftOutOptions, files: readonly ArchivedFile[]): Promise<LeftOut> {
    const { project_id, readErased, archive, signal } = options
    const erased = await readErased(project_id)
    const traces = new Set<string>()
    for (const file of files) {
      if (erased.version === 0) break
      if (file.kind !== 'observations' && file.kind !== 'traces') continue
      signal.throwIfAborted()
      for (const { user_id, trace_id } of await readOwners(await archive.checked(file))) {
        if (erased.isErased(user_id)) traces.add(trace_id)
      }
    }
    return new LeftOut(options, erased, traces)
  }

  /** The number of erasures that are known. */
  get version(): number {
    return this.#erased.version
  }

  /** Rejects with ErasedMeanwhile when an erasure was asked for since. */
  async assertCurrent(): Promise<void> {
    if (await this.#erased.isCurrent()) return
    const { project_id } = this.#options
    throw new ErasedMeanwhile(`project ${project_id}: an erasure was asked for during a restore`)
  }

  /** The hashes of a file's rows that stay out, ascending. */
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
