import { z } from 'zod'
import { newId } from '../../kernel/ids.ts'
import { ingestPaths } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { BatchHandler, Delivery } from '../../platform/queue/index.ts'
import type { LedgerStore } from '../storage/index.ts'
import type { IngestMeters } from './meters.ts'
import { classifyFailure, type RetryContext, retryOutages } from './store-failures.ts'

type LedgerPorts = RetryContext & {
  ledger: Pick<LedgerStore, 'insertEntries'>
  meters: IngestMeters
}

/**
 * Makes the handler of messages of the kind `ledger`, with the entries of edges. One insert writes
 * the entries of a batch. An invalid message is dead-lettered, and so is one whose entries the
 * store refuses. A redelivered message replaces its own entries.
 */
export function ledgerBatches(ports: LedgerPorts, stopping: AbortSignal): BatchHandler {
  return async (batch, signal) => {
    const either = AbortSignal.any([signal, stopping])
    const read = batch.map((delivery) => ({ delivery, ...readLedgerMessage(delivery) }))
    for (const { delivery, fault } of read) {
      if (fault !== undefined) await deadLetter(ports, delivery, fault)
    }
    const good = read.filter(({ fault }) => fault === undefined)
    try {
      await insert(
        ports,
        good.flatMap(({ entries }) => entries),
        either,
      )
    } catch (error) {
      if (classifyFailure(error) !== 'refused') throw error
      return insertEach(ports, good, either)
    }
    await Promise.all(good.map(({ delivery }) => delivery.ack()))
  }
}

async function insert(
  ports: LedgerPorts,
  entries: readonly LedgerEntry[],
  signal: AbortSignal,
): Promise<void> {
  if (entries.length === 0) return
  const token = newId()
  await retryOutages(ports, signal, () => ports.ledger.insertEntries(entries, { token }))
  ports.meters.ledger_entries.inc({ side: 'accepted' }, entries.length)
}

/** Inserts message by message, to find the one that the store refuses. */
async function insertEach(
  ports: LedgerPorts,
  messages: readonly { delivery: Delivery; entries: LedgerEntry[] }[],
  signal: AbortSignal,
): Promise<void> {
  for (const { delivery, entries } of messages) {
    try {
      await insert(ports, entries, signal)
      await delivery.ack()
    } catch (error) {
      if (classifyFailure(error) !== 'refused') throw error
      await deadLetter(ports, delivery, String(error))
    }
  }
}

async function deadLetter({ logger, meters }: LedgerPorts, delivery: Delivery, reason: string) {
  logger.error({ message_id: delivery.id, reason }, 'a ledger message was dead-lettered')
  await delivery.bury(reason)
  meters.poisoned.inc()
}

/**
 * Reads the entries of a message `{"entries": […]}`, or the fault of an invalid one. Never throws.
 */
function readLedgerMessage(delivery: Delivery): { entries: LedgerEntry[]; fault?: string } {
  try {
    const { data, subject } = delivery
    const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString('utf8')
    const { entries } = messageSchema.parse(JSON.parse(text))
    const stranger = entries.find(({ project_id }) => !subject.endsWith(`.${project_id}`))
    if (stranger === undefined) return { entries }
    return { entries: [], fault: `an entry of project ${stranger.project_id} on ${subject}` }
  } catch (error) {
    return { entries: [], fault: faultOf(error) }
  }
}

function faultOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    return `${issue?.path.join('.')}: ${issue?.message}`
  }
  return error instanceof Error ? error.message : String(error)
}

const count = z.int().nonnegative()
const counts = z.record(z.string().max(128), count)

const messageSchema = z.object({
  entries: z.array(
    z.object({
      project_id: z.uuid(),
      ingest_request_id: z.uuid(),
      message_id: z.string().max(200),
      side: z.literal('accepted'),
      path: z.enum(ingestPaths),
      received_at_ms: count,
      items: count,
      stored: count,
      rejected: counts,
      lost: counts,
      masked: count,
      records: z.object({
        traces: count,
        observations: count,
        events: count,
        links: count,
        correlations: count,
      }),
      attempts: count,
      settled_at_ms: count,
      error_reason: z.string(),
    }),
  ),
})
