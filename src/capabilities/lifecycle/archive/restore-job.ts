import type { Clock } from '../../../kernel/time.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import type { Blobs } from '../../../platform/blobs/index.ts'
import { type Job, type JobContext, type JobHandler, JobRefused } from '../../jobs/index.ts'
import { duringRestore } from '../retention/index.ts'
import { ArchivedFiles } from './archived-files.ts'
import { type RestoreParams, readRestoreParams, restoreJob } from './contract.ts'
import { dayFrom, dayOf, windowIn } from './days.ts'
import { isErasedSince, type ReadErasedUsers } from './erased-users.ts'
import { kindOf } from './kinds.ts'
import { ErasedMeanwhile, LeftOut } from './left-out.ts'
import {
  type ArchivedColumn,
  type ArchivedFile,
  type Manifest,
  sumOfChecksums,
} from './manifest.ts'
import { noProgress, RestoreProgress } from './restore-progress.ts'
import { columnsToRestore } from './restored-columns.ts'
import type { RestoredStore } from './restored-store.ts'
import type { ArchiveSettings } from './settings.ts'
import { settleBoth } from './settle-both.ts'
import { findSlice, hideSlice, openSlice } from './slice-store.ts'
import type { RestoreDb } from './store.ts'

/** What a restore run works with. */
export type RestoreJobDeps = {
  db: RestoreDb
  restored: RestoredStore
  blobs: Blobs | undefined
  /** Tells users of a project whose data was deleted on request, as of now. */
  erasedUsers: ReadErasedUsers
  clock: Clock
  settings: ArchiveSettings
}

/**
 * Does restore runs: each file of an archive is checked as a whole before any row of it goes into
 * the slice, and what lies there in the end is compared with the manifest. Rows of erased users are
 * never written. Queries see the slice once all of it is there. A file that is not what was archived
 * ends the run, and its slice.
 */
export function restoreHandler(deps: RestoreJobDeps): JobHandler {
  return {
    kind: restoreJob,
    run: async (job, context) => {
      const { blobs } = deps
      if (blobs === undefined) {
        throw new JobRefused('no place for archives is set: LOOPTRACE_BLOBS_URL')
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

/** Times that an attempt begins again because of an erasure. */
const starts_max = 3
/** How far the clocks of workers may be apart. */
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
      ...{ blobs, project_id: job.project_id, signal: context.signal },
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

  /** Hides the slice for good, and takes out what of it was restored. */
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
    this.#progress.goOnWith(leftOut.version)
    const files = manifest.files.filter((file) => this.#wants(file))
    await this.#insert(files, columns, leftOut)
    await this.#compare(files, columns)
    const rows = sumOf(files, 'rows')
    const bytes = sumOf(files, 'bytes')
    const { erased_rows } = this.#progress
    const sums = { row_count: rows - erased_rows, bytes, erased_rows }
    const is_open = await this.#beforeErasures(leftOut, () =>
      openSlice(db, { ...this.#slice, ...sums }),
    )
    if (!is_open) throw new JobRefused('the slice was deleted while it was restored')
    return { verified: true, slice_id, files: files.length, rows, bytes, erased_rows }
  }

  /** Does what an erasure must not overtake; rejects with ErasedMeanwhile when one was asked for. */
  #beforeErasures<T>(leftOut: LeftOut, work: () => Promise<T>): Promise<T> {
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

  /** Whole days: what was archived of a day that the window touches. */
  #wants({ kind, day }: ArchivedFile): boolean {
    const { kinds, from, to } = this.#params
    if (kinds && !kinds.includes(kind)) return false
    const [begin, end] = [from, to].map((instant) => (instant ? nsFromIso(instant) : undefined))
    const at = dayFrom(day)
    return (
      (begin === undefined || at >= dayOf(begin)) && (end === undefined || at <= dayOf(end - 1n))
    )
  }

  /** While a file is inserted, the next one is read and checked. */
  async #insert(files: readonly ArchivedFile[], columns: Columns, leftOut: LeftOut): Promise<void> {
    const { signal, progress } = this.#context
    const done = this.#progress.files
    let bytes = await this.#checked(files[done])
    for (const [at, file] of files.entries()) {
      if (at < done || bytes === undefined) continue
      signal.throwIfAborted()
      const insert = { file, bytes, columns: columns.get(file.kind) ?? [] }
      const [next, hashes] = await settleBoth(
        this.#checked(files[at + 1]),
        this.#beforeErasures(leftOut, () => this.#insertFile(insert, leftOut)),
      )
      bytes = next
      this.#progress.add(file, hashes, files.length)
      await progress(this.#progress.noted)
    }
  }

  /** Resolves with the hashes of the rows that stay out. */
  async #insertFile(
    about: { file: ArchivedFile; bytes: Buffer; columns: ArchivedColumn[] },
    leftOut: LeftOut,
  ): Promise<bigint[]> {
    const { file, bytes, columns } = about
    const { signal } = this.#context
    const left_out = await leftOut.hashesOf(bytes)
    if (left_out.length === file.rows) return left_out
    const { kind } = file
    const insert = { ...this.#slice, kind, columns, bytes, left_out, signal }
    await this.#deps.restored.insertFile(insert)
    return left_out
  }

  async #checked(file: ArchivedFile | undefined): Promise<Buffer | undefined> {
    return file && this.#archive.checked(file)
  }

  /** What the store made of the files, day by day, against what the manifest says. */
  async #compare(files: readonly ArchivedFile[], columns: Columns): Promise<void> {
    const { restored } = this.#deps
    const { signal } = this.#context
    const days = Map.groupBy(files, ({ kind, day }) => `${kind} ${day}`)
    for (const [first, ...others] of days.values()) {
      if (first === undefined) continue
      const own = [first, ...others]
      const kind = kindOf(first.kind)
      const asked = {
        ...this.#slice,
        kind,
        columns: columns.get(first.kind) ?? [],
        window: windowIn(dayFrom(first.day), everything),
        signal,
      }
      const checksum = sumOfChecksums(own.map((file) => file.row_checksum))
      const wanted = this.#progress.without(first, sumOf(own, 'rows'), checksum)
      const quick = await restored.sums({ ...asked, each_once: false })
      // A file that an earlier attempt had begun with lies there twice.
      const found =
        quick.rows === wanted.rows ? quick : await restored.sums({ ...asked, each_once: true })
      if (found.rows === wanted.rows && found.row_checksum === wanted.row_checksum) continue
      await this.#assertNoErasure()
      throw new JobRefused(
        `${first.name}: ${first.kind} of ${first.day} are ${found.rows} rows with checksum ${found.row_checksum} in the store, expected ${wanted.rows} with ${wanted.row_checksum}`,
      )
    }
  }

  /** An erasure takes rows out of slices that are being restored, too. */
  async #assertNoErasure(): Promise<void> {
    const { started_at, created_at, project_id } = this.#job
    const since = new Date(Date.parse(started_at ?? created_at) - skew_ms)
    if (!(await isErasedSince(this.#deps.db, project_id, since))) return
    throw new ErasedMeanwhile(`project ${project_id}: an erasure took rows out of a slice`)
  }
}

const everything = { from: -(2n ** 62n), to: 2n ** 62n }

function sumOf(files: readonly ArchivedFile[], what: 'rows' | 'bytes'): number {
  return files.reduce((sum, file) => sum + file[what], 0)
}
