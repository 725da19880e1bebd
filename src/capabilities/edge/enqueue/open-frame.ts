import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import {
  type FrameReceipt,
  type RowKind,
  rowFrameHeader,
  rowFrameHeader_bytes,
  rowHeader_bytes,
  rowKinds,
} from '../../../model/row-frame.ts'
import { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'
import type { FramePool } from '../../../platform/queue/index.ts'
import { type DraftOf, rowFormat, rowWriters } from '../../storage/row-format/index.ts'
import type { PendingRequest } from './pending-request.ts'

/** A frame as it is published. `buffer` is for the pool once that is done. */
export type SealedFrame = {
  project_id: string
  message_id: string
  data: Buffer
  buffer: Buffer | undefined
  receipts: readonly FrameReceipt[]
  /** The request of each receipt. */
  requests: readonly PendingRequest[]
}

/** What the trailer takes beside its receipts: the project, and the names. */
const trailer_bytes = 100

/** A frame that is being filled, in a buffer of the pool. */
export class OpenFrame {
  readonly project_id: string
  readonly message_id: string
  readonly #messageId: Buffer
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
    this.#writer = new ByteWriter(buffer, rowFrameHeader_bytes)
  }

  /** True when others' rows came after those of the request: its rows have to stand together. */
  isInterruptedFor(pending: PendingRequest): boolean {
    return pending.lastMessageId === this.message_id && this.#requests.at(-1) !== pending
  }

  /** Encodes a row at the end; returns where it starts. Throws as the row writers do. */
  write<Kind extends RowKind>(kind: Kind, draft: DraftOf<Kind>): number {
    const writer = this.#writer
    const start = writer.skip(rowHeader_bytes)
    try {
      rowWriters[kind](writer, draft, this.#messageId)
    } catch (error) {
      this.takeBack(start)
      throw error
    }
    writer.putU8(start, rowKinds.indexOf(kind) + 1)
    writer.putU32(start + 1, writer.at - start - rowHeader_bytes)
    return start
  }

  /** Whether the row that was written last leaves it within its size. */
  fits(pending: PendingRequest, frame_bytes_max: number): boolean {
    const receipt_bytes = pending.lastMessageId === this.message_id ? 0 : pending.receipt_bytes
    return this.#writer.at + this.#trailer_bytes + receipt_bytes <= frame_bytes_max
  }

  /** The row that was written last stays, and is the request's. */
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

  /** Takes the row from `start` on out of the frame. What answers is a copy. */
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

  /** Adds an encoded row of another frame; the id of that message is replaced. */
  add(row: Buffer): void {
    row.set(this.#messageId, row.length - this.#messageId.length)
    this.#writer.raw(row)
  }

  /**
   * The frame to publish; undefined when it has no row. One that is mostly empty is copied and its buffer free at once, so that
   * small frames that wait don't hold large buffers.
   */
  seal(pool: FramePool): SealedFrame | undefined {
    const writer = this.#writer
    if (this.#receipts.length === 0) {
      pool.give(this.#pooled)
      return undefined
    }
    const rows_bytes = writer.at - rowFrameHeader_bytes
    writer.raw(trailerOf(this.project_id, this.#receipts))
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

/** Bytes of the trailer of a frame with rows of this request alone, at most. */
export function trailerBytes_max(pending: PendingRequest): number {
  return trailer_bytes + pending.receipt_bytes
}

/** The end of a frame. */
export function trailerOf(project_id: string, receipts: readonly FrameReceipt[]): Buffer {
  return Buffer.from(JSON.stringify({ project_id, receipts }))
}

const compress = promisify(zstdCompress)

/** A row that no frame takes, with its header, as it was encoded. */
type LargeRow<Kind extends RowKind> = {
  kind: Kind
  draft: DraftOf<Kind>
  row: Buffer
  /** Of the message that is to take it. */
  message_id: Buffer
}

type CompressedRow = { rows: Buffer; is_content_dropped: boolean }

/**
 * Compresses a row off the event loop, to at most `bytes_max`. One that is larger even so loses its
 * content, then its tool calls and their results. Undefined when the rest does not fit either.
 */
export async function compressedRow<Kind extends RowKind>(
  large: LargeRow<Kind>,
  bytes_max: number,
): Promise<CompressedRow | undefined> {
  const { kind, message_id } = large
  large.row.set(message_id, large.row.length - message_id.length)
  const whole = await compress(large.row)
  if (whole.length <= bytes_max) return { rows: whole, is_content_dropped: false }
  for (const dropped of [noContent, { ...noContent, tool_calls: [], tool_results: [] }]) {
    const draft = withFieldsOf(large.draft, dropped)
    const rows = await compress(encoded(kind, draft, message_id))
    if (rows.length <= bytes_max) return { rows, is_content_dropped: true }
  }
  return undefined
}

const noContent = { input: '', output: '', body: '', content_state: 'dropped' }
const writer_bytes = 4096

/** The draft with those of the fields that it has. */
function withFieldsOf<Draft extends object>(draft: Draft, fields: object): Draft {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(draft, name))
  return { ...draft, ...Object.fromEntries(known) }
}

function encoded<Kind extends RowKind>(kind: Kind, draft: DraftOf<Kind>, message_id: Buffer) {
  const writer = new ByteWriter(Buffer.allocUnsafe(writer_bytes))
  writer.skip(rowHeader_bytes)
  rowWriters[kind](writer, draft, message_id)
  writer.putU8(0, rowKinds.indexOf(kind) + 1)
  writer.putU32(1, writer.at - rowHeader_bytes)
  return writer.written()
}
