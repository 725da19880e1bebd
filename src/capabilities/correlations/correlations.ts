import { z } from 'zod'
import { backOff } from '../../kernel/back-off.ts'
import { newId } from '../../kernel/ids.ts'
import { cutPage, encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import type { CorrelationDraft, IngestRecords } from '../../model/ingest-records.ts'
import {
  cursorParameter,
  flagParameter,
  limitParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../platform/http/index.ts'
import type { Enqueuer } from '../edge/enqueue/index.ts'
import type { Captured } from '../records/capture/index.ts'
import type { CorrelationRow, LedgerStore, RecordStore } from '../storage/index.ts'
import {
  checkTraceExists,
  orderParameter,
  pageFields,
  readPosition,
  tracePath,
} from '../traces/index.ts'
import {
  acceptedFrom,
  correlationDrafts,
  correlationFrom,
  correlationSchema,
  correlationsBody,
} from './correlation-record.ts'

/** The dependencies of the routes of correlations. */
export type CorrelationDeps = {
  records: RecordStore
  ledger: Pick<LedgerStore, 'receipt'>
  /** Makes correlations durable. Rejects with `overloaded`. */
  enqueue: Enqueuer['enqueue']
  /** Applies the project's capture policy. Without it, all is kept unchanged. */
  capture?: (
    records: IngestRecords,
    project_id: string,
    item_kinds: readonly ['correlations'],
  ) => Captured | Promise<Captured>
  clock: Clock
}

/**
 * POST /api/v2/observability/correlations: adds external ids to traces and observations. The trace
 * may arrive later. A correlation that is sent again replaces itself.
 */
export function addCorrelations(deps: CorrelationDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/correlations',
    id: 'addCorrelations',
    summary: 'Add external ids to traces and observations',
    audit: 'none',
    status: 202,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'ingest:write' },
    query: addQuery,
    body: correlationsBody,
    reply: addReply,
    errors: ['overloaded', 'store_unavailable'],
    handle: async ({ body, query, caller: { project_id }, signal }) => {
      const ingest_request_id = newId()
      const received_at_ms = deps.clock.now_ms()
      const drafts = correlationDrafts(body, { project_id, received_at_ms })
      const captured = await applyPolicy(deps, drafts, project_id)
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
      const stored = query.wait === true && (await waitUntilStored(deps, request, signal))
      const reply = {
        ingest_request_id,
        stored,
        correlations: correlations.map(acceptedFrom),
      }
      return new Answer(reply, { headers: { 'X-Ingest-Request-ID': ingest_request_id } })
    },
  })
}

/** Applies the project's capture policy. The reply shows only what the policy keeps. */
function applyPolicy({ capture }: CorrelationDeps, all: CorrelationDraft[], project_id: string) {
  const records = { traces: [], observations: [], events: [], links: [], correlations: all }
  if (capture === undefined) return { records, rejected: {}, masked: 0 }
  return capture(records, project_id, ['correlations'])
}

const addQuery = z.strictObject({
  wait: flagParameter('`true`: answers when the correlations are stored, or after 10 s.'),
})

const addReply = record('AddedCorrelations', {
  ingest_request_id: z.guid().describe('Id of the receipt; also in `X-Ingest-Request-ID`.'),
  stored: z
    .boolean()
    .describe(
      'Whether all can be read already. `false`: they are durable and will be readable soon.',
    ),
  correlations: z
    .array(correlationSchema)
    .describe('Correlations as accepted, without what the capture policy removes.'),
})

const wait_ms_max = 10_000

/** Delays between look-ups in the ledger. */
const lookUpBackOff = { base_ms: 50, max_ms: 1_000 }

type Enqueued = { project_id: string; ingest_request_id: string; items: number; messages: number }

/** Waits until the worker has settled the request. Returns true if every item is stored. */
async function waitUntilStored(
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

/** GET /api/v2/observability/traces/{trace_id}/correlations: lists the external ids of a trace. */
export function listTraceCorrelations({ records }: Pick<CorrelationDeps, 'records'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/correlations',
    id: 'listTraceCorrelations',
    summary: 'Correlations of a trace, in order of time',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: traceQuery,
    reply: traceReply,
    errors: ['trace_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      const { order, limit, cursor, type: correlation_type, observation_id } = query
      const list = `correlations of ${trace_id} ${order}`
      const filter = { correlation_type, observation_id }
      const after = cursor === undefined ? {} : { after: readPosition(list, cursor, places) }
      const [rows, total] = await Promise.all([
        records.traceCorrelations(project_id, trace_id, {
          ...filter,
          ...after,
          order,
          limit: limit + 1,
        }),
        records.countTraceCorrelations(project_id, trace_id, {
          ...filter,
          limit: totalExactMax + 1,
        }),
      ])
      if (rows.length === 0) await checkTraceExists(records, project_id, trace_id)
      const { items: page, last } = cutPage(rows, limit)
      const next = last && cursorAfter(list, last)
      return { correlations: page.map(correlationFrom), ...pageInfo(total, next ?? null) }
    },
  })
}

const places = {
  time: 'time',
  correlation_type: 'text',
  observation_id: 'text',
  value_digest: 'text',
} as const

function cursorAfter(list: string, row: CorrelationRow): string {
  const { time, correlation_type, observation_id, value_digest } = row
  return encodeCursor(list, [time.toString(), correlation_type, observation_id, value_digest])
}

const traceQuery = z.strictObject({
  type: textParameter('Returns only correlations of this type.', 64),
  observation_id: textParameter('Returns only correlations of this observation.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

const traceReply = record('TraceCorrelationList', {
  correlations: z.array(correlationSchema).describe('Correlations of the page, in order.'),
  ...pageFields,
})
