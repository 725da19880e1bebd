import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFolder, makeFolder } from '../folders/index.ts'
import type { Journal, JournalEntry, JournalOutcome, JournalStats } from './contract.ts'
import type { OutgoingRecord } from './records.ts'
import { type LeftMessage, recoverMessages } from './recovery.ts'
import { Segment } from './segment.ts'

/** A failed write, or one that took too long (without `cause`). */
type JournalFault = { write_ms: number; cause?: unknown }

export type JournalOptions = {
  /** Created if missing, and locked until `close`. */
  folder: string
  /** Maximum bytes on the disk. Above it, parts are not written. */
  bytes_max: number
  /** Bytes after which the next file is begun. */
  segment_bytes?: number
  /** Called for each failed or slow write. */
  onFault(fault: JournalFault): void
  now_ms?: () => number
}

const suffix = '.segment'
const segmentBytesDefault = 4 * 1_048_576
/** Age at which the next file is begun, so that bytes of settled messages do not stay. */
const segmentAgeMs = 1_000
/** Time after which an unused file is deleted. */
const unusedMs = 5_000
/** Unused files that are kept for the next use. */
const maxUnused = 4
/** Duration of a write from which the disk counts as too slow to wait for. */
const slowWriteMs = 250
/** Time without writes after a fault. */
const restMs = 10_000

/**
 * Opens the journal of a folder. Throws FolderInUse when another process has it, FolderUnusable when
 * the folder can't be written.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  await makeFolder(options.folder, { mode: 0o700 })
  const unlock = lockFolder(options.folder)
  try {
    const names = (await readdir(options.folder)).filter((name) => name.endsWith(suffix))
    const paths = names.map((name) => join(options.folder, name))
    const files = await Promise.all(paths.map((path) => readFile(path)))
    return new FileJournal(options, { unlock, paths, files })
  } catch (error) {
    unlock()
    throw error
  }
}

type OwnEntry = JournalEntry & {
  /** Segments with parts of the message. */
  segments: Segment[]
  /** Set when a part was not written, or the message is settled: later parts are not needed. */
  isBroken: boolean
}

type Adding = { entry: OwnEntry; pieces: readonly Uint8Array[] }

type Found = { unlock: () => void; paths: string[]; files: Buffer[] }

