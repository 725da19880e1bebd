import type { OutboundReply } from '../../../platform/outbound/index.ts'
import type { AuditedRead } from '../events/audited-read.ts'
import type { AuditEvent } from '../events/event.ts'

/** A record with the reads that it seals. */
export type StreamedRecord = AuditEvent & { reads?: readonly AuditedRead[]; left_out?: true }

/** A message of records, ready to be sent. */
type StreamMessage = { body: string | Uint8Array; headers: Readonly<Record<string, string>> }

/** A server outside of the service that receives records: its address and its format. */
export type StreamReceiver = {
  /** Names the position of the stream in the store, and the stream in metrics. */
  name: 'webhook' | 'otlp'
  /** May contain a secret. It must not be logged. */
  url: string
  /** Returns a record in the receiver's format. */
  encode(record: StreamedRecord): string | Uint8Array
  /** Returns the message of encoded records. `id` is equal for equal records. */
  toMessage(
    encoded: readonly (string | Uint8Array)[],
    about: { id: string; now_ms: number },
  ): StreamMessage
  /** Returns how many records the receiver refused in an accepted message, and its reason. */
  readRefused?(reply: OutboundReply): { records: number; reason: string } | undefined
}

/**
 * Returns a record without values that callers chose, so that a receiver cannot refuse it for its
 * size or content. Its hashes identify the complete record in the store.
 */
export function withoutDetails(record: StreamedRecord): StreamedRecord {
  const { reads: _reads, ...kept } = record
  return { ...kept, resource_id: null, origin: null, change: null, left_out: true }
}
