import type { Route } from '../../platform/http/index.ts'
import { runAggregateRoute } from './aggregate.ts'
import { explainRoute } from './explain.ts'
import { runQueryRoute } from './query.ts'
import type { RunDeps } from './run/run-query.ts'

/** The routes of queries. */
export function queryRoutes(deps: RunDeps): Route[] {
  return [runQueryRoute(deps), runAggregateRoute(deps), explainRoute(deps)]
}
