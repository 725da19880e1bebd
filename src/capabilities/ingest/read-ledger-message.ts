import { z } from 'zod'
import { ingestPaths } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { Delivery } from '../../platform/queue/index.ts'

/** The entries of a message `{"entries": […]}`, or why it is none. Never throws. */
export function readLedgerMessage(delivery: Delivery): { entries: LedgerEntry[]; fault?: string } {
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
