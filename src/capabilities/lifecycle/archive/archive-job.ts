import { type Clock, sleep } from '../../../kernel/time.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import type { Blobs } from '../../../platform/blobs/index.ts'
import { type Job, type JobContext, type JobHandler, JobRefused } from '../../jobs/index.ts'
import { compileRecordFilter } from '../../query/index.ts'
import type { RecordKind } from '../../storage/index.ts'
import { archiveDay, assertSame } from './archive-day.ts'
import type { ArchiveStore } from './archive-store.ts'
import {
  type ArchiveParams,
  type ArchiveResult,
  type ArchiveSettings,
  archiveJob,
  readArchiveParams,
} from './contract.ts'
import { dayText, type NsWindow, windowIn } from './days.ts'
import { asArchiveFailure } from './failures.ts'
import { archivedKinds, kindOf } from './kinds.ts'
import {
  type ArchivedColumn,
  type ArchivedFile,
  archivePrefix,
  type Manifest,
  manifestVersion,
  sumOfChecksums,
} from './manifest.ts'
import { type ArchiveDb, findFiles, lastFile, type RecordedFile } from './store.ts'

/** Dependencies of archive runs. */
export type ArchiveJobDeps = {
  db: ArchiveDb
  store: ArchiveStore
  /** Undefined when no blob store is configured; runs are then refused. */
  blobs: Blobs | undefined
  clock: Clock
  settings: ArchiveSettings
}

/**
 * Creates the handler of archive runs. A run writes the rows of each kind, day by day, into files
 * that are read back before they are recorded, and the manifest last: an archive with a manifest is
 * complete. A run that another worker takes over continues after the last recorded file.
 */
export function archiveHandler(deps: ArchiveJobDeps): JobHandler {
  return {
    kind: archiveJob,
    run: async (job, context) => {
      const { blobs } = deps
      if (blobs === undefined) {
        throw new JobRefused('no blob store is configured: set LOOPTRACE_BLOBS_URL')
      }
      return new ArchiveRun({ ...deps, blobs }, job, context).run()
    },
  }
}

/** Decisions at the start of a run, which it keeps when another worker takes it over. */
type Plan = {
  stored_before_ms: number
  columns: Partial<Record<RecordKind, ArchivedColumn[]>>
}

class ArchiveRun {
  readonly #deps: ArchiveJobDeps & { blobs: Blobs }
  readonly #job: Job
  readonly #context: JobContext
  readonly #params: ArchiveParams
  readonly #window: NsWindow
  readonly #prefix: string

  constructor(deps: ArchiveJobDeps & { blobs: Blobs }, job: Job, context: JobContext) {
    this.#deps = deps
    this.#job = job
    this.#context = context
    this.#params = readArchiveParams(job.params)
    this.#window = windowOf(this.#params)
    this.#prefix = archivePrefix(job.project_id, job.id)
  }

