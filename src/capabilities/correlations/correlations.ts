import { z } from 'zod'
import { backOff } from '../../kernel/back-off.ts'
import { newId } from '../../kernel/ids.ts'
import { sleep } from '../../kernel/time.ts'
import type { CorrelationDraft } from '../../model/ingest-records.ts'
import { flagParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../platform/http/index.ts'
import type { CorrelationDeps } from './correlation-deps.ts'
import { correlationDrafts, takenFrom } from './correlation-drafts.ts'
import { correlationSchema } from './correlation-record.ts'
import { correlationsBody } from './correlations-body.ts'

/**
 * POST /api/v2/observability/correlations: names traces and observations as others know them. The
 * trace need not be known yet. The same correlation sent again replaces itself.
 */
export function addCorrelations(deps: CorrelationDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/correlations',
    id: 'addCorrelations',
    summary: 'Names traces and observations as others know them',
    status: 202,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'ingest:write' },
    query: querySchema,
    body: correlationsBody,
    reply: replySchema,
    errors: ['overloaded', 'store_unavailable'],
    handle: async ({ body, query, caller: { project_id }, signal }) => {
      const ingest_request_id = newId()
      const received_at_ms = deps.clock.now_ms()
      const drafts = correlationDrafts(body, { project_id, received_at_ms })
      const captured = await capturedOf(deps, drafts, project_id)
      const { correlations } = captured.records
      const messages = await deps.enqueue({
        project_id,
        path: 'api',
        ingest_request_id,
        received_at_ms,
        items: drafts.length,
        ...captured,
        every_record_is_an_item: true,
      })
      const request = { project_id, ingest_request_id, items: correlations.length, messages }
      const stored = query.wait === true && (await onceStored(deps, request, signal))
      const reply = {
        ingest_request_id,
        stored,
        correlations: correlations.map(takenFrom),
      }
      return new Answer(reply, { headers: { 'X-Ingest-Request-ID': ingest_request_id } })
    },
  })
}

/** What the project's policy lets be kept; the reply shows no more than that. */
function capturedOf({ capture }: CorrelationDeps, all: CorrelationDraft[], project_id: string) {
  const records = { traces: [], observations: [], events: [], links: [], correlations: all }
  if (capture === undefined) return { records, rejected: {}, masked: 0 }
  return capture(records, project_id, ['correlations'])
}

const querySchema = z.strictObject({
  wait: flagParameter('`true`: answers once they are stored, or after 10 s.'),
})

const replySchema = record('AddedCorrelations', {
  ingest_request_id: z.guid().describe('The receipt; also in `X-Ingest-Request-ID`.'),
  stored: z
    .boolean()
    .describe('All are stored and can be read. `false`: they are durable, and will be soon.'),
  correlations: z
    .array(correlationSchema)
    .describe('As they were taken; without what the capture policy keeps out.'),
})

const wait_ms_max = 10_000
/** Between look-ups in the ledger. */
const lookUpBackOff = { base_ms: 50, max_ms: 1_000 }

type Enqueued = { project_id: string; ingest_request_id: string; items: number; messages: number }

/** Waits for the worker's side of the receipt; true when every item is stored. */
async function onceStored(
  { ledger }: CorrelationDeps,
  { project_id, ingest_request_id, items, messages }: Enqueued,
  signal: AbortSignal,
): Promise<boolean> {
  let waited_ms = 0
  for (let lookUp = 1; ; lookUp += 1) {
    const pause_ms = backOff(lookUpBackOff, lookUp)
    waited_ms += pause_ms
    if (waited_ms > wait_ms_max) return false
    await sleep(pause_ms, signal)
    if (signal.aborted) return false
    const receipt = await ledger.receipt(project_id, ingest_request_id)
    const settled = receipt.filter(({ side }) => side === 'settled')
    if (settled.length >= messages) {
      return settled.reduce((sum, { stored }) => sum + stored, 0) >= items
    }
  }
}
