import { newId } from '../../../kernel/ids.ts'
import { poll } from '../../../kernel/poll.ts'
import { Problem, problem } from '../../../kernel/problem.ts'
import type { IngestRecords } from '../../../model/ingest-records.ts'
import { recordKinds } from '../../records/schema/index.ts'
import type { Batch } from './batch.ts'
import { createBodyHash } from './body-hash.ts'
import { inSlices, type ReadRecords, readRecords } from './read-records.ts'
import type { RequestContext } from './request-context.ts'
import {
  type ClaimOutcome,
  claimBatch,
  countReplay,
  markPublished,
  type Published,
  releaseClaim,
} from './store.ts'
import { toDrafts } from './to-drafts.ts'

/**
 * Publishes a batch, once for its key. Resolves with the id of its request when the batch is
 * durable in the queue. Throws `idempotency_conflict`, `overloaded` or `store_unavailable`; after
 * the last two the call may be repeated without duplicating anything. Errors carry the id of the
 * request that holds the key, if there is one, as answers do.
 */
export async function takeBatch(
  context: RequestContext,
  batch: Batch,
  caller: { project_id: string; signal: AbortSignal },
): Promise<string> {
  if (!context.items.enter(batch.items)) throw overloaded('Too many records are in flight')
  try {
    return await take(context, batch, caller)
  } finally {
    context.items.leave(batch.items)
  }
}

async function take(
  context: RequestContext,
  batch: Batch,
  { project_id, signal }: { project_id: string; signal: AbortSignal },
): Promise<string> {
  const { body_hash, too_deep } = await hashBatch(batch)
  const claim = newClaim(batch, { project_id, body_hash })
  const outcome = await claimOrWait(context, claim, signal)
  if (outcome.state === 'conflict') {
    throw problem('idempotency_conflict', {
      detail: `idempotency_key: ${JSON.stringify(claim.idempotency_key)} belongs to another batch`,
      headers: requestHeaders(outcome.ingest_request_id),
    })
  }
  if (outcome.state === 'busy') {
    const busy = overloaded('Another call is still processing this batch')
    throw busy.withHeaders(requestHeaders(outcome.ingest_request_id))
  }
  const { ingest_request_id } = outcome
  if (outcome.state === 'published') {
    await countReplay(context.db, ingest_request_id)
    return ingest_request_id
  }
  const received_at_ms = Date.parse(outcome.first_seen_at)
  try {
    const read = await readRecords(batch, too_deep)
    const request = { project_id, ingest_request_id, received_at_ms }
    const published = await publish(context, { batch, read, request })
    await markPublished(context.db, ingest_request_id, published)
  } catch (error) {
    // If the store is what failed, the claim expires by itself.
    await releaseClaim(context.db, claim.claim_id, ingest_request_id).catch(() => undefined)
    throw error instanceof Problem ? error.withHeaders(requestHeaders(ingest_request_id)) : error
  }
  return ingest_request_id
}

/** Returns the header with the id of the request; no header when the id is unknown. */
export function requestHeaders(ingest_request_id: string | undefined): Record<string, string> {
  return ingest_request_id === undefined ? {} : { 'x-ingest-request-id': ingest_request_id }
}

function overloaded(detail: string) {
  return problem('overloaded', { detail: `${detail}; try again`, retry_after_s: 1 })
}

async function hashBatch(batch: Batch): Promise<{ body_hash: Buffer; too_deep: Set<string> }> {
  const hash = createBodyHash()
  const too_deep = new Set<string>()
  hash.add([batch.schema.version, batch.w3c_of_body])
  for (const kind of recordKinds) {
    const list = batch.lists[kind]
    hash.add([kind, list.length])
    await inSlices(list.length, (index) => {
      if (!hash.add(list[index])) too_deep.add(`${kind}/${index}`)
    })
  }
  return { body_hash: hash.digest(), too_deep }
}

function newClaim(batch: Batch, identity: { project_id: string; body_hash: Buffer }) {
  const ingest_request_id = newId()
  return {
    ...identity,
    ingest_request_id,
    idempotency_key: batch.idempotency_key ?? `request-${ingest_request_id}`,
    schema_version: batch.schema.version,
    items: batch.items,
    claim_id: newId(),
  }
}

/**
 * Claims the key. Waits while another call publishes the same batch, so that both answers are true.
 */
async function claimOrWait(
  { db, settings, waiters }: RequestContext,
  claim: ReturnType<typeof newClaim>,
  signal: AbortSignal,
): Promise<ClaimOutcome> {
  const ask = () => claimBatch(db, claim, settings.take_over_after_ms)
  const first = await ask()
  if (first.state !== 'busy' || !waiters.enter(1)) return first
  try {
    const wait_ms_max = settings.claim_wait_ms_max
    return await poll(ask, ({ state }) => state !== 'busy', { wait_ms_max, signal })
  } finally {
    waiters.leave(1)
  }
}

type Taken = {
  batch: Batch
  read: ReadRecords
  request: { project_id: string; ingest_request_id: string; received_at_ms: number }
}

async function publish(context: RequestContext, taken: Taken): Promise<Published> {
  const { batch, read, request } = taken
  const caller = { ...request, w3c: batch.w3c, pricing: context.pricing }
  const drafts = await toDrafts(read, caller)
  // Correlations from W3C fields are records of their own, so the ledger counts them as items
  // too.
  const added = recordsIn(drafts) - (batch.items - read.rejected)
  const captured =
    (await context.capture?.(drafts, request.project_id, recordKinds)) ?? uncaptured(drafts)
  const leftOut: Record<string, number> = { ...captured.rejected }
  const messages_total = await context.enqueuer.enqueue(
    {
      ...request,
      path: 'api',
      items: batch.items + added,
      rejected: countRejected(captured.rejected, read.rejected),
      masked: captured.masked,
      records: captured.records,
      every_record_is_an_item: true,
    },
    {
      alone: true,
      on_refused: (_kind, _index, reason) => {
        leftOut[reason] = (leftOut[reason] ?? 0) + 1
      },
    },
  )
  return {
    messages_total,
    rejected: read.rejected + sumOf(leftOut),
    errors: read.errors,
    errors_left_out: read.errors_left_out,
    error_reason: reasonOf(taken, leftOut),
  }
}

function uncaptured(records: IngestRecords) {
  return { records, rejected: {}, masked: 0 }
}

function recordsIn(records: IngestRecords): number {
  return recordKinds.reduce((total, kind) => total + records[kind].length, 0)
}

function countRejected(captured: Readonly<Record<string, number>>, invalid: number) {
  return invalid === 0 ? captured : { ...captured, invalid_record: invalid }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, amount) => total + amount, 0)
}

function reasonOf({ batch, read }: Taken, left: Readonly<Record<string, number>>): string | null {
  const reasons = Object.entries(left).map(([reason, amount]) => `${amount} left out: ${reason}`)
  const [first] = read.errors
  if (first !== undefined) {
    const which = read.rejected === batch.items ? 'no record is' : `${read.rejected} are not`
    reasons.unshift(`${which} valid, first ${first.pointer}: ${first.detail}`)
  }
  return reasons.length === 0 ? null : reasons.join('; ').replaceAll('\u0000', '')
}
