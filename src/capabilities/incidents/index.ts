import type { Route } from '../../platform/http/index.ts'
import { notificationChannelRoutes } from './channels/channels.ts'
import type { ChannelRoutesDeps } from './channels/contract.ts'
import {
  listChannelDeliveries,
  listIncidentDeliveries,
  resendNotification,
} from './channels/deliveries.ts'
import { previewChannel } from './channels/preview.ts'
import { testChannel } from './channels/test.ts'

export { type RiskFacts, riskOfFindings } from './api/alerts/risk.ts'
export { selectTaskIncidents } from './api/alerts/risk-store.ts'
export type { IncidentRoutesDeps } from './api/contract.ts'
export { incidentRoutes } from './api/incident-routes.ts'
export { createRule, removeShadowRule } from './api/rules/change-rule.ts'
export type { channelFields } from './channels/channel.ts'
export type { ChannelRoutesDeps } from './channels/contract.ts'
export { deleteOldDeliveries } from './channels/deliveries-store.ts'
export { notificationMeters } from './channels/outbox/attempt.ts'
export {
  defaultSenderSettings,
  type Notifications,
  startNotifications,
} from './channels/outbox/notifications.ts'
export { refreshAlerts } from './channels/outbox/refresh-alerts.ts'
export { alertsAgainMs } from './channels/senders/alertmanager.ts'
export { incidentLinkRoutes } from './links/incident-links.ts'
export type { Rule } from './rules/rule.ts'
export { ruleBody } from './rules/rule-faults.ts'
export { openExamples } from './signals/examples.ts'
export { signalMinutesChore } from './signals/minutes-chore.ts'
export { openSignals } from './signals/open-signals.ts'
export { openFindingsMatcher } from './worker/match-findings.ts'
export { startEvaluator } from './worker/open-evaluator.ts'

/** The routes of notification channels and deliveries. */
export function channelRoutes(deps: ChannelRoutesDeps): Route[] {
  return [
    ...notificationChannelRoutes(deps),
    testChannel(deps),
    previewChannel(deps),
    listChannelDeliveries(deps),
    listIncidentDeliveries(deps),
    resendNotification(deps),
  ]
}
