import { hash } from 'node:crypto'
import { backOff } from '../../../kernel/back-off.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import { toAuditedRead } from '../events/audited-read.ts'
import { type RecordRow, toEvent } from '../events/event.ts'
import { selectSegment } from '../events/store.ts'
import { answered, type FailureReason, type PostOptions, post } from './post.ts'
import { type StreamedRecord, type StreamReceiver, withoutDetails } from './receiver.ts'
import { forgetRefusals, judgeRefusal } from './refusals.ts'
import {
  lockStream,
  readNext,
  type StreamDb,
  type StreamPosition,
  type StreamState,
  writeCursors,
  writeState,
} from './store.ts'

/** Limits of the requests of a stream. */
export type StreamLimits = {
  records_max: number
  /** Bytes of a body. One record may exceed it, with the up to 1,000 reads that it seals. */
  body_bytes_max: number
  timeout_ms: number
}

/** An erasure of personal data waits for a request that is under way, so requests are short. */
export const defaultStreamLimits: StreamLimits = {
  records_max: 500,
  body_bytes_max: 1024 * 1024,
  timeout_ms: 10_000,
}

/** Reduced limits after a receiver refused a body. */
export type ForcedLimits = { records_max: number; leavesOut: boolean }

export type SendOptions = {
  db: StreamDb
  outbound: Outbound
  receiver: StreamReceiver
  limits: StreamLimits
  forced: ForcedLimits
  now_ms: number
  random: () => number
  signal: AbortSignal
}

/**
 * Result of a pass. `idle`: there is nothing to send now. `busy`: another worker sends. `refused`:
 * the receiver refused the content of this many records. `set_aside`: the stream goes on without a
 * record that the receiver refused.
 */
export type SendResult =
  | { kind: 'idle' | 'busy' }
  | { kind: 'sent'; records: number; refused?: { records: number; reason: string } }
  | { kind: 'refused'; records: number; status: number }
  | { kind: 'failed'; reason: FailureReason | 'content'; detail: string; wait_ms: number }
  | ({ kind: 'set_aside'; status: number; attempts: number } & StreamPosition)

/**
 * Sends the next batch of a stream, and moves its cursors once the receiver has accepted it. The
 * lock of the stream is held meanwhile, so only one worker sends, and an erasure can wait for the
 * request that may still have erased values. A worker that is killed before the cursors move leaves
 * a batch that is sent again. Rejects only if a store is unavailable, or the signal aborts.
 */
export function sendBatch(options: SendOptions): Promise<SendResult> {
  const { db, receiver, limits, now_ms } = options
  return db.transaction().execute(async (trx) => {
    const idle_ms_max = limits.timeout_ms + idleMarginMs
    const state = await lockStream(trx, { name: receiver.name, idle_ms_max })
    if (state === undefined) return { kind: 'busy' }
    if (state.next_attempt_ms > now_ms) return { kind: 'idle' }
    const batch = await readBatch(trx, options)
    if (batch.positions.size === 0) return { kind: 'idle' }
    const result = await send(trx, { batch, state }, options)
    await settle(trx, { batch, state, result }, options)
    return result
  })
}

/** Time beyond the time-out of a request after which PostgreSQL ends an idle transaction. */
const idleMarginMs = 10_000

/** Maximum reads in a batch. At least one segment, which has up to 1,000 reads, fits. */
const reads_max = 2_000

/** Encoded records, and the last number of each chain among them. */
type Batch = {
  encoded: (string | Uint8Array)[]
  positions: Map<string, number>
  id: string
}

