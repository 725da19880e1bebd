import type { Route } from '../../platform/http/index.ts'
import type { CorrelationDeps } from './correlation-deps.ts'
import { addCorrelations } from './correlations.ts'
import { searchCorrelations } from './search.ts'
import { listTraceCorrelations } from './trace-correlations.ts'

/** The routes of correlations. */
export function correlationRoutes(deps: CorrelationDeps): Route[] {
  return [addCorrelations(deps), listTraceCorrelations(deps), searchCorrelations(deps)]
}
