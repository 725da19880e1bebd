import type { Clock } from '../../../../kernel/time.ts'
import { nsFromIso } from '../../../../model/list-query.ts'
import type { Blobs } from '../../../../platform/blobs/index.ts'
import { type Job, type JobContext, type JobHandler, JobRefused } from '../../../jobs/index.ts'
import { duringRestore } from '../../retention/index.ts'
import { ArchivedFiles } from '../archived-files.ts'
import {
  type ArchiveSettings,
  type RestoreParams,
  readRestoreParams,
  restoreJob,
} from '../contract.ts'
import { dayFrom, dayOf, windowIn } from '../days.ts'
import { settleBoth } from '../failures.ts'
import { kindOf } from '../kinds.ts'
import {
  type ArchivedColumn,
  type ArchivedFile,
  type Manifest,
  sumOfChecksums,
} from '../manifest.ts'
import type { RestoreDb } from '../store.ts'
import {
  ErasedMeanwhile,
  isErasedSince,
  LeftOut,
  noProgress,
  type ReadErasedUsers,
  RestoreProgress,
} from './erased-rows.ts'
import { columnsToRestore, type RestoredStore } from './restored-store.ts'
import { findSlice, hideSlice, openSlice } from './store.ts'

/** Dependencies of restore runs. */
export type RestoreJobDeps = {
  db: RestoreDb
  restored: RestoredStore
  blobs: Blobs | undefined
  /** Reads the users of a project whose data was deleted on request. */
  erasedUsers: ReadErasedUsers
  clock: Clock
  settings: ArchiveSettings
}

/**
 * Creates the handler of restore runs. A run verifies each file of an archive before it inserts
 * rows of it into the slice, and compares the slice with the manifest at the end. Rows of erased
 * users are never written. Queries see the slice once it is complete. A file that differs from the
 * archived one fails the run and ends its slice.
 */
export function restoreHandler(deps: RestoreJobDeps): JobHandler {
  return {
    kind: restoreJob,
    run: async (job, context) => {
      const { blobs } = deps
      if (blobs === undefined) {
        throw new JobRefused('no blob store is configured: set LOOPTRACE_BLOBS_URL')
      }
      const run = new RestoreRun({ ...deps, blobs }, job, context)
      try {
        return await run.run()
      } catch (error) {
        if (error instanceof JobRefused) await run.giveUp()
        throw error
      }
    },
  }
}

type Columns = Map<string, ArchivedColumn[]>

/** Starts of one attempt, which starts again after an erasure. */
const starts_max = 3
/** Largest tolerated difference between the clocks of workers. */
const skew_ms = 60_000

class RestoreRun {
  readonly #deps: RestoreJobDeps & { blobs: Blobs }
  readonly #job: Job
  readonly #context: JobContext
  readonly #params: RestoreParams
  readonly #slice: { slice_id: string; project_id: string }
  readonly #archive: ArchivedFiles
  #progress: RestoreProgress

