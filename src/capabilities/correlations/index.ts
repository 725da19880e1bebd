import type { Route } from '../../platform/http/index.ts'
import { addCorrelations, type CorrelationDeps, listTraceCorrelations } from './correlations.ts'
import { searchCorrelations } from './search.ts'

export type { CorrelationDeps } from './correlations.ts'

/** The routes of correlations. */
export function correlationRoutes(deps: CorrelationDeps): Route[] {
  return [addCorrelations(deps), listTraceCorrelations(deps), searchCorrelations(deps)]
}
