import { z } from 'zod'
import { poll } from '../../../kernel/poll.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import { batchFrom, batchSchema } from './batch.ts'
import type { RequestContext } from './deps.ts'
import { findRequest } from './request-row.ts'
import { hasEnded, recordOfRow, type StatusRecord, statusRecordSchema } from './status-record.ts'
import { requestHeaders, takeBatch } from './take-batch.ts'

/**
 * POST /api/v2/observability/ingest: takes a canonical batch. It answers 202 once every record that
 * is valid is durable in the queue; the record says what was not.
 */
export function postIngest(context: RequestContext): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/ingest',
    id: 'ingestBatch',
    summary: 'Take a batch of traces, observations, events, links and correlations',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'ingest:write' },
    status: 202,
    body_bytes_max: context.settings.body_bytes_max,
    any_json_keys: true,
    query: z.strictObject({
      wait: flagParameter('`true`: answer when the batch has ended, or after 10 s.'),
    }),
    headers: [
      {
        name: 'Idempotency-Key',
        required: false,
        description: 'The same as `idempotency_key` of the body, which it must not contradict.',
      },
      ...['traceparent', 'tracestate', 'baggage'].map((name) => ({
        name,
        required: false,
        description: `W3C propagation; \`${name}\` of the body goes before it.`,
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
        ? await endOf(context, { project_id, id, signal })
        : await recordNow(context, { project_id, id })
      return new Answer(record, { headers: requestHeaders(id) })
    },
  })
}

type Which = { project_id: string; id: string }

async function recordNow({ db }: RequestContext, { project_id, id }: Which): Promise<StatusRecord> {
  const row = await findRequest(db, project_id, id)
  if (row === undefined) throw new Error(`ingest request ${id} is gone though it was just taken`)
  return recordOfRow(row)
}

/** The record at its end, or as it is when the wait is over or too many wait already. */
async function endOf(
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