  constructor(deps: RestoreJobDeps & { blobs: Blobs }, job: Job, context: JobContext) {
    this.#deps = deps
    this.#job = job
    this.#context = context
    this.#params = readRestoreParams(job.params)
    this.#slice = { slice_id: this.#params.slice_id, project_id: job.project_id }
    this.#progress = RestoreProgress.from(job.progress)
    const { blobs, settings } = deps
    this.#archive = new ArchivedFiles({
      blobs,
      project_id: job.project_id,
      signal: context.signal,
      file_bytes_max: settings.restored_file_bytes_max,
    })
  }

  async run() {
    const { db } = this.#deps
    const slice = await findSlice(db, this.#slice)
    if (slice === undefined || slice.state === 'ending' || slice.state === 'ended') {
      throw new JobRefused('the slice was deleted before it was restored')
    }
    const { manifest: name, manifest_sha256: sha256 } = this.#params
    const manifest = await this.#archive.manifest({ name, sha256 })
    const columns = await this.#columns(manifest)
    for (let start = 1; ; start += 1) {
      try {
        return await this.#restore(manifest, columns)
      } catch (error) {
        if (!(error instanceof ErasedMeanwhile)) throw error
        await this.#startOver()
        if (start === starts_max) throw error
      }
    }
  }

  /** Hides the slice for good and drops its rows. */
  async giveUp(): Promise<void> {
    const { db, restored } = this.#deps
    await hideSlice(db, this.#slice)
    await restored.dropSlice(this.#slice.slice_id)
  }

  async #startOver(): Promise<void> {
    await this.#deps.restored.dropSlice(this.#slice.slice_id)
    this.#progress = RestoreProgress.from(null)
    await this.#context.progress({ ...noProgress })
  }

  async #restore(manifest: Manifest, columns: Columns) {
    const { db, erasedUsers: readErased } = this.#deps
    const { project_id, slice_id } = this.#slice
    const { signal } = this.#context
    const about = { project_id, readErased, archive: this.#archive, signal }
    const leftOut = await LeftOut.of(about, manifest.files)
    this.#progress.continueWith(leftOut.version)
    const files = manifest.files.filter((file) => this.#isRequested(file))
    await this.#insert(files, columns, leftOut)
    await this.#compare(files, columns)
    const rows = sumOf(files, 'rows')
    const bytes = sumOf(files, 'bytes')
    const { erased_rows } = this.#progress
    const sums = { row_count: rows - erased_rows, bytes, erased_rows }
    const is_open = await this.#withoutErasure(leftOut, () =>
      openSlice(db, { ...this.#slice, ...sums }),
    )
    if (!is_open) throw new JobRefused('the slice was deleted while it was restored')
    return { verified: true, slice_id, files: files.length, rows, bytes, erased_rows }
  }

  /** Runs a step that excludes erasures; rejects with ErasedMeanwhile when one was requested. */
  #withoutErasure<T>(leftOut: LeftOut, work: () => Promise<T>): Promise<T> {
    const checked = async () => {
      await leftOut.assertCurrent()
      return work()
    }
    return duringRestore(this.#deps.db, this.#slice.project_id, checked, this.#context.signal)
  }

  async #columns({ kinds }: Manifest): Promise<Columns> {
    const { restored } = this.#deps
    const columns: Columns = new Map()
    for (const { kind, columns: archived } of kinds) {
      const known = await restored.columnsOf(kind)
      columns.set(kind, columnsToRestore(kindOf(kind), archived, known))
    }
    return columns
  }

  /** Whether a file is requested: days that the window touches are restored as a whole. */
  #isRequested({ kind, day }: ArchivedFile): boolean {
    const { kinds, from, to } = this.#params
    if (kinds && !kinds.includes(kind)) return false
    const [begin, end] = [from, to].map((instant) => (instant ? nsFromIso(instant) : undefined))
    const at = dayFrom(day)
    return (
      (begin === undefined || at >= dayOf(begin)) && (end === undefined || at <= dayOf(end - 1n))
    )
  }

  /** Inserts files. While a file is inserted, the next one is read and verified. */
  async #insert(files: readonly ArchivedFile[], columns: Columns, leftOut: LeftOut): Promise<void> {
    const { signal, progress } = this.#context
    const done = this.#progress.files
    let bytes = await this.#read(files[done])
    for (const [at, file] of files.entries()) {
      if (at < done || bytes === undefined) continue
      signal.throwIfAborted()
      const insert = { file, bytes, columns: columns.get(file.kind) ?? [] }
      const [next, hashes] = await settleBoth(
        this.#read(files[at + 1]),
        this.#withoutErasure(leftOut, () => this.#insertFile(insert, leftOut)),
      )
      bytes = next
      this.#progress.add(file, hashes, files.length)
      await progress(this.#progress.stored)
    }
  }

  /** Inserts a file; returns the hashes of the rows that are left out. */
  async #insertFile(
    { file, bytes, columns }: { file: ArchivedFile; bytes: Buffer; columns: ArchivedColumn[] },
    leftOut: LeftOut,
  ): Promise<bigint[]> {
    const { signal } = this.#context
    const left_out = await leftOut.hashesOf(bytes)
    if (left_out.length === file.rows) return left_out
    const { kind } = file
    const insert = { ...this.#slice, kind, columns, bytes, left_out, signal }
    await this.#deps.restored.insertFile(insert)
    return left_out
  }

  async #read(file: ArchivedFile | undefined): Promise<Buffer | undefined> {
    return file && this.#archive.readVerified(file)
  }

  /** Compares the rows in the store with the manifest, day by day. */
  async #compare(files: readonly ArchivedFile[], columns: Columns): Promise<void> {
    const { restored } = this.#deps
    const { signal } = this.#context
    const days = Map.groupBy(files, ({ kind, day }) => `${kind} ${day}`)
    for (const [first, ...others] of days.values()) {
      if (first === undefined) continue
      const own = [first, ...others]
      const kind = kindOf(first.kind)
      const query = {
        ...this.#slice,
        kind,
        columns: columns.get(first.kind) ?? [],
        window: windowIn(dayFrom(first.day), everything),
        signal,
      }
      const checksum = sumOfChecksums(own.map((file) => file.row_checksum))
      const expected = this.#progress.without(first, sumOf(own, 'rows'), checksum)
      const quick = await restored.sums({ ...query, each_once: false })
      // A file that an earlier attempt had started to insert may be there twice.
      const actual =
        quick.rows === expected.rows ? quick : await restored.sums({ ...query, each_once: true })
      if (actual.rows === expected.rows && actual.row_checksum === expected.row_checksum) continue
      await this.#assertNoErasure()
      throw new JobRefused(
        `${first.name}: ${first.kind} of ${first.day} are ${actual.rows} rows with checksum ${actual.row_checksum} in the store, expected ${expected.rows} with ${expected.row_checksum}`,
      )
    }
  }

  /** Rejects when an erasure may explain missing rows: it also deletes from slices under way. */
  async #assertNoErasure(): Promise<void> {
    const { started_at, created_at, project_id } = this.#job
    const since = new Date(Date.parse(started_at ?? created_at) - skew_ms)
    if (!(await isErasedSince(this.#deps.db, project_id, since))) return
    throw new ErasedMeanwhile(`project ${project_id}: an erasure deleted rows of a slice`)
  }
}

const everything = { from: -(2n ** 62n), to: 2n ** 62n }

function sumOf(files: readonly ArchivedFile[], field: 'rows' | 'bytes'): number {
  return files.reduce((sum, file) => sum + file[field], 0)
}
