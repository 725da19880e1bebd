import { closeSync, fdatasync, openSync, rmSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { newId } from '../../../kernel/ids.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import { runInInstallation } from '../../../platform/tenancy/index.ts'
import { type JournalFolder, type JournalSegment, openJournalFolder } from './journal-folder.ts'
import type { UnsealedRead } from './unsealed-reads.ts'
import { toLine, uploadSegment } from './upload-segment.ts'

type Options = {
  db: Kysely<AuditTables>
  /** The folder of the journals of all processes on this disk. */
  folder: string
  logger: Logger
  metrics: Metrics
  /** Maximum reads that wait for PostgreSQL. Default 50,000. */
  reads_max?: number
}

/** The segment to which reads are written. */
type OpenSegment = JournalSegment & { fd: number; isDirty: boolean; synced: Promise<void> }

const reads_max = 50_000
const bytes_max = 64 * 1_048_576

/** Reads after which a new segment begins. */
const maxSegmentReads = 500

/** Written reads are synced to the disk after this time at most. */
const tick_ms = 100

/** Ticks between uploads, and at most after failed ones. */
const uploadTicks = 5
const maxUploadTicks = 50

/** Ticks between looks for the segments of killed processes. */
const lookTicks = 600

const retryAfterSeconds = 5
const sync = promisify(fdatasync)

/** Registers the gauge of reads in journals. */
export function journalGauge(metrics: Metrics) {
  return metrics.gauge({
    name: 'looptrace_audit_reads_waiting',
    help: 'Answered reads of content that wait on disk for PostgreSQL.',
  })
}

/** Opens a journal, and begins to store the reads that killed processes left. */
export async function openReadJournal(options: Options): Promise<ReadJournal> {
  return new ReadJournal(options, await openJournalFolder(options.folder))
}

/**
 * Reads of content in files of this process, until PostgreSQL has them. A kill of the process loses
 * no written read. A crash of the machine loses at most those of the last 100 ms or so that
 * PostgreSQL does not have yet.
 */
export class ReadJournal {
  readonly #options: Options
  readonly #folder: JournalFolder
  readonly #gauge: ReturnType<typeof journalGauge>
  readonly #timer: NodeJS.Timeout
  #open: OpenSegment | undefined
  /** Finished segments, the oldest first. */
  #finished: JournalSegment[] = []
  #reads = 0
  #bytes = 0
  #uploading: Promise<void> | undefined
  #ticks = 0
  #uploadAt = 0
  #failures = 0
  #isRefusing = false

  constructor(options: Options, folder: JournalFolder) {
    this.#options = options
    this.#folder = folder
    this.#gauge = journalGauge(options.metrics)
    this.#takeLeft()
    this.#timer = setInterval(() => this.#tick(), tick_ms)
    this.#timer.unref()
  }

  /**
   * Writes a read to the disk. Throws `store_unavailable` if too many reads wait, and if the disk
   * does not take it.
   */
  append(chain_id: string, read: UnsealedRead): void {
    const line = Buffer.from(toLine(chain_id, read))
    const { reads_max: most = reads_max } = this.#options
    if (this.#reads >= most || this.#bytes + line.length > bytes_max) {
      throw this.#refusal(`${this.#reads} reads wait for PostgreSQL`)
    }
    try {
      this.#open ??= this.#begin()
      const written = writeSync(this.#open.fd, line)
      if (written < line.length) throw new Error('the disk is full')
    } catch (error) {
      this.#abandon()
      throw this.#refusal('the disk does not take them', error)
    }
    this.#count(1, line.length)
    this.#open.reads++
    this.#open.bytes += line.length
    this.#open.isDirty = true
    this.#isRefusing = false
    if (this.#open.reads >= maxSegmentReads) this.#finish()
  }

  /** Stores all reads in PostgreSQL. Rejects with its failure; the reads stay on disk. */
  async flush(): Promise<void> {
    await this.#uploading?.catch(() => undefined)
    await this.#upload()
  }

  /** Stores the reads if PostgreSQL is available; otherwise the next process does. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch((error: unknown) => this.#warn(error))
    this.#finish()
    this.#folder.close()
  }

  #tick(): void {
    this.#ticks++
    if (this.#open !== undefined) this.#sync(this.#open)
    if (this.#ticks % lookTicks === 0) this.#takeLeft()
    const isEmpty = this.#open === undefined && this.#finished.length === 0
    if (isEmpty || this.#ticks < this.#uploadAt || this.#uploading !== undefined) return
    this.#upload().then(
      () => {
        this.#failures = 0
        this.#uploadAt = this.#ticks + uploadTicks
      },
      (error: unknown) => {
        if (this.#failures === 0) this.#warn(error)
        this.#uploadAt = this.#ticks + Math.min(uploadTicks * 2 ** this.#failures, maxUploadTicks)
        this.#failures++
      },
    )
  }

  #upload(): Promise<void> {
    this.#uploading ??= this.#uploadFinished().finally(() => {
      this.#uploading = undefined
    })
    return this.#uploading
  }

  async #uploadFinished(): Promise<void> {
    this.#finish()
    for (let segment = this.#finished[0]; segment !== undefined; segment = this.#finished[0]) {
      const text = await this.#textOf(segment)
      const { id } = segment
      const { damaged } = await runInInstallation('reads of all organizations', () =>
        uploadSegment(this.#options.db, { id, text }),
      )
      if (damaged > 0) {
        this.#options.logger.error({ damaged }, 'damaged reads of content were not recorded')
      }
      await rm(segment.path, { force: true })
      this.#finished.shift()
      this.#count(-segment.reads, -segment.bytes)
    }
  }

  /** Returns the lines of a segment; none, with a line in the log, if its file is gone. */
  async #textOf({ path }: JournalSegment): Promise<string> {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#options.logger.error({ err: error }, 'a file with reads of content was removed')
      return ''
    }
  }

  #begin(): OpenSegment {
    const id = newId()
    const path = this.#folder.pathOf(id)
    const fd = openSync(path, 'ax', 0o600)
    return { id, path, fd, reads: 0, bytes: 0, isDirty: false, synced: Promise.resolve() }
  }

  /** Ends the segment, so that the next read begins another one. */
  #finish(): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    this.#finished.push(open)
    this.#sync(open)
    void open.synced.then(() => closeSync(open.fd))
  }

  /** Ends the segment after a failed write: only the last line of a segment can be torn. */
  #abandon(): void {
    const open = this.#open
    if (open === undefined) return
    if (open.reads > 0) {
      this.#finish()
      return
    }
    this.#open = undefined
    closeSync(open.fd)
    rmSync(open.path, { force: true })
  }

  #sync(open: OpenSegment): void {
    if (!open.isDirty) return
    open.isDirty = false
    open.synced = open.synced
      .then(() => sync(open.fd))
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'reads of content could not be synced to disk')
      })
  }

  #takeLeft(): void {
    try {
      const left = this.#folder.takeLeft()
      this.#finished.push(...left)
      for (const { reads, bytes } of left) this.#count(reads, bytes)
    } catch (error) {
      this.#options.logger.error({ err: error }, 'reads of a killed process wait on disk')
    }
  }

  #count(reads: number, bytes: number): void {
    this.#reads += reads
    this.#bytes += bytes
    this.#gauge.set(this.#reads)
  }

  #refusal(reason: string, cause?: unknown): Problem {
    if (!this.#isRefusing) {
      this.#isRefusing = true
      this.#options.logger.error(
        { err: cause, reason },
        'reads of content are refused, because they cannot be recorded',
      )
    }
    const detail = `Reads of content cannot be recorded: ${reason}. Try again shortly.`
    return problem('store_unavailable', { detail, retry_after_s: retryAfterSeconds, cause })
  }

  #warn(error: unknown): void {
    this.#options.logger.warn({ err: error }, 'reads of content wait on disk for PostgreSQL')
  }
}