  async run(): Promise<ArchiveResult> {
    const { blobs } = this.#deps
    const { signal } = this.#context
    const plan = await this.#plan()
    await asArchiveFailure(blobs.discardUnfinished(this.#prefix, { signal }))
    await this.#archive(plan)
    return this.#finish(plan)
  }

  /**
   * Makes the plan, and waits so that rows on their way into the store arrive before it is used.
   */
  async #plan(): Promise<Plan> {
    const { store, settings } = this.#deps
    const { signal, progress } = this.#context
    const known = this.#job.progress?.['plan'] as Plan | undefined
    if (known !== undefined) return known
    const stored_before_ms = await store.now_ms()
    await sleep(settings.settle_ms, signal)
    signal.throwIfAborted()
    const columns: Plan['columns'] = {}
    for (const kind of this.#kinds()) columns[kind] = await store.columnsOf(kind)
    const plan = { stored_before_ms, columns }
    await progress({ plan, files: 0, rows: 0, bytes: 0 })
    return plan
  }

  #kinds(): RecordKind[] {
    const { kinds } = this.#params
    const all = archivedKinds.map(({ kind }) => kind)
    return kinds === undefined ? all : all.filter((kind) => kinds.includes(kind))
  }

  async #archive(plan: Plan): Promise<void> {
    const { store, db, blobs, settings } = this.#deps
    const { signal, progress } = this.#context
    const { where } = this.#params
    const last = await lastFile(db, this.#job.id)
    const kinds = this.#kinds()
    const begin = last === undefined ? 0 : kinds.indexOf(last.kind as RecordKind)
    for (const name of kinds.slice(begin)) {
      const kind = kindOf(name)
      const rows = {
        kind,
        columns: plan.columns[name] ?? [],
        project_id: this.#job.project_id,
        stored_before_ms: plan.stored_before_ms,
        filter: where == null ? undefined : compileRecordFilter(name, where),
      }
      const days = await store.daysWithRows({ ...rows, window: this.#window }, signal)
      for (const day of days) {
        if (last?.kind === name && day < last.day) continue
        signal.throwIfAborted()
        await archiveDay({
          db,
          store,
          blobs,
          settings,
          signal,
          day,
          job_id: this.#job.id,
          prefix: this.#prefix,
          rows: { ...rows, window: windowIn(day, this.#window) },
          onFile: (total) => progress({ plan, kind: name, day: dayText(day), ...total }),
        })
      }
    }
  }

  /** Deletes files that were not recorded, then writes the manifest and reads it back. */
  async #finish(plan: Plan): Promise<ArchiveResult> {
    const { db, blobs } = this.#deps
    const { signal } = this.#context
    const files = await findFiles(db, this.#job.id)
    const name = `${this.#prefix}manifest.json`
    const known = new Set([name, ...files.map((file) => file.name)])
    const manifest = this.#manifest(plan, files)
    const bytes = Buffer.from(JSON.stringify(manifest))
    await asArchiveFailure(this.#deleteUnknown(known))
    const { sha256 } = await asArchiveFailure(blobs.put(name, [bytes], { signal }))
    await asArchiveFailure(assertSame(blobs, { name, sha256, bytes: bytes.length }, signal))
    return {
      verified: true,
      manifest: name,
      manifest_sha256: sha256,
      files: files.length,
      rows: manifest.rows,
      bytes: manifest.bytes,
      stored_before: manifest.stored_before,
    }
  }

  async #deleteUnknown(known: ReadonlySet<string>): Promise<void> {
    const { blobs } = this.#deps
    const { signal } = this.#context
    for await (const { name } of blobs.list(this.#prefix, { signal })) {
      if (!known.has(name)) await blobs.delete(name, { signal })
    }
  }

  #manifest(plan: Plan, recorded: readonly RecordedFile[]): Manifest {
    const { from, to, where, reason } = this.#params
    const files = recorded.map(toArchivedFile)
    return {
      format: 'looptrace-archive',
      version: manifestVersion,
      project_id: this.#job.project_id,
      run_id: this.#job.id,
      window: { from, to },
      ...(where !== undefined && { where }),
      reason: reason ?? null,
      stored_before: new Date(plan.stored_before_ms).toISOString(),
      created_at: new Date(this.#deps.clock.now_ms()).toISOString(),
      row_hash: 'cityHash64',
      kinds: this.#kinds().map((kind) => {
        const own = files.filter((file) => file.kind === kind)
        return {
          kind,
          columns: plan.columns[kind] ?? [],
          rows: sumOf(own, 'rows'),
          row_checksum: sumOfChecksums(own.map(({ row_checksum }) => row_checksum)),
        }
      }),
      rows: sumOf(files, 'rows'),
      bytes: sumOf(files, 'bytes'),
      files,
    }
  }
}

function windowOf({ from, to }: ArchiveParams): NsWindow {
  const [begin, end] = [nsFromIso(from), nsFromIso(to)]
  if (begin !== undefined && end !== undefined && begin < end) return { from: begin, to: end }
  throw new JobRefused(`window: got ${from} to ${to}, expected instants since 1970, in order`)
}

function toArchivedFile({ day, row_count: rows, min_time_ns, max_time_ns, ...file }: RecordedFile) {
  const { name, kind, part, bytes, sha256, row_checksum } = file
  return {
    name,
    kind: kind as ArchivedFile['kind'],
    day: dayText(day),
    part,
    rows,
    bytes,
    sha256,
    row_checksum,
    min_time: min_time_ns,
    max_time: max_time_ns,
  }
}

function sumOf(files: readonly ArchivedFile[], field: 'rows' | 'bytes'): number {
  return files.reduce((sum, file) => sum + file[field], 0)
}
