import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Clock } from '../../../kernel/time.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import { BlobMissing, type Blobs } from '../../../platform/blobs/index.ts'
import { type Job, type JobContext, type JobHandler, JobRefused } from '../jobs/index.ts'
import { type RestoreParams, readRestoreParams, restoreJob } from './contract.ts'
import { dayFrom, dayOf, windowIn } from './days.ts'
import { asArchiveFailure } from './failures.ts'
import { kindOf } from './kinds.ts'
import {
  type ArchivedColumn,
  type ArchivedFile,
  type Manifest,
  ManifestRefused,
  readManifest,
  sumOfChecksums,
} from './manifest.ts'
import { ParquetBroken, readParquet } from './parquet-file.ts'
import { columnsToRestore } from './restored-columns.ts'
import type { RestoredStore } from './restored-store.ts'
import type { ArchiveSettings } from './settings.ts'
import { settleBoth } from './settle-both.ts'
import { findSlice, hideSlice, openSlice } from './slice-store.ts'
import type { ArchiveDb } from './store.ts'

/** What a restore run works with. */
export type RestoreJobDeps = {
  db: ArchiveDb
  restored: RestoredStore
  blobs: Blobs | undefined
  /** Tells users of a project whose data was deleted on request, as of now. */
  erasedUsers: (project_id: string) => Promise<(user_id: string) => boolean>
  clock: Clock
  settings: ArchiveSettings
}

