import type { Route } from '../../../platform/http/index.ts'
import { getAlertStats, getAlertSummary, listAlertRules } from './alerts/alerts.ts'
import { listHighRiskTasks } from './alerts/high-risk.ts'
import type { IncidentRoutesDeps } from './contract.ts'
import { acknowledgeIncidents } from './incidents/ack.ts'
import { getIncident, listIncidentEvents } from './incidents/incident.ts'
import { listIncidents } from './incidents/incidents.ts'
import {
  acknowledgeIncident,
  assignIncident,
  commentIncident,
  reopenIncident,
  resolveIncident,
  snoozeIncident,
  unsnoozeIncident,
} from './incidents/moves.ts'
import { defaultRouteRoutes } from './rules/default-route.ts'
import { previewIncidentRule } from './rules/preview.ts'
import { incidentRuleRoutes } from './rules/rules.ts'
import { previewSuppression, suppressionRoutes } from './suppressions/suppressions.ts'

/** The routes of rules, suppressions, incidents and alerts. */
export function incidentRoutes(deps: IncidentRoutesDeps): Route[] {
  return [
    ...incidentRuleRoutes(deps),
    previewIncidentRule(deps),
    ...defaultRouteRoutes(deps),
    ...suppressionRoutes(deps),
    previewSuppression(deps),
    listIncidents(deps),
    getIncident(deps),
    listIncidentEvents(deps),
    acknowledgeIncidents(deps),
    acknowledgeIncident(deps),
    resolveIncident(deps),
    reopenIncident(deps),
    assignIncident(deps),
    commentIncident(deps),
    snoozeIncident(deps),
    unsnoozeIncident(deps),
    listAlertRules(deps),
    getAlertSummary(deps),
    listHighRiskTasks(deps),
    getAlertStats(deps),
  ]
}
