import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import {
  type RowKind,
  rowFrameHeader,
  rowFrameHeaderBytes,
  rowKinds,
} from '../../../model/row-frame.ts'
import type { OutgoingMessage, RetryLimits } from '../../../platform/queue/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import { type DraftOf, rowFormat } from '../../storage/row-format/index.ts'
import type { EnqueueOptions, Enqueuer, IngestRequest, RecordRefusal } from './contract.ts'
import { createEnqueueMeters, type EnqueueMeters } from './enqueue-meters.ts'
import { FramePublisher, refusedEntry, type WindowLimits } from './frame-publisher.ts'
import { messageIdOf } from './message-ids.ts'
import { compressRow, encodeTrailer, maxTrailerBytes, OpenFrame } from './open-frame.ts'
import { estimateBytes, PendingRequest } from './pending-request.ts'

export type EnqueuerOptions = {
  /**
   * Resolves once the message is durable; its `data` is then reused for the next frame. A rejected
   * publish is repeated with the same id.
   */
  publish(message: OutgoingMessage): Promise<void>
  /** Largest message that the queue accepts. It may change, so it is read for each message. */
  readonly message_bytes_max: number
  /**
   * Maximum bytes of a frame, by default 128 KiB; the row that would exceed it starts the next one.
   */
  frame_bytes?: number
  /** Age at which a shared frame is published, by default 5. */
  frame_age_ms?: number
  /**
   * Maximum bytes of the requests in flight; beyond it requests are refused. A single request may
   * be larger.
   */
  inflight_bytes_max: number
  /** Limits on concurrent publishes, by default 64 messages and 32 MiB. */
  window?: WindowLimits
  clock: Clock
  newId: () => string
  metrics: Metrics
  logger: Logger
  /** Receives the ledger entries of durable messages and of rejected items; must not throw. */
  onAccepted(entries: readonly LedgerEntry[]): void
  /** Attempts of a publish, and the first delay between them; the delay doubles. */
  retry?: RetryLimits
}

/**
 * Makes an enqueuer. It encodes each record once, into the open frame of its project, and settles a
 * request when all frames with its records are durable.
 */
export function createEnqueuer(options: EnqueuerOptions): Enqueuer {
  return new FramingEnqueuer(options)
}

const defaultFrameBytes = 128 * 1024
const defaultFrame_age_ms = 5
const defaultWindow: WindowLimits = { messages_max: 64, bytes_max: 32 * 1024 * 1024 }
const defaultRetry: RetryLimits = { attempts_max: 3, delay_ms: 100 }
/** Room after a full frame, so that its last text is written without measuring it first. */
const slack_bytes = 4096
/** Maximum projects with an open frame; beyond it all frames are published early. */
const maxOpenFrames = 64
const retryAfterSeconds = 2

type RowDraft<Kind extends RowKind> = { kind: Kind; draft: DraftOf<Kind>; index: number }

class FramingEnqueuer implements Enqueuer {
  readonly #options: EnqueuerOptions
  readonly #frame_bytes: number
  readonly #meters: EnqueueMeters
  readonly #publisher: FramePublisher
  /** The open frames that requests share, by project. */
  readonly #frames = new Map<string, OpenFrame>()
  /** The open frames of requests with `alone`. */
  readonly #ownFrames = new Map<PendingRequest, OpenFrame>()
  #timer: NodeJS.Timeout | undefined
  #pending = 0
  #inflight_bytes = 0
  #flushes: (() => void)[] = []
  #closed = false

