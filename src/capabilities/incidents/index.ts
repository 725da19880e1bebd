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
export type { GroupState, Sample, Slot, Transition } from './evaluation/contract.ts'
export { newestSlot, planSlots } from './evaluation/slots.ts'
export { afterReopen, afterResolve, step } from './evaluation/step.ts'
export { incidentSchema } from './incident-view.ts'
export { advanceGroup, slotFactsOf } from './life-cycle/advance-group.ts'
export { applyTimers, joinTimers } from './life-cycle/due.ts'
export type { Changed, Incident, IncidentEvent } from './life-cycle/incident.ts'
export { type Move, moveIncident } from './life-cycle/move.ts'
export { announced, applyMuting, noticesOf } from './life-cycle/notices.ts'
export { orphan, recordTransition } from './life-cycle/record-transition.ts'
export { incidentLinkRoutes } from './links/incident-links.ts'
export { afterAttempt, attemptDelaysMs } from './messages/delivery.ts'
export { messageGroupKey, sendAt, sendable, superseded } from './messages/outbox.ts'
export { inhibitors, mutualInhibition } from './muting/inhibition.ts'
export { isActive, isMatch, suppressionBody } from './muting/suppression.ts'
export { splitTiers } from './rules/burn-tiers.ts'
export { dedupKey } from './rules/dedup-key.ts'
export { admitGroups, type Group, groupKey } from './rules/groups.ts'
export { type Rule, ruleShape } from './rules/rule.ts'
export { ruleBody } from './rules/rule-faults.ts'
export { openExamples } from './signals/examples.ts'
export { signalMinutesChore } from './signals/minutes-chore.ts'
export { openSignals } from './signals/open-signals.ts'
export {
  type StoredIncident,
  toIncidentView,
} from './store/incident-row.ts'
export {
  deliveredOpening,
  type MoveRequest,
  moveStored,
  orphanRule,
} from './store/moves.ts'
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