async function readBatch(trx: StreamDb, { receiver, limits, forced }: SendOptions): Promise<Batch> {
  const records_max = Math.min(limits.records_max, forced.records_max)
  const rows = await readNext(trx, { name: receiver.name, records_max })
  const batch: Batch = { encoded: [], positions: new Map(), id: '' }
  let bytes = 0
  for (const row of takeSegments(rows)) {
    const { chain_id, seq, segment_count } = row
    const reads = segment_count === null ? undefined : await selectSegment(trx, { chain_id, seq })
    const record: StreamedRecord = {
      ...toEvent(row),
      ...(reads && { reads: reads.map(toAuditedRead) }),
    }
    const encoded = receiver.encode(forced.leavesOut ? withoutDetails(record) : record)
    bytes += Buffer.byteLength(encoded)
    if (bytes > limits.body_bytes_max && batch.encoded.length > 0) break
    batch.encoded.push(encoded)
    batch.positions.set(chain_id, seq)
  }
  return { ...batch, id: idOf(batch.positions) }
}

/** Returns the first records whose segments together have at most `reads_max` reads. */
function takeSegments(rows: readonly RecordRow[]): readonly RecordRow[] {
  let reads = 0
  const end = rows.findIndex(({ segment_count }, at) => {
    reads += segment_count ?? 0
    return at > 0 && reads > reads_max
  })
  return end === -1 ? rows : rows.slice(0, end)
}

/** Returns an id that is equal for batches that end at the same records. */
function idOf(positions: ReadonlyMap<string, number>): string {
  return `audit_${hash('sha256', JSON.stringify([...positions])).slice(0, 32)}`
}

async function send(
  trx: StreamDb,
  { batch, state }: { batch: Batch; state: StreamState },
  { receiver, outbound, limits, forced, now_ms, random, signal }: SendOptions,
): Promise<SendResult> {
  const { attempts } = state
  const posting: PostOptions = {
    receiver,
    outbound,
    now_ms,
    signal,
    attempts,
    timeout_ms: limits.timeout_ms,
  }
  const records = batch.encoded.length
  const answer = await post(batch, posting)
  if (answer.kind === 'accepted') {
    return { kind: 'sent', records, ...(answer.refused && { refused: answer.refused }) }
  }
  const wait_ms = Math.max(backOff(retries, attempts + 1, random), answer.retry_after_ms)
  if (answer.kind === 'failed') return { ...answer, wait_ms }
  const { status } = answer
  const [position, encoded] = [batch.positions.entries().next().value, batch.encoded[0]]
  const isMinimal = records === 1 && forced.leavesOut
  if (!isMinimal || position === undefined || encoded === undefined) {
    return { kind: 'refused', records, status }
  }
  const [chain_id, seq] = position
  const refused = { id: batch.id, chain_id, seq, encoded, status }
  const judged = await judgeRefusal(trx, { refused, state }, posting)
  if (judged.kind === 'accepted') return { kind: 'sent', records }
  if (judged.kind === 'set_aside') return { ...judged, chain_id, seq, status }
  return { kind: 'failed', reason: 'content', detail: answered(status), wait_ms }
}

/** Waits between failed requests. All workers share them. */
const retries = { base_ms: 1_000, max_ms: 60_000, jitter: -0.5 }

type Settlement = { batch: Batch; state: StreamState; result: SendResult }

async function settle(
  trx: StreamDb,
  { batch, state, result }: Settlement,
  { receiver: { name }, now_ms }: SendOptions,
): Promise<void> {
  if (result.kind === 'failed') {
    const next_attempt_ms = now_ms + result.wait_ms
    await writeState(trx, name, { ...state, attempts: state.attempts + 1, next_attempt_ms })
  }
  if (result.kind !== 'sent' && result.kind !== 'set_aside') return
  const positions = [...batch.positions].map(([chain_id, seq]) => ({ chain_id, seq }))
  await writeCursors(trx, name, { positions, now: new Date(now_ms) })
  const set_aside_in_row = result.kind === 'sent' ? 0 : state.set_aside_in_row + 1
  if (state.attempts > 0) await forgetRefusals(trx, name)
  if (state.attempts > 0 || set_aside_in_row !== state.set_aside_in_row) {
    await writeState(trx, name, { attempts: 0, next_attempt_ms: 0, set_aside_in_row })
  }
}
