import type { Route } from '../../../platform/http/index.ts'
import { getIngestRequest, postIngest } from './ingest.ts'
import { createGate, type IngestRequestDeps, type RequestContext } from './request-context.ts'

export type { IngestRequestDeps, IngestRequestSettings } from './request-context.ts'
export { markProcessing, settleRequests } from './request-status.ts'
export { deleteExpiredIngestRequests } from './store.ts'

/** Returns the routes under `/api/v2/observability/ingest`. */
export function ingestRequestRoutes(deps: IngestRequestDeps): Route[] {
  const settings = {
    items_in_flight_max: 200_000,
    waiters_max: 256,
    wait_ms_max: 10_000,
    take_over_after_ms: 30_000,
    claim_wait_ms_max: 10_000,
    ...deps.settings,
  }
  const context: RequestContext = {
    ...deps,
    settings,
    items: createGate(settings.items_in_flight_max),
    waiters: createGate(settings.waiters_max),
  }
  return [postIngest(context), getIngestRequest(deps)]
}