  constructor(options: EnqueuerOptions) {
    const { metrics, clock, logger, retry = defaultRetry, window = defaultWindow } = options
    this.#options = options
    this.#frame_bytes = options.frame_bytes ?? defaultFrameBytes
    this.#meters = createEnqueueMeters(metrics, () => this.#inflight_bytes)
    this.#publisher = new FramePublisher({
      publish: (message) => options.publish(message),
      onAccepted: (entries) => options.onAccepted(entries),
      onSettled: (pending) => this.#settle(pending),
      buffer_bytes: this.#frame_bytes + slack_bytes,
      meters: this.#meters,
      window,
      retry,
      clock,
      logger,
    })
  }

  enqueue(request: IngestRequest, options: EnqueueOptions = {}): Promise<number> {
    if (this.#closed) return this.#refused('closed')
    const held_bytes = estimateBytes(request.records)
    const isOver = this.#inflight_bytes + held_bytes > this.#options.inflight_bytes_max
    if (isOver && this.#pending > 0) return this.#refused('inflight_full')
    const pending = new PendingRequest(request, held_bytes, options)
    this.#pending += 1
    this.#inflight_bytes += held_bytes
    void this.#encode(pending)
    return pending.settled
  }

  flush(): Promise<void> {
    this.#sealAll()
    if (this.#pending === 0) return Promise.resolve()
    return new Promise((resolve) => this.#flushes.push(resolve))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
  }

  #refused(reason: 'closed' | 'inflight_full'): Promise<never> {
    this.#meters.failed(reason)
    const code = reason === 'closed' ? 'shutting_down' : 'overloaded'
    return Promise.reject(problem(code, { retry_after_s: retryAfterSeconds }))
  }

  /** Encodes a request without a pause until the window is full; never rejects. */
  async #encode(pending: PendingRequest): Promise<void> {
    try {
      if (this.#publisher.window.isBusy) await this.#publisher.window.waitForRoom()
      for (const kind of rowKinds) {
        if (pending.request.records[kind].length > 0) await this.#encodeKind(pending, kind)
      }
    } catch (error) {
      pending.failure = error
      this.#meters.failed('failed')
      this.#publisher.log(error, 'encoding the records of a request failed')
    }
    const ownFrame = this.#ownFrames.get(pending)
    if (ownFrame) this.#seal(ownFrame, pending)
    if (this.#flushes.length > 0) this.#sealAll()
    pending.isEncoded = true
    this.#publisher.window.wakeNext()
    this.#settle(pending)
  }

  async #encodeKind<Kind extends RowKind>(pending: PendingRequest, kind: Kind): Promise<void> {
    const drafts: readonly DraftOf<Kind>[] = pending.request.records[kind]
    for (let index = 0; index < drafts.length && pending.failure === undefined; index++) {
      const draft = drafts[index]
      if (draft === undefined) continue
      const waiting = this.#put(pending, { kind, draft, index })
      if (waiting) await waiting
    }
  }

  /** Encodes a row into the open frame. Returns a promise when the next row must wait. */
  #put<Kind extends RowKind>(
    pending: PendingRequest,
    rowDraft: RowDraft<Kind>,
  ): Promise<void> | undefined {
    const frame = this.#frameFor(pending)
    let start: number
    try {
      start = frame.write(rowDraft.kind, rowDraft.draft)
    } catch (error) {
      this.#publisher.log(error, 'encoding a record failed')
      this.#refuseRow(pending, rowDraft, 'not_encodable')
      return undefined
    }
    const frame_bytes_max = Math.min(this.#frame_bytes, this.#options.message_bytes_max)
    if (frame.fits(pending, frame_bytes_max)) {
      frame.keep(pending, rowDraft.kind)
      return undefined
    }
    const row = frame.takeBack(start)
    // Also before a row in a message of its own: the rows after it must have later ids.
    this.#seal(frame, pending)
    const needed_bytes = rowFrameHeaderBytes + row.length + maxTrailerBytes(pending)
    if (needed_bytes > frame_bytes_max) return this.#putAlone(pending, rowDraft, row)
    const next = this.#frameFor(pending)
    next.add(row, rowDraft.kind, rowDraft.draft)
    next.keep(pending, rowDraft.kind)
    return this.#publisher.window.isFull ? this.#publisher.window.waitForRoom() : undefined
  }

  /** Publishes a row larger than a frame in a compressed message of its own. */
  async #putAlone<Kind extends RowKind>(
    pending: PendingRequest,
    rowDraft: RowDraft<Kind>,
    row: Buffer,
  ): Promise<void> {
    const { project_id } = pending.request
    const message_id = this.#messageIdFor(pending)
    const other_bytes = rowFrameHeaderBytes + maxTrailerBytes(pending)
    const compressed = await compressRow(
      {
        kind: rowDraft.kind,
        draft: rowDraft.draft,
        row,
        message_id: Buffer.from(message_id, 'latin1'),
      },
      this.#options.message_bytes_max - other_bytes,
    )
    if (compressed === undefined) {
      this.#refuseRow(pending, rowDraft, 'too_large')
      return
    }
    if (compressed.is_content_dropped) this.#meters.contentDropped()
    const { rows } = compressed
    const receipt = pending.newReceipt()
    pending.join(receipt)
    pending.count(receipt, rowDraft.kind)
    const header = { compressed: true, row_format: rowFormat, rows_bytes: rows.length }
    const data = Buffer.concat([rowFrameHeader(header), rows, encodeTrailer(project_id, [receipt])])
    const frame = { project_id, message_id, data, receipts: [receipt], requests: [pending] }
    void this.#publisher.publish({ ...frame, buffer: undefined })
    if (this.#publisher.window.isFull) await this.#publisher.window.waitForRoom()
  }

  #frameFor(pending: PendingRequest): OpenFrame {
    const { project_id } = pending.request
    const open = pending.options.alone ? this.#ownFrames.get(pending) : this.#frames.get(project_id)
    if (open && !open.isInterruptedFor(pending)) return open
    if (open) this.#seal(open, pending)
    const frame = new OpenFrame(
      project_id,
      this.#messageIdFor(pending),
      this.#publisher.pool.take(),
    )
    if (pending.options.alone) this.#ownFrames.set(pending, frame)
    else {
      if (this.#frames.size >= maxOpenFrames) this.#sealAll()
      this.#frames.set(project_id, frame)
      const { frame_age_ms = defaultFrame_age_ms } = this.#options
      this.#timer ??= setTimeout(() => this.#sealAll(), frame_age_ms)
    }
    return frame
  }

  #messageIdFor(pending: PendingRequest): string {
    if (!pending.options.alone) return this.#options.newId()
    return messageIdOf(pending.request.ingest_request_id, pending.takeMessageIndex())
  }

  #sealAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const frame of this.#frames.values()) this.#seal(frame)
  }

  #seal(frame: OpenFrame, owner?: PendingRequest): void {
    if (owner?.options.alone) this.#ownFrames.delete(owner)
    else this.#frames.delete(frame.project_id)
    const sealed = frame.seal(this.#publisher.pool)
    if (sealed) void this.#publisher.publish(sealed)
  }

  #refuseRow(pending: PendingRequest, rowDraft: RowDraft<RowKind>, reason: RecordRefusal): void {
    pending.refuse(rowDraft.kind, reason)
    this.#meters.failed(reason)
    pending.options.on_refused?.(rowDraft.kind, rowDraft.index, reason)
  }

  /** Settles the request once all its messages are. */
  #settle(pending: PendingRequest): void {
    if (!pending.isEncoded || pending.underWay > 0) return
    this.#pending -= 1
    this.#inflight_bytes -= pending.held_bytes
    if (pending.failure === undefined) {
      const entry = refusedEntry(pending)
      if (entry) this.#publisher.report([entry])
      pending.resolve(pending.messages)
    } else {
      const fault = { cause: pending.failure, retry_after_s: retryAfterSeconds }
      pending.reject(
        problem('overloaded', {
          ...fault,
          detail: 'the queue does not accept records now; send the request again',
        }),
      )
    }
    if (this.#pending === 0) for (const done of this.#flushes.splice(0)) done()
  }
}