class FileJournal implements Journal {
  readonly isKept = true
  left: readonly LeftMessage[]
  readonly torn: number
  readonly #options: JournalOptions
  readonly #unlock: () => void
  readonly #now_ms: () => number
  #leftPaths: string[]
  #leftBytes: number
  #lastFile: number
  #lastOrdinal: number
  #active: Segment | undefined
  /** Full segments with messages that are not settled. */
  readonly #full = new Set<Segment>()
  #unused: Segment[] = []
  #adding: Adding[] = []
  #settled: string[] = []
  #restsUntilMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(options: JournalOptions, { unlock, paths, files }: Found) {
    this.#options = options
    this.#unlock = unlock
    this.#now_ms = options.now_ms ?? (() => performance.now())
    const { messages, torn, last_ordinal } = recoverMessages(files)
    this.left = messages
    this.torn = torn
    this.#leftPaths = paths
    this.#leftBytes = files.reduce((sum, { length }) => sum + length, 0)
    this.#lastOrdinal = last_ordinal
    this.#lastFile = Math.max(0, ...paths.map(numberOf))
  }

  begin(id: string, subject: string): OwnEntry {
    return { id, subject, segments: [], isBroken: false }
  }

  add(entry: OwnEntry, pieces: readonly Uint8Array[]): void {
    if (!entry.isBroken) this.#adding.push({ entry, pieces })
  }

  write(): JournalOutcome {
    // Parts of messages that were settled meanwhile are not needed, and their bytes may have changed.
    const adding = this.#adding.filter(({ entry }) => !entry.isBroken)
    this.#adding = []
    if (adding.length === 0) return 'written'
    const start_ms = this.#now_ms()
    const outcome = start_ms < this.#restsUntilMs ? 'resting' : this.#append(adding, start_ms)
    if (outcome !== 'written') for (const { entry } of adding) entry.isBroken = true
    this.#timer ??= setInterval(() => this.#tidy(), segmentAgeMs).unref()
    return outcome
  }

  settle(entry: OwnEntry): void {
    const { segments } = entry
    entry.segments = []
    entry.isBroken = true
    let isNoted = true
    for (const segment of segments) {
      segment.live -= 1
      if (segment.live > 0) isNoted = false
      else if (this.#full.delete(segment)) this.#keepUnused(segment)
      else isNoted = false
    }
    if (!isNoted) this.#settled.push(entry.id)
  }

  stats(): JournalStats {
    return { bytes: this.#bytes(), isWriting: this.#now_ms() >= this.#restsUntilMs }
  }

  async forgetLeft(): Promise<void> {
    const paths = this.#leftPaths
    this.left = []
    this.#leftPaths = []
    this.#leftBytes = 0
    for (const path of paths) await unlink(path)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#retire()
    for (const segment of this.#unused.splice(0)) segment.remove()
    this.#unlock()
  }

  #append(adding: readonly Adding[], start_ms: number): JournalOutcome {
    let bytes = 0
    for (const { pieces } of adding) for (const piece of pieces) bytes += piece.length
    if (this.#bytes() + bytes > this.#options.bytes_max) return 'full'
    try {
      const segment = this.#segment(start_ms)
      const records: OutgoingRecord[] = []
      for (const id of this.#settled) records.push({ kind: 'settled', id, subject: '', data: [] })
      for (const { entry, pieces } of adding) {
        records.push({ kind: 'part', id: entry.id, subject: entry.subject, data: pieces })
      }
      segment.append(records)
      this.#settled = []
      for (const { entry } of adding) hold(segment, entry)
    } catch (cause) {
      // Earlier records stay whole; nothing more may follow a torn one.
      this.#retire()
      this.#rest({ write_ms: this.#now_ms() - start_ms, cause })
      return 'failed'
    }
    const write_ms = this.#now_ms() - start_ms
    if (write_ms > slowWriteMs) this.#rest({ write_ms })
    return 'written'
  }

  #rest(fault: JournalFault): void {
    this.#restsUntilMs = this.#now_ms() + restMs
    this.#options.onFault(fault)
  }

  /** Returns the segment for the next write. */
  #segment(now_ms: number): Segment {
    const { segment_bytes = segmentBytesDefault, folder } = this.#options
    if (this.#active !== undefined && this.#active.used_bytes < segment_bytes) return this.#active
    this.#retire()
    let segment = this.#unused.pop()
    if (segment === undefined) {
      this.#lastFile += 1
      segment = new Segment(join(folder, `${this.#lastFile}${suffix}`))
    }
    // Before the first write, so that a failure of it does not leak the file.
    this.#active = segment
    this.#lastOrdinal += 1
    segment.begin(this.#lastOrdinal, now_ms)
    return segment
  }

  /** Ends the use of the active segment. */
  #retire(): void {
    const segment = this.#active
    this.#active = undefined
    if (segment === undefined) return
    if (segment.live > 0) this.#full.add(segment)
    else this.#keepUnused(segment)
  }

  #keepUnused(segment: Segment): void {
    segment.end(this.#now_ms())
    if (this.#unused.length < maxUnused) this.#unused.push(segment)
    else segment.remove()
  }

  /** Begins the next file after a second, and deletes files that were not used for a while. */
  #tidy(): void {
    const now_ms = this.#now_ms()
    try {
      if (this.#active !== undefined && now_ms - this.#active.since_ms >= segmentAgeMs) {
        this.#active.cut()
        this.#retire()
      }
      const [old, recent] = [[] as Segment[], [] as Segment[]]
      for (const segment of this.#unused) {
        if (now_ms - segment.since_ms >= unusedMs) old.push(segment)
        else recent.push(segment)
      }
      this.#unused = recent
      for (const segment of old) segment.remove()
    } catch (cause) {
      this.#rest({ write_ms: this.#now_ms() - now_ms, cause })
    }
    if (this.#active === undefined && this.#full.size === 0) this.#settled = []
    if (this.#active !== undefined || this.#full.size + this.#unused.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #bytes(): number {
    let bytes = this.#leftBytes + (this.#active?.file_bytes ?? 0)
    for (const segment of this.#full) bytes += segment.file_bytes
    return bytes
  }
}

function hold(segment: Segment, entry: OwnEntry): void {
  if (entry.segments.at(-1) === segment) return
  entry.segments.push(segment)
  segment.live += 1
}

function numberOf(path: string): number {
  const digits = /(\d+)\.segment$/.exec(path)?.[1]
  return digits === undefined ? 0 : Number(digits)
}
