import { DatabaseSync } from 'node:sqlite'
import {
  type DeadLetter,
  type DeadLetterFilter,
  type OutgoingMessage,
  type QueueStats,
  QueueUnavailable,
} from '../contract.ts'
import {
  messageClaimed,
  messageDelayed,
  prepareQueueFile,
  prepareStatements,
  type Statements,
} from './sqlite-schema.ts'
import type { ClaimedMessage, ClaimOptions, SqliteThreadOptions } from './sqlite-thread-client.ts'

/** Approximate overhead of a message in the file: two rows and four index entries. */
const messageOverheadBytes = 512
/** Maximum messages of one subject before the next subject. */
const maxSubjectMessages = 16
/** Maximum rows of the deduplication table that one purge removes. */
const purge_rows = 10_000

/**
 * Synchronous operations on the queue's tables, for the thread that owns the file. Times are
 * milliseconds since 1970, passed as arguments. The caller runs changes in a transaction.
 */
export class SqliteStore {
  readonly #db: DatabaseSync
  readonly #options: SqliteThreadOptions
  readonly #sql: Statements
  #held: Held
  /** Last served subject of each kind. */
  readonly #lastSubjects = new Map<string, string>()

  /** Opens the file, and releases claims of the last process. */
  constructor(options: SqliteThreadOptions) {
    this.#options = options
    this.#db = new DatabaseSync(options.path)
    try {
      prepareQueueFile(this.#db, options.path)
    } catch (error) {
      this.#db.close()
      throw error
    }
    this.#sql = prepareStatements(this.#db)
    this.#sql.releaseClaimed.run()
    this.#held = this.#count()
  }

  /** Runs the changes in one transaction, and rolls all of them back on an error. */
  transact(changes: () => void): void {
    const before = { ...this.#held }
    this.#db.exec('BEGIN')
    try {
      changes()
      this.#db.exec('COMMIT')
    } catch (error) {
      this.#held = before
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  /**
   * Stores a message, unless its id was seen within the window. Throws QueueUnavailable, `full`.
   */
  publish(message: OutgoingMessage, now_ms: number): void {
    const { id, subject, data } = message
    if (!this.hasRoomFor(data.length)) {
      throw new QueueUnavailable(
        `the queue is full: it holds ${this.#held.bytes} bytes of ${this.#options.bytes_max}`,
        { reason: 'full' },
      )
    }
    const oldest = now_ms - this.#options.duplicate_window_ms
    if (this.#sql.see.run(id, now_ms, oldest).changes === 0) return
    this.#insert({ id, subject, bytes: data.length }, data, now_ms)
  }

  hasRoomFor(bytes: number): boolean {
    return this.#held.bytes + bytes + messageOverheadBytes <= this.#options.bytes_max
  }

  /** Counts messages and bytes that a claim would get, up to its limits; `first_ms` is when the first came. */
  available(
    claim: ClaimOptions,
    now_ms: number,
  ): { messages: number; bytes: number; first_ms: number } {
    this.#sql.releaseDue.run(now_ms)
    const [from, until] = subjectRange(claim.kind)
    const row = this.#sql.available.get(from, until, claim.messages_max)
    const first = row?.['first']
    const came = typeof first === 'number' ? this.#sql.publishedAt.get(first)?.['at'] : now_ms
    return {
      messages: Number(row?.['messages']),
      bytes: Number(row?.['bytes']),
      first_ms: Number(came),
    }
  }

  /**
   * Claims the next batch, round robin over subjects, so that a busy project does not delay the
   * others. A batch has at least one message of any size. Messages without attempts left are
   * dead-lettered on the way, so an empty batch does not mean that the queue is empty.
   */
  claim(claim: ClaimOptions, now_ms: number): ClaimedMessage[] {
    this.#sql.releaseDue.run(now_ms)
    const batch: Batch = { claimed: [], room: claim.messages_max, bytes_left: claim.bytes_max }
    let subject = this.#nextSubject(claim.kind)
    while (batch.room > 0 && subject !== undefined) {
      if (!this.#claimFrom(subject, batch, { claim, now_ms })) break
      subject = this.#nextSubject(claim.kind)
    }
    return batch.claimed
  }

  /** Removes a message, if it still exists. */
  ack(seq: number): void {
    const message = this.#message(seq)
    if (message === undefined) return
    this.#sql.removeMessage.run(seq)
    this.#sql.removeBody.run(seq)
    this.#held.bytes -= message.bytes + messageOverheadBytes
    this.#held.messages -= 1
    this.#held.message_bytes -= message.bytes
  }

  /** Delays a message. Only its current delivery can do so; an older one changes nothing. */
  retry(seq: number, attempt: number, until_ms: number): void {
    this.#sql.putOff.run(messageDelayed, until_ms, seq, attempt)
  }

  /** Dead-letters a message. Only its current delivery can do so. */
  bury(delivery: { seq: number; attempt: number; reason: string }, now_ms: number): void {
    const message = this.#message(delivery.seq)
    if (message?.state !== messageClaimed || message.attempts !== delivery.attempt) return
    this.#bury(message, delivery.reason, now_ms)
  }

  stats(now_ms: number): QueueStats {
    const oldest = this.#sql.oldest.get()?.['oldest']
    return {
      pending: this.#held.messages,
      pending_bytes: this.#held.message_bytes,
      dead: this.#held.dead,
      oldest_age_ms: typeof oldest === 'number' ? Math.max(0, now_ms - oldest) : 0,
    }
  }

  /** Returns the age of the oldest message of a subject; 0 without one. */
  oldestAgeMs(subject: string, now_ms: number): number {
    const oldest = this.#sql.oldestOfSubject.get(subject)?.['oldest']
    return typeof oldest === 'number' ? Math.max(0, now_ms - oldest) : 0
  }

  /** Lists dead letters, oldest first. */
  deadLetters(limit: number, { project_id, after }: DeadLetterFilter = {}): DeadLetter[] {
    const [time = 0, number = 0] = (after ?? '').split(':').map((digits) => Number(digits) || 0)
    const rows = this.#sql.deadLetters.all(time, number, project_id ?? null, limit)
    return rows.map((row) => {
      const { buried_at, seq, ...letter } = row as unknown as DeadRow
      const position = `${buried_at}:${seq}`
      return { ...letter, buried_at: new Date(buried_at).toISOString(), position }
    })
  }

  /** Puts the (last) dead letter with this id back at the end of its subject. */
  replay(which: { id: string; project_id?: string | undefined }, now_ms: number): boolean {
    const dead = this.#sql.deadOfId.get(which.id, which.project_id ?? null) as
      | ({ seq: number } & NewMessage)
      | undefined
    const data = dead && this.#sql.body.get(dead.seq)?.['data']
    if (dead === undefined || !(data instanceof Uint8Array)) return false
    this.#sql.removeDead.run(dead.seq)
    this.#sql.removeBody.run(dead.seq)
    this.#held.bytes -= dead.bytes + messageOverheadBytes
    this.#held.dead -= 1
    this.#insert(dead, data, now_ms)
    return true
  }

  /** Returns when the next claimed or delayed message becomes available, or undefined. */
  nextDueMs(): number | undefined {
    const due = this.#sql.nextDue.get()?.['due']
    return typeof due === 'number' ? due : undefined
  }

  /** Removes ids from before the deduplication window. */
  purgeSeen(now_ms: number): void {
    this.#sql.purgeSeen.run(now_ms - this.#options.duplicate_window_ms, purge_rows)
  }

  /** Frees some unused space of the file. Returns whether more can be freed. */
  reclaim(pages: number): boolean {
    if (this.#freeBytes() <= this.#options.reclaim_free_bytes) return false
    this.#db.exec(`PRAGMA incremental_vacuum(${pages})`)
    if (this.#freeBytes() > this.#options.reclaim_free_bytes) return true
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return false
  }

  close(): void {
    this.#db.close()
  }

  #count(): Held {
    const messages = this.#sql.countMessages.get() as Counted
    const dead = this.#sql.countDead.get() as Counted
    return {
      messages: messages.rows,
      message_bytes: messages.bytes,
      dead: dead.rows,
      bytes: messages.bytes + dead.bytes + (messages.rows + dead.rows) * messageOverheadBytes,
    }
  }

  #insert(message: NewMessage, data: Uint8Array, now_ms: number): void {
    const { id, subject, bytes } = message
    const { lastInsertRowid } = this.#sql.insertMessage.run(id, subject, bytes, now_ms)
    this.#sql.insertBody.run(lastInsertRowid, data)
    this.#held.bytes += bytes + messageOverheadBytes
    this.#held.messages += 1
    this.#held.message_bytes += bytes
  }

  /** Claims some messages of one subject. Returns false when the next one does not fit. */
  #claimFrom(
    subject: string,
    batch: Batch,
    claiming: { claim: ClaimOptions; now_ms: number },
  ): boolean {
    const { claim, now_ms } = claiming
    const limit = Math.min(maxSubjectMessages, batch.room)
    for (const row of this.#sql.readyOfSubject.all(subject, limit)) {
      const message = row as unknown as MessageRow
      const spent = message.attempts >= claim.attempts_max
      const fits = batch.claimed.length === 0 || message.bytes <= batch.bytes_left
      if (!spent && !fits) return false
      this.#lastSubjects.set(claim.kind, subject)
      batch.room -= 1
      if (spent) {
        this.#bury(message, `given up after ${message.attempts} deliveries`, now_ms)
        continue
      }
      batch.bytes_left -= message.bytes
      batch.claimed.push(this.#take(message, now_ms + claim.ack_wait_ms))
    }
    return true
  }

  #nextSubject(kind: string): string | undefined {
    const [from, until] = subjectRange(kind)
    const last = this.#lastSubjects.get(kind) ?? from
    const row = this.#sql.nextSubject.get(last, until) ?? this.#sql.nextSubject.get(from, until)
    const subject = row?.['subject']
    return typeof subject === 'string' ? subject : undefined
  }

  #take(message: MessageRow, until_ms: number): ClaimedMessage {
    const { seq, id, subject } = message
    this.#sql.claim.run(messageClaimed, until_ms, seq)
    const data = this.#sql.body.get(seq)?.['data']
    if (!(data instanceof Uint8Array)) throw new Error(`message ${seq} has no body`)
    return { seq, id, subject, data, attempt: message.attempts + 1 }
  }

  #bury(message: MessageRow, reason: string, now_ms: number): void {
    const { seq, id, subject, bytes, attempts } = message
    this.#sql.bury.run(seq, id, subject, bytes, reason, attempts, now_ms)
    this.#sql.removeMessage.run(seq)
    this.#held.messages -= 1
    this.#held.message_bytes -= bytes
    this.#held.dead += 1
  }

  #message(seq: number): MessageRow | undefined {
    return this.#sql.message.get(seq) as MessageRow | undefined
  }

  #freeBytes(): number {
    const free = Number(this.#sql.freePages.get()?.['freelist_count'])
    return free * Number(this.#sql.pageSize.get()?.['page_size'])
  }
}

/** Contents of the file. `bytes` counts against `bytes_max` and includes dead letters. */
type Held = { messages: number; message_bytes: number; dead: number; bytes: number }
/** A batch being built. `room` is the number of messages that still fit. */
type Batch = { claimed: ClaimedMessage[]; room: number; bytes_left: number }
type Counted = { rows: number; bytes: number }
type NewMessage = { id: string; subject: string; bytes: number }
type MessageRow = NewMessage & { seq: number; state: number; attempts: number }
type DeadRow = Omit<DeadLetter, 'buried_at' | 'position'> & { buried_at: number; seq: number }

/** Returns the range of a kind's subjects, `kind.` to `kind/`: `/` follows `.` in ASCII. */
function subjectRange(kind: string): [from: string, until: string] {
  return [`${kind}.`, `${kind}/`]
}
