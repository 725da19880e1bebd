import type { IngestRecords, Text } from '../../../model/ingest-records.ts'
import type { FrameReceipt, RowKind } from '../../../model/row-frame.ts'
import type { EnqueueOptions, IngestRequest } from './contract.ts'

const receipt_bytes = 400

/** A request in flight, with its progress. */
export class PendingRequest {
  readonly request: IngestRequest
  readonly options: EnqueueOptions
  /** Estimated bytes that it holds in memory. */
  readonly held_bytes: number
  /** Maximum bytes of one of its receipts in a trailer. */
  readonly receipt_bytes: number
  /** Resolves with the number of messages. */
  readonly settled: Promise<number>
  /** The id of the frame with its latest row. */
  lastMessageId = ''
  /** Number of frames with rows of it. */
  messages = 0
  /** Of those, the frames that are neither durable nor failed yet. */
  underWay = 0
  isEncoded = false
  /** Why a part of it is not durable. */
  failure: unknown
  /** Rejected items by reason: those of the edge, and rows that no message can carry. */
  readonly refused: Record<string, number>
  resolve: (messages: number) => void = () => undefined
  reject: (failure: unknown) => void = () => undefined
  #messageIndex = 0
  /** Items that no receipt contains yet. */
  #items_left: number
  /** Of those, the items without a row. */
  #itemsWithoutRow: number

  constructor(request: IngestRequest, held_bytes: number, options: EnqueueOptions) {
    this.request = request
    this.options = options
    this.held_bytes = held_bytes
    this.refused = { ...request.rejected }
    const refused_items = sumOf(request.rejected)
    const rejected_bytes = refused_items > 0 ? JSON.stringify(request.rejected).length : 0
    this.receipt_bytes = receipt_bytes + rejected_bytes
    this.#items_left = Math.max(0, request.items - refused_items)
    this.#itemsWithoutRow = Math.max(0, this.#items_left - countItemRows(request))
    this.settled = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  /**
   * Returns the receipt for its part of the next message; the first one also has the counts that
   * must appear once.
   */
  newReceipt(): FrameReceipt {
    const { request } = this
    const isFirst = this.messages === 0
    return {
      ingest_request_id: request.ingest_request_id,
      path: request.path,
      received_at_ms: request.received_at_ms,
      items: isFirst ? this.#itemsWithoutRow : 0,
      rows: 0,
      records: { observations: 0, traces: 0, events: 0, links: 0, correlations: 0 },
      masked: isFirst ? request.masked : 0,
      rejected: isFirst ? request.rejected : {},
    }
  }

  /** Records that a message has taken a part of the request. */
  join(receipt: FrameReceipt): void {
    this.#items_left -= receipt.items
    this.messages += 1
    this.underWay += 1
  }

  /** Counts a row in the receipt of its message. */
  count(receipt: FrameReceipt, kind: RowKind): void {
    receipt.rows += 1
    receipt.records[kind] += 1
    if (this.#isItem(kind)) {
      receipt.items += 1
      this.#items_left -= 1
    }
  }

  /** Counts a row that no message can carry. */
  refuse(kind: RowKind, reason: string): void {
    if (!this.#isItem(kind)) return
    this.#items_left -= 1
    this.refused[reason] = (this.refused[reason] ?? 0) + 1
  }

  /** Returns rejected items by reason, including those of a request without rows. */
  allRefused(): Readonly<Record<string, number>> {
    if (this.#items_left === 0) return this.refused
    return { ...this.refused, no_records: this.#items_left }
  }

  /** Returns the index of its next message, published or not. */
  takeMessageIndex(): number {
    this.#messageIndex += 1
    return this.#messageIndex - 1
  }

  #isItem(kind: RowKind): boolean {
    const mayBe = kind === 'observations' || this.request.every_record_is_an_item === true
    return mayBe && this.#items_left > 0
  }
}

/** Returns the sum of counts by reason. */
export function sumOf(counts: Readonly<Record<string, number>>): number {
  let sum = 0
  for (const reason in counts) sum += counts[reason] ?? 0
  return sum
}

function countItemRows({ records, every_record_is_an_item }: IngestRequest): number {
  if (every_record_is_an_item !== true) return records.observations.length
  const { observations, traces, events, links, correlations } = records
  return observations.length + traces.length + events.length + links.length + correlations.length
}

/** Estimated bytes of a record beside its content and labels; deliberately high. */
const record_bytes = 1024

/** Estimates the memory that the records of a request hold until they are durable. */
export function estimateBytes(records: IngestRecords): number {
  let bytes = 0
  for (const { input, output, attributes, metadata } of records.observations) {
    bytes += record_bytes + input.length + output.length + lengthOf(attributes) + lengthOf(metadata)
  }
  for (const { input, output, metadata } of records.traces) {
    bytes += record_bytes + input.length + output.length + lengthOf(metadata)
  }
  for (const event of records.events) {
    bytes += record_bytes + event.body.length + lengthOf(event.attributes)
  }
  for (const { attributes } of records.links) bytes += record_bytes + lengthOf(attributes)
  for (const { metadata } of records.correlations) bytes += record_bytes + lengthOf(metadata)
  return bytes
}

function lengthOf(texts: readonly Text[]): number {
  let length = 0
  for (let index = 0; index < texts.length; index++) length += texts[index]?.length ?? 0
  return length
}
