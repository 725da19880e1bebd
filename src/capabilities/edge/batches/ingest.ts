import { z } from 'zod'
import { poll } from '../../../kernel/poll.ts'
import { problem } from '../../../kernel/problem.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import { batchFrom, batchSchema } from './batch.ts'
import type { IngestRequestDeps, RequestContext } from './request-context.ts'
import {
  hasEnded,
  type StatusRecord,
  statusFromReceipt,
  statusFromRow,
  statusRecordSchema,
} from './request-status.ts'
import { findRequest } from './store.ts'
import { requestHeaders, takeBatch } from './take-batch.ts'

/**
 * POST /api/v2/observability/ingest: accepts a canonical batch. It answers 202 once every valid
 * record is durable in the queue; the status record lists the rejected ones.
 */
export function postIngest(context: RequestContext): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/ingest',
    id: 'ingestBatch',
    summary: 'Ingest a batch of traces, observations, events, links and correlations',
    audit: 'none',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'ingest:write' },
    status: 202,
    body_bytes_max: context.settings.body_bytes_max,
    any_json_keys: true,
    query: z.strictObject({
      wait: flagParameter('`true`: answer when the batch is settled, or after 10 s.'),
    }),
    headers: [
      {
        name: 'Idempotency-Key',
        required: false,
        description: 'Equals `idempotency_key` of the body, if both are sent.',
      },
      ...['traceparent', 'tracestate', 'baggage'].map((name) => ({
        name,
        required: false,
        description: `W3C propagation; \`${name}\` of the body takes precedence.`,
      })),
    ],
    body: batchSchema,
    reply: statusRecordSchema,
    errors: ['unknown_schema_version', 'idempotency_conflict', 'overloaded', 'shutting_down'],
    handle: async ({ body, query, headers, caller, signal }) => {
      const batch = batchFrom(body, headers)
      const { project_id } = caller
      const id = await takeBatch(context, batch, { project_id, signal })
      const record = query.wait
        ? await waitForEnd(context, { project_id, id, signal })
        : await recordNow(context, { project_id, id })
      return new Answer(record, { headers: requestHeaders(id) })
    },
  })
}

type Which = { project_id: string; id: string }

async function recordNow({ db }: RequestContext, { project_id, id }: Which): Promise<StatusRecord> {
  const row = await findRequest(db, project_id, id)
  if (row === undefined)
    throw new Error(`ingest request ${id} vanished right after it was accepted`)
  return statusFromRow(row)
}

/**
 * Waits for the end of a request. Returns its current record when the wait runs out, or when too
 * many calls wait already.
 */
async function waitForEnd(
  context: RequestContext,
  { signal, ...which }: Which & { signal: AbortSignal },
): Promise<StatusRecord> {
  const ask = () => recordNow(context, which)
  if (!context.waiters.enter(1)) return ask()
  try {
    return await poll(ask, hasEnded, { wait_ms_max: context.settings.wait_ms_max, signal })
  } finally {
    context.waiters.leave(1)
  }
}

/** GET /api/v2/observability/ingest/{ingest_request_id}: the status of a request by any way in. */
export function getIngestRequest({ db, receipts }: IngestRequestDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/ingest/{ingest_request_id}',
    id: 'getIngestRequest',
    summary: 'Get the status of an ingest request: batch, OTLP export or proxied call',
    auth: 'jwt_or_key',
    scope: {
      level: 'project',
      role: 'viewer',
      key: ['ingest:write', 'traces:read', 'query:run'],
    },
    params: z.strictObject({
      ingest_request_id: z
        .guid({ error: 'expected the UUID of X-Ingest-Request-ID' })
        .describe('The value of the header X-Ingest-Request-ID.'),
    }),
    reply: statusRecordSchema,
    errors: ['ingest_request_not_found'],
    handle: async ({ params, caller }) => {
      const id = params.ingest_request_id.toLowerCase()
      const row = await findRequest(db, caller.project_id, id)
      const record = row
        ? statusFromRow(row)
        : statusFromReceipt(await receipts.receipt(caller.project_id, id))
      if (record === undefined) {
        throw problem('ingest_request_not_found', {
          detail: `ingest_request_id: got "${id}", which is no ingest request of this project`,
        })
      }
      return new Answer(record, { headers: requestHeaders(id) })
    },
  })
}
