import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import {
  type FrameReceipt,
  type RowKind,
  rowFrameHeader,
  rowFrameHeaderBytes,
  rowHeaderBytes,
  rowKinds,
} from '../../../model/row-frame.ts'
import { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'
import type { FramePool } from '../../../platform/queue/index.ts'
import { type DraftOf, rowFormat, rowWriters } from '../../storage/row-format/index.ts'
import { laterId } from './message-ids.ts'
import type { PendingRequest } from './pending-request.ts'

/** A complete frame. `buffer` returns to the pool after the publish. */
export type SealedFrame = {
  project_id: string
  message_id: string
  data: Buffer
  buffer: Buffer | undefined
  receipts: readonly FrameReceipt[]
  /** The request of each receipt. */
  requests: readonly PendingRequest[]
}

/** Bytes of the trailer without its receipts: the project and the field names. */
const trailer_bytes = 100

/** A frame being filled, in a buffer of the pool. */
export class OpenFrame {
  readonly project_id: string
  readonly message_id: string
  readonly #messageId: Buffer
  /** Observations and traces of which the frame has a row. */
  readonly #records = new Set<string>()
  #repeats = 0
  readonly #pooled: Buffer
  readonly #writer: ByteWriter
  readonly #receipts: FrameReceipt[] = []
  readonly #requests: PendingRequest[] = []
  #trailer_bytes = trailer_bytes

  constructor(project_id: string, message_id: string, buffer: Buffer) {
    this.project_id = project_id
    this.message_id = message_id
    this.#messageId = Buffer.from(message_id, 'latin1')
    this.#pooled = buffer
    this.#writer = new ByteWriter(buffer, rowFrameHeaderBytes)
  }

  /** Returns true when rows of others follow those of the request: its rows must be contiguous. */
  isInterruptedFor(pending: PendingRequest): boolean {
    return pending.lastMessageId === this.message_id && this.#requests.at(-1) !== pending
  }

  /**
   * Encodes a row at the end. Returns its start. Throws as the row writers do. Rows that are stored
   * at once count by their message ids, so another row of a record has a later id.
   */
  write<Kind extends RowKind>(kind: Kind, draft: DraftOf<Kind>): number {
    const writer = this.#writer
    const start = writer.skip(rowHeaderBytes)
    const message_id = this.#note(kind, draft) === 'repeated' ? this.#laterId() : this.#messageId
    try {
      rowWriters[kind](writer, draft, message_id)
    } catch (error) {
      this.takeBack(start)
      throw error
    }
    writer.putU8(start, rowKinds.indexOf(kind) + 1)
    writer.putU32(start + 1, writer.at - start - rowHeaderBytes)
    return start
  }

  /** Returns true when the frame, with the last row, is within its size. */
  fits(pending: PendingRequest, frame_bytes_max: number): boolean {
    const receipt_bytes = pending.lastMessageId === this.message_id ? 0 : pending.receipt_bytes
    return this.#writer.at + this.#trailer_bytes + receipt_bytes <= frame_bytes_max
  }

  /** Assigns the last row to the request. */
  keep(pending: PendingRequest, kind: RowKind): void {
    let receipt = this.#receipts.at(-1)
    if (receipt === undefined || this.#requests.at(-1) !== pending) {
      receipt = pending.newReceipt()
      this.#receipts.push(receipt)
      this.#requests.push(pending)
      this.#trailer_bytes += pending.receipt_bytes
      pending.join(receipt)
      pending.lastMessageId = this.message_id
    }
    pending.count(receipt, kind)
  }

  /** Removes the rows from `start` on. Returns a copy of them. */
  takeBack(start: number): Buffer {
    const writer = this.#writer
    const row = Buffer.from(writer.written().subarray(start))
    writer.rewind(start)
    if (writer.buffer !== this.#pooled && writer.at <= this.#pooled.length) {
      this.#pooled.set(writer.written())
      writer.moveTo(this.#pooled, writer.at)
    }
    return row
  }

  /** Appends an encoded row of another frame as the first one, and replaces its message id. */
  add<Kind extends RowKind>(row: Buffer, kind: Kind, draft: DraftOf<Kind>): void {
    this.#note(kind, draft)
    row.set(this.#messageId, row.length - this.#messageId.length)
    this.#writer.raw(row)
  }

  /** Notes an observation or a trace as part of the frame; tells whether it already was. */
  #note(kind: RowKind, draft: { trace_id: string; observation_id?: string }): 'new' | 'repeated' {
    if (kind !== 'observations' && kind !== 'traces') return 'new'
    const known = this.#records.size
    this.#records.add(draft.trace_id + (draft.observation_id ?? ''))
    return this.#records.size === known ? 'repeated' : 'new'
  }

  /** Returns an id of the same time as that of the message, and after all that the frame has. */
  #laterId(): Buffer {
    this.#repeats += 1
    return Buffer.from(laterId(this.message_id, this.#repeats), 'latin1')
  }

  /**
   * Returns the frame to publish; undefined when it has no row. A mostly empty frame is copied and
   * its buffer returned at once, so that small waiting frames hold no large buffers.
   */
  seal(pool: FramePool): SealedFrame | undefined {
    const writer = this.#writer
    if (this.#receipts.length === 0) {
      pool.give(this.#pooled)
      return undefined
    }
    const rows_bytes = writer.at - rowFrameHeaderBytes
    writer.raw(encodeTrailer(this.project_id, this.#receipts))
    const written = writer.written()
    written.set(rowFrameHeader({ compressed: false, row_format: rowFormat, rows_bytes }))
    const isMostlyEmpty = written.length * 2 <= this.#pooled.length
    const data = isMostlyEmpty ? Buffer.from(written) : written
    if (isMostlyEmpty || writer.buffer !== this.#pooled) pool.give(this.#pooled)
    const buffer = data.buffer === this.#pooled.buffer ? this.#pooled : undefined
    const { project_id, message_id } = this
    const [receipts, requests] = [this.#receipts, this.#requests]
    return { project_id, message_id, data, buffer, receipts, requests }
  }
}

/** Returns the maximum bytes of the trailer of a frame with rows of this request only. */
export function maxTrailerBytes(pending: PendingRequest): number {
  return trailer_bytes + pending.receipt_bytes
}

/** Returns the end of a frame. */
export function encodeTrailer(project_id: string, receipts: readonly FrameReceipt[]): Buffer {
  return Buffer.from(JSON.stringify({ project_id, receipts }))
}

const compress = promisify(zstdCompress)

/** An encoded row with its header that does not fit into a frame. */
type LargeRow<Kind extends RowKind> = {
  kind: Kind
  draft: DraftOf<Kind>
  row: Buffer
  /** The id of the message that will contain the row. */
  message_id: Buffer
}

type CompressedRow = { rows: Buffer; is_content_dropped: boolean }

/**
 * Compresses a row off the event loop, to at most `bytes_max`. If it does not fit, drops its
 * content, then its tool calls and their results. Returns undefined when the rest does not fit
 * either.
 */
export async function compressRow<Kind extends RowKind>(
  large: LargeRow<Kind>,
  bytes_max: number,
): Promise<CompressedRow | undefined> {
  const { kind, message_id } = large
  large.row.set(message_id, large.row.length - message_id.length)
  const whole = await compress(large.row)
  if (whole.length <= bytes_max) return { rows: whole, is_content_dropped: false }
  for (const dropped of [noContent, { ...noContent, tool_calls: [], tool_results: [] }]) {
    const draft = replaceFields(large.draft, dropped)
    const rows = await compress(encodeRow(kind, draft, message_id))
    if (rows.length <= bytes_max) return { rows, is_content_dropped: true }
  }
  return undefined
}

const noContent = { input: '', output: '', body: '', content_state: 'dropped' }
const writer_bytes = 4096

/** Returns the draft with those of `fields` that it has. */
function replaceFields<Draft extends object>(draft: Draft, fields: object): Draft {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(draft, name))
  return { ...draft, ...Object.fromEntries(known) }
}

function encodeRow<Kind extends RowKind>(kind: Kind, draft: DraftOf<Kind>, message_id: Buffer) {
  const writer = new ByteWriter(Buffer.allocUnsafe(writer_bytes))
  writer.skip(rowHeaderBytes)
  rowWriters[kind](writer, draft, message_id)
  writer.putU8(0, rowKinds.indexOf(kind) + 1)
  writer.putU32(1, writer.at - rowHeaderBytes)
  return writer.written()
}
