import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { IngestRequestDeps } from './deps.ts'
import { findRequest } from './request-row.ts'
import { recordOfReceipt, recordOfRow, statusRecordSchema } from './status-record.ts'
import { requestHeaders } from './take-batch.ts'

/** GET /api/v2/observability/ingest/{ingest_request_id}: what a request came to, however it came. */
export function getIngestRequest({ db, receipts }: IngestRequestDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/ingest/{ingest_request_id}',
    id: 'getIngestRequest',
    summary: 'What became of an ingest request: batch, OTLP export or proxied call',
    auth: 'jwt_or_key',
    scope: {
      level: 'project',
      role: 'viewer',
      key: ['ingest:write', 'traces:read', 'query:run'],
    },
    params: z.strictObject({
      ingest_request_id: z
        .guid({ error: 'expected the UUID of X-Ingest-Request-ID' })
        .describe('What the header X-Ingest-Request-ID said.'),
    }),
    reply: statusRecordSchema,
    errors: ['ingest_request_not_found'],
    handle: async ({ params, caller }) => {
      const id = params.ingest_request_id.toLowerCase()
      const row = await findRequest(db, caller.project_id, id)
      const record = row
        ? recordOfRow(row)
        : recordOfReceipt(await receipts.receipt(caller.project_id, id))
      if (record === undefined) {
        throw problem('ingest_request_not_found', { detail: `There is no ingest request ${id}` })
      }
      return new Answer(record, { headers: requestHeaders(id) })
    },
  })
}
