import type { Route } from '../../../platform/http/index.ts'
import type { IncidentRoutesDeps } from './contract.ts'
import {
  deleteIncidentRule,
  getIncidentRule,
  listIncidentRules,
  postIncidentRule,
  putIncidentRule,
} from './rules/rules.ts'

/** The routes of rules, suppressions, incidents and alerts. */
export function incidentRoutes(deps: IncidentRoutesDeps): Route[] {
  return [
    listIncidentRules(deps),
    postIncidentRule(deps),
    getIncidentRule(deps),
    putIncidentRule(deps),
    deleteIncidentRule(deps),
  ]
}
