import type { Route } from '../../platform/http/index.ts'
import { compareTraces } from './comparison/comparison.ts'
import { getCriticalPath } from './critical-path/critical-path.ts'
import { listTraceEvents } from './events.ts'
import { exploreTrace } from './explorer/explorer.ts'
import { listTraceLinks } from './links.ts'
import type { TraceDeps } from './trace-deps.ts'

/** The routes under `/api/v2/observability/traces`, but for those of other capabilities. */
export function traceRoutes(deps: TraceDeps): Route[] {
  return [
    listTraceEvents(deps),
    listTraceLinks(deps),
    exploreTrace(deps),
    getCriticalPath(deps),
    compareTraces(deps),
  ]
}
