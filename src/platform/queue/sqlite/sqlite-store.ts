import { DatabaseSync } from 'node:sqlite'
import {
  type DeadLetter,
  type DeadLetterFilter,
  type OutgoingMessage,
  type QueueStats,
  QueueUnavailable,
} from '../contract.ts'
import type { ClaimedMessage, ClaimOptions, SqliteThreadOptions } from './sqlite-calls.ts'
import {
  messageClaimed,
  messageDelayed,
  prepareQueueFile,
  prepareStatements,
  type Statements,
} from './sqlite-schema.ts'

/** What one message takes in the file beside its payload, about: two rows and four index entries. */
const messageOverhead_bytes = 512
/** So many messages of one subject are taken before the next subject has its turn. */
const turn_messages = 16
/** Rows of the dedupe table that one purge removes at most. */
const purge_rows = 10_000

/**
 * The queue's tables and what can be done to them: synchronous, for the thread that owns the file.
 * Times are milliseconds since 1970 and always an argument. Changes are the caller's transaction.
 */
export class SqliteStore {
  readonly #db: DatabaseSync
  readonly #options: SqliteThreadOptions
  readonly #sql: Statements
  #held: Held
  /** For each kind the subject that had its turn last. */
  readonly #turns = new Map<string, string>()

  /** Opens the file. What the last process had claimed is to be had again. */
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

  /** Runs the changes in one transaction; when it can't be committed nothing of it has happened. */
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

  /** Stores a message, unless its id was seen within the window. Throws QueueUnavailable, full. */
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
    return this.#held.bytes + bytes + messageOverhead_bytes <= this.#options.bytes_max
  }

  /** Messages and bytes that a claim would get, counted no further than its limits. */
  available(claim: ClaimOptions, now_ms: number): { messages: number; bytes: number } {
    this.#sql.releaseDue.run(now_ms)
    const [from, until] = subjectRange(claim.kind)
    const row = this.#sql.available.get(from, until, claim.messages_max)
    return { messages: Number(row?.['messages']), bytes: Number(row?.['bytes']) }
  }

  /**
   * Takes the next batch, subjects by turns so that a busy project does not hold up the others.
   * At least one message, however big. What has had all its attempts is buried on the way, so an
   * empty batch does not mean that there is nothing more.
   */
  claim(claim: ClaimOptions, now_ms: number): ClaimedMessage[] {
    this.#sql.releaseDue.run(now_ms)
    const batch: Batch = { claimed: [], room: claim.messages_max, bytes_left: claim.bytes_max }
    let subject = this.#nextSubject(claim.kind)
    while (batch.room > 0 && subject !== undefined) {
      if (!this.#takeTurn(subject, batch, { claim, now_ms })) break
      subject = this.#nextSubject(claim.kind)
    }
    return batch.claimed
  }

  /** Removes a message for good. It may be gone already. */
  ack(seq: number): void {
    const message = this.#message(seq)
    if (message === undefined) return
    this.#sql.removeMessage.run(seq)
    this.#sql.removeBody.run(seq)
    this.#held.bytes -= message.bytes + messageOverhead_bytes
    this.#held.messages -= 1
    this.#held.message_bytes -= message.bytes
  }

  /** Puts a message off. Only the delivery that has it may do so; an older one changes nothing. */
  retry(seq: number, attempt: number, until_ms: number): void {
    this.#sql.putOff.run(messageDelayed, until_ms, seq, attempt)
  }

  /** Sets a message apart. Only the delivery that has it may do so. */
  bury(about: { seq: number; attempt: number; reason: string }, now_ms: number): void {
    const message = this.#message(about.seq)
    if (message?.state !== messageClaimed || message.attempts !== about.attempt) return
    this.#bury(message, about.reason, now_ms)
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

  /** The dead letters as they were buried. */
  deadLetters(limit: number, { project_id, after }: DeadLetterFilter = {}): DeadLetter[] {
    const [time = 0, number = 0] = (after ?? '').split(':').map((digits) => Number(digits) || 0)
    const rows = this.#sql.deadLetters.all(time, number, project_id ?? null, limit)
    return rows.map((row) => {
      const { buried_at, seq, ...letter } = row as unknown as DeadRow
      const position = `${buried_at}:${seq}`
      return { ...letter, buried_at: new Date(buried_at).toISOString(), position }
    })
  }

  /** Puts the dead letter of that id (the last, if there are several) at the end of its subject. */
  replay(which: { id: string; project_id?: string | undefined }, now_ms: number): boolean {
    const dead = this.#sql.deadOfId.get(which.id, which.project_id ?? null) as
      | ({ seq: number } & NewMessage)
      | undefined
    const data = dead && this.#sql.body.get(dead.seq)?.['data']
    if (dead === undefined || !(data instanceof Uint8Array)) return false
    this.#sql.removeDead.run(dead.seq)
    this.#sql.removeBody.run(dead.seq)
    this.#held.bytes -= dead.bytes + messageOverhead_bytes
    this.#held.dead -= 1
    this.#insert(dead, data, now_ms)
    return true
  }

  /** When the next message that is claimed or put off comes back, or undefined. */
  nextDue_ms(): number | undefined {
    const due = this.#sql.nextDue.get()?.['due']
    return typeof due === 'number' ? due : undefined
  }

  /** Forgets ids from before the window. */
  purgeSeen(now_ms: number): void {
    this.#sql.purgeSeen.run(now_ms - this.#options.duplicate_window_ms, purge_rows)
  }

  /** Gives a little of the file's free space back to the disk. True when there is more to give. */
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
      bytes: messages.bytes + dead.bytes + (messages.rows + dead.rows) * messageOverhead_bytes,
    }
  }

  #insert(message: NewMessage, data: Uint8Array, now_ms: number): void {
    const { id, subject, bytes } = message
    const { lastInsertRowid } = this.#sql.insertMessage.run(id, subject, bytes, now_ms)
    this.#sql.insertBody.run(lastInsertRowid, data)
    this.#held.bytes += bytes + messageOverhead_bytes
    this.#held.messages += 1
    this.#held.message_bytes += bytes
  }

  /** Takes some messages of one subject. False when the next one has no room in the batch. */
  #takeTurn(
    subject: string,
    batch: Batch,
    about: { claim: ClaimOptions; now_ms: number },
  ): boolean {
    const { claim, now_ms } = about
    const limit = Math.min(turn_messages, batch.room)
    for (const row of this.#sql.readyOfSubject.all(subject, limit)) {
      const message = row as unknown as MessageRow
      const spent = message.attempts >= claim.attempts_max
      const fits = batch.claimed.length === 0 || message.bytes <= batch.bytes_left
      if (!spent && !fits) return false
      this.#turns.set(claim.kind, subject)
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
    const last = this.#turns.get(kind) ?? from
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

/** What the file holds: `bytes` is what counts against `bytes_max`, dead letters included. */
type Held = { messages: number; message_bytes: number; dead: number; bytes: number }
/** A batch being put together; `room` counts messages. */
type Batch = { claimed: ClaimedMessage[]; room: number; bytes_left: number }
type Counted = { rows: number; bytes: number }
type NewMessage = { id: string; subject: string; bytes: number }
type MessageRow = NewMessage & { seq: number; state: number; attempts: number }
type DeadRow = Omit<DeadLetter, 'buried_at' | 'position'> & { buried_at: number; seq: number }

/** All subjects of a kind lie between `kind.` and `kind/`: the slash follows the dot in ASCII. */
function subjectRange(kind: string): [from: string, until: string] {
  return [`${kind}.`, `${kind}/`]
}
