import type { Route } from '../../../platform/http/index.ts'
import type { IngestRequestDeps, RequestContext } from './deps.ts'
import { createGate } from './gate.ts'
import { postIngest } from './ingest.ts'
import { getIngestRequest } from './ingest-request.ts'

/** The routes under `/api/v2/observability/ingest`. */
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