/**
 * Does restore runs: each file of an archive is checked as a whole before any row of it goes into
 * the slice, and what lies there in the end is compared with the manifest. Queries see the slice
 * once all of it is there. A file that is not what was archived ends the run, and its slice.
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

class RestoreRun {
  readonly #deps: RestoreJobDeps & { blobs: Blobs }
  readonly #job: Job
  readonly #context: JobContext
  readonly #params: RestoreParams
  readonly #slice: { slice_id: string; project_id: string }

  constructor(deps: RestoreJobDeps & { blobs: Blobs }, job: Job, context: JobContext) {
    this.#deps = deps
    this.#job = job
    this.#context = context
    this.#params = readRestoreParams(job.params)
    this.#slice = { slice_id: this.#params.slice_id, project_id: job.project_id }
  }

  async run() {
    const { db } = this.#deps
    const slice = await findSlice(db, this.#slice)
    if (slice === undefined || slice.state === 'ending' || slice.state === 'ended') {
      throw new JobRefused('the slice was deleted before it was restored')
    }
    const manifest = await this.#manifest()
    const columns = await this.#columns(manifest)
    const files = manifest.files.filter((file) => this.#wants(file))
    await this.#insert(files, columns)
    await this.#compare(files, columns)
    const erased_rows = await this.#erase()
    const rows = sumOf(files, 'rows')
    const bytes = sumOf(files, 'bytes')
    if (
      !(await openSlice(db, { ...this.#slice, row_count: rows - erased_rows, bytes, erased_rows }))
    ) {
      throw new JobRefused('the slice was deleted while it was restored')
    }
    const { slice_id } = this.#slice
    return { verified: true, slice_id, files: files.length, rows, bytes, erased_rows }
  }

  /** Hides the slice for good, and takes out what of it was restored. */
  async giveUp(): Promise<void> {
    const { db, restored } = this.#deps
    await hideSlice(db, this.#slice)
    await restored.dropSlice(this.#slice.slice_id)
  }

  async #manifest(): Promise<Manifest> {
    const { manifest: name, manifest_sha256: sha256 } = this.#params
    const bytes = await this.#read({ name, sha256, bytes: undefined })
    try {
      const manifest = readManifest(bytes)
      if (manifest.project_id === this.#job.project_id) return manifest
      throw new ManifestRefused('the manifest is of another project')
    } catch (error) {
      throw refusedBy(error, name)
    }
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
  async #insert(files: readonly ArchivedFile[], columns: Columns): Promise<void> {
    const { restored } = this.#deps
    const { signal, progress } = this.#context
    const done = Number(this.#job.progress?.['files'] ?? 0)
    let rows = sumOf(files.slice(0, done), 'rows')
    let bytes = await this.#checked(files[done])
    for (const [at, file] of files.entries()) {
      if (at < done || bytes === undefined) continue
      signal.throwIfAborted()
      const { kind } = file
      const insert = { ...this.#slice, kind, columns: columns.get(kind) ?? [], bytes, signal }
      const [next] = await settleBoth(this.#checked(files[at + 1]), restored.insertFile(insert))
      rows += file.rows
      bytes = next
      await progress({ files: at + 1, files_total: files.length, rows })
    }
  }

  /** The bytes of a file that is what was archived. Rejects with JobRefused when it is not. */
  async #checked(file: ArchivedFile | undefined): Promise<Buffer | undefined> {
    if (file === undefined) return undefined
    const bytes = await this.#read(file)
    try {
      const facts = await readParquet(bytes, kindOf(file.kind))
      if (facts.rows === file.rows && facts.row_checksum === file.row_checksum) return bytes
    } catch (error) {
      throw refusedBy(error, file.name)
    }
    throw new JobRefused(`${file.name}: its rows are not those of the manifest`)
  }

  async #read(about: { name: string; sha256: string; bytes: number | undefined }): Promise<Buffer> {
    const { blobs, settings } = this.#deps
    const { name, sha256, bytes } = about
    if (bytes !== undefined && bytes > settings.restored_file_bytes_max) {
      throw new JobRefused(
        `${name}: has ${bytes} bytes, expected ${settings.restored_file_bytes_max} at most`,
      )
    }
    const { signal } = this.#context
    const content = await asArchiveFailure(blobs.get(name, { signal }).then(buffer)).catch(
      (error) => {
        throw error instanceof BlobMissing
          ? new JobRefused(`${name}: it is not there any more`)
          : error
      },
    )
    if (bytes !== undefined && content.length !== bytes) {
      throw new JobRefused(`${name}: has ${content.length} bytes, expected ${bytes}`)
    }
    if (createHash('sha256').update(content).digest('hex') === sha256) return content
    throw new JobRefused(`${name}: its SHA-256 is not that of what was archived`)
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
      const rows = sumOf(own, 'rows')
      const quick = await restored.sums({ ...asked, each_once: false })
      // A file that an earlier attempt had begun with lies there twice.
      const found = quick.rows === rows ? quick : await restored.sums({ ...asked, each_once: true })
      const row_checksum = sumOfChecksums(own.map((file) => file.row_checksum))
      if (found.rows === rows && found.row_checksum === row_checksum) continue
      throw new JobRefused(
        `${first.name}: ${first.kind} of ${first.day} are ${found.rows} rows with checksum ${found.row_checksum} in the store, expected ${rows} with ${row_checksum}`,
      )
    }
  }

  async #erase(): Promise<number> {
    const { restored, erasedUsers } = this.#deps
    const isErased = await erasedUsers(this.#job.project_id)
    let erased = 0
    let after = ''
    for (;;) {
      this.#context.signal.throwIfAborted()
      const users = await restored.users(this.#slice, { after, limit: users_max })
      const gone = users.filter(isErased)
      if (gone.length > 0) erased += await restored.eraseUsers(this.#slice, gone)
      after = users.at(-1) ?? ''
      if (users.length < users_max) return erased
    }
  }
}

/** Users of one page. */
const users_max = 10_000

const everything = { from: -(2n ** 62n), to: 2n ** 62n }

function refusedBy(error: unknown, name: string): unknown {
  if (error instanceof ManifestRefused || error instanceof ParquetBroken) {
    return new JobRefused(`${name}: ${error.message}`)
  }
  return error
}

function sumOf(files: readonly ArchivedFile[], what: 'rows' | 'bytes'): number {
  return files.reduce((sum, file) => sum + file[what], 0)
}
