import { hash } from 'node:crypto'
import { backOff } from '../../../kernel/back-off.ts'
import {
  type Outbound,
  OutboundFailed,
  type OutboundReply,
  portsOf,
} from '../../../platform/outbound/index.ts'
import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import { toAuditedRead } from '../api/reads.ts'
import { type RecordRow, toEvent } from '../events/event.ts'
import { selectSegment } from '../events/store.ts'
import { type StreamedRecord, type StreamReceiver, withoutDetails } from './receiver.ts'
import {
  lockStream,
  readNext,
  type StreamPosition,
  type StreamState,
  writeCursors,
  writeState,
} from './store.ts'

type Db = Kysely<AuditTables>

/** Limits of the requests of a stream. */
export type StreamLimits = {
  records_max: number
  /** Bytes of a body. One record may exceed it, with the up to 1,000 reads that it seals. */
  body_bytes_max: number
  timeout_ms: number
}

/** Reduced limits after a receiver refused a body. */
export type ForcedLimits = { records_max: number; leavesOut: boolean }

export type SendOptions = {
  db: Db
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
 * the receiver refused the content of this many records.
 */
export type SendResult =
  | { kind: 'idle' | 'busy' }
  | { kind: 'sent'; records: number; refused?: { records: number; reason: string } }
  | { kind: 'refused'; records: number; status: number }
  | { kind: 'failed'; reason: FailureReason; detail: string; wait_ms: number }

export type FailureReason = 'status' | 'connection' | 'timeout' | 'guard' | 'content'

/**
 * Sends the next batch of a stream, and moves its cursors once the receiver has accepted it. The
 * lock of the stream is held meanwhile, so only one worker sends, and an erasure can wait for the
 * request that may still have erased values. A worker that is killed before the cursors move leaves
 * a batch that is sent again. Rejects only if a store is unavailable, or the signal aborts.
 */
export function sendBatch(options: SendOptions): Promise<SendResult> {
  const { db, receiver, limits, now_ms } = options
  return db.transaction().execute(async (trx) => {
    const idle_ms_max = limits.timeout_ms + idleMargin_ms
    const state = await lockStream(trx, { name: receiver.name, idle_ms_max })
    if (state === undefined) return { kind: 'busy' }
    if (state.next_attempt_ms > now_ms) return { kind: 'idle' }
    const batch = await readBatch(trx, options)
    if (batch.positions.size === 0) return { kind: 'idle' }
    const result = await send(batch, state, options)
    await settle(trx, { batch, state, result }, options)
    return result
  })
}

/** Time beyond the time-out of a request after which PostgreSQL ends an idle transaction. */
const idleMargin_ms = 10_000

/** Maximum reads in a batch. At least one segment, which has up to 1,000 reads, fits. */
const reads_max = 2_000

/** Encoded records, and the last number of each chain among them. */
type Batch = {
  encoded: (string | Uint8Array)[]
  positions: Map<string, number>
  id: string
}

async function readBatch(trx: Db, { receiver, limits, forced }: SendOptions): Promise<Batch> {
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
  batch: Batch,
  { attempts }: StreamState,
  { receiver, outbound, limits, forced, now_ms, random, signal }: SendOptions,
): Promise<SendResult> {
  const fail = (reason: FailureReason, detail: string, retry_after_ms = 0): SendResult => {
    const wait_ms = Math.max(backOff(retries, attempts + 1, random), retry_after_ms)
    return { kind: 'failed', reason, detail, wait_ms }
  }
  const { url } = receiver
  try {
    const reply = await outbound.send({
      ...{ url, method: 'POST', ...receiver.toMessage(batch.encoded, { id: batch.id, now_ms }) },
      ...{ timeout_ms: limits.timeout_ms, cut_at_bytes: answer_bytes_max },
      ...{ public_ports: portsOf(url), signal },
    })
    const { status } = reply
    const records = batch.encoded.length
    if (isAccepted(reply)) {
      const refused = receiver.readRefused?.(reply)
      return { kind: 'sent', records, ...(refused && { refused }) }
    }
    const isMinimal = records === 1 && forced.leavesOut
    if (contentStatuses.includes(status) && !isMinimal) return { kind: 'refused', records, status }
    const reason = contentStatuses.includes(status) ? 'content' : 'status'
    return fail(reason, `the receiver answered ${status}`, retryAfterMs(reply))
  } catch (error) {
    if (!(error instanceof OutboundFailed) || error.code === 'aborted') throw error
    return fail(reasons[error.code] ?? 'connection', error.message)
  }
}

const reasons: Partial<Record<OutboundFailed['code'], FailureReason>> = {
  refused: 'guard',
  timeout: 'timeout',
}

/** Waits between failed requests. All workers share them. */
const retries = { base_ms: 1_000, max_ms: 60_000, jitter: -0.5 }

/** Maximum wait that a receiver can ask for. */
const retryAfter_ms_max = 10 * 60_000

const answer_bytes_max = 64 * 1024

/** Statuses that refuse the content of a body: the next body is smaller. */
const contentStatuses = [400, 413, 422]

/** A page in HTML is the answer of a proxy or a sign-in page, not of a receiver. */
function isAccepted({ status, headers }: OutboundReply): boolean {
  const isPage = String(headers['content-type'] ?? '').startsWith('text/html')
  return status >= 200 && status < 300 && !isPage
}

/** Reads Retry-After in seconds. A date is not read: the schedule of retries applies. */
function retryAfterMs({ headers }: OutboundReply): number {
  const header = headers['retry-after']
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header)) return 0
  return Math.min(Number(header) * 1_000, retryAfter_ms_max)
}

type Settlement = { batch: Batch; state: StreamState; result: SendResult }

async function settle(
  trx: Db,
  { batch, state, result }: Settlement,
  { receiver: { name }, now_ms }: SendOptions,
): Promise<void> {
  if (result.kind === 'failed') {
    const next_attempt_ms = now_ms + result.wait_ms
    await writeState(trx, name, { attempts: state.attempts + 1, next_attempt_ms })
  }
  if (result.kind !== 'sent') return
  const positions: StreamPosition[] = [...batch.positions].map(([chain_id, seq]) => {
    return { chain_id, seq }
  })
  await writeCursors(trx, name, { positions, now: new Date(now_ms) })
  if (state.attempts > 0) await writeState(trx, name, { attempts: 0, next_attempt_ms: 0 })
}
