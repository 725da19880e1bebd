import { durationMs } from '../../../kernel/duration.ts'
import type { Transition } from '../evaluation/contract.ts'
import { isHigher } from '../rules/burn-tiers.ts'
import { type DefaultRoute, routedChannels } from '../rules/default-route.ts'
import type { Rule } from '../rules/rule.ts'
import {
  type Actor,
  addOpening,
  type Changed,
  type Contributor,
  type Incident,
  type IncidentEvent,
  newClocks,
  openings_max,
  reopened,
  withoutSnooze,
  withStillFiring,
} from './incident.ts'

/** A transition of a group, with the dedup key of the incident that it belongs to. */
export type Contribution = {
  rule: Rule
  group: string
  dedup_key: string
  transition: Transition
  /**
   * Time of the evaluation: escalation and reminders count from it, since the slot may be long ago.
   * Other times are those of slots.
   */
  at_ms: number
  /** The channels of rules that name none. */
  route?: DefaultRoute | undefined
}

type Fired = Extract<Transition, { type: 'fired' }>

/**
 * Records a transition in the newest incident of its dedup key: the unresolved one, which may be an
 * older one that a person reopened, or else the one that was resolved last. A firing group attaches to the
 * unresolved incident, reopens one that was resolved within `reopen_within`, or opens a new one.
 * The last contributor that ends resolves. Returns undefined if nothing changes.
 */
export function recordTransition(
  newest: Incident | undefined,
  contribution: Contribution,
): Changed | undefined {
  const { transition } = contribution
  switch (transition.type) {
    case 'fired':
      return recordFired(newest, contribution, transition)
    case 'raised':
      return newest && recordRaised(newest, contribution, transition)
    case 'ended':
      return newest && recordEnded(newest, contribution, transition.slot_ms)
    case 'forgotten':
      return undefined
  }
}

/**
 * Detaches a rule that was suspended, edited or deleted. Its incident remains open, and is orphaned
 * if no other rule contributes to it; also if it was only waiting for a person. Returns undefined
 * without change.
 */
export function orphan(incident: Incident, rule: string, at_ms: number): Changed | undefined {
  const contributors = incident.contributors.filter((one) => one.rule !== rule)
  const orphaned = contributors.length === 0
  const isDetached = contributors.length < incident.contributors.length
  const isWaiting = orphaned && !incident.orphaned && incident.rules.includes(rule)
  if (incident.state === 'resolved' || !(isDetached || isWaiting)) return undefined
  const events = orphaned ? [{ type: 'orphaned', at_ms, actor: { type: 'rule', id: rule } }] : []
  return {
    incident: { ...incident, contributors, orphaned, version: incident.version + 1 },
    events: events as IncidentEvent[],
  }
}

function recordFired(
  newest: Incident | undefined,
  contribution: Contribution,
  fired: Fired,
): Changed | undefined {
  const { rule } = contribution
  const { slot_ms } = fired
  if (newest === undefined) return open([], contribution, fired)
  if (newest.state !== 'resolved') return attach(newest, contribution, fired)
  const resolved_ms = newest.resolved_ms ?? newest.opened_ms
  const reopen_ms = durationMs(rule.reopen_within)
  if (reopen_ms === 0 || slot_ms - resolved_ms > reopen_ms) {
    return open(newest.openings_ms, contribution, fired)
  }
  const again = { ...reopened(newest, slot_ms), ...newClocks(contribution.at_ms) }
  const incident = joined(again, contribution, fired)
  return announced(incident, 'reopened', contribution, slot_ms)
}

function open(
  openings: readonly number[],
  { rule, group, dedup_key, at_ms, route }: Contribution,
  { slot_ms, severity, tier, late }: Fired,
): Changed {
  const openings_ms = addOpening(openings, slot_ms)
  const incident: Incident = {
    dedup_key,
    state: 'open',
    severity,
    tier,
    version: 1,
    assignee: rule.assign_to ?? null,
    opened_ms: slot_ms,
    acknowledged_ms: null,
    resolved_ms: null,
    contributors: [{ rule: rule.name, group }],
    auto_resolve: rule.auto_resolve,
    rules: [rule.name],
    notify: routedChannels(rule, severity, route),
    escalated_to: [],
    openings_ms,
    flapping: openings_ms.length > openings_max,
    quiet_since_ms: null,
    late,
    orphaned: false,
    shadow: rule.mode === 'shadow',
    suppressed_by: [],
    snoozed_until_ms: null,
    inhibited_by: [],
    announced_to: [],
    opened_delivered: false,
    ...newClocks(at_ms),
  }
  return { ...announced(incident, 'opened', { rule }, slot_ms), is_new: true }
}

/** Returns an opening with its event. The event `flapping` replaces that of the fifth opening. */
function announced(
  incident: Incident,
  type: 'opened' | 'reopened',
  { rule }: Pick<Contribution, 'rule'>,
  at_ms: number,
): Changed {
  const event = incident.flapping ? 'flapping' : type
  return { incident, events: [{ type: event, at_ms, actor: ruleActor(rule) }] }
}

function attach(before: Incident, contribution: Contribution, fired: Fired): Changed {
  const { rule, group } = contribution
  const at_ms = fired.slot_ms
  const attached = { ...joined(before, contribution, fired), version: before.version + 1 }
  const actor = ruleActor(rule)
  const events: IncidentEvent[] = [{ type: 'attached', at_ms, actor, note: group }]
  const isRaised = isHigher(attached.severity, before.severity)
  if (isRaised) events.push({ type: 'raised', at_ms, actor })
  // Nothing was sent while only shadow rules fired.
  const isFirstLive = before.shadow && !attached.shadow
  if (isFirstLive) events.push({ type: 'still_firing', at_ms, actor })
  // Channels that the rule adds know nothing of the incident.
  const added = attached.notify.filter((channel) => !before.notify.includes(channel))
  const isTold = isRaised || isFirstLive || added.length === 0
  if (!isTold) events.push({ type: 'still_firing', at_ms, actor, notify: added })
  const incident = isRaised ? { ...attached, reminded_ms: contribution.at_ms } : attached
  return {
    incident: isFirstLive ? withStillFiring(incident, contribution.at_ms) : incident,
    events,
  }
}

/** Adds a contributor: severities only rise, and lists of channels are united. */
function joined(incident: Incident, contribution: Contribution, fired: Fired): Incident {
  const { rule, group, route } = contribution
  const mine: Contributor = { rule: rule.name, group }
  const isHigherNow = isHigher(fired.severity, incident.severity)
  const severity = isHigherNow ? fired.severity : incident.severity
  return {
    ...incident,
    contributors: [...without(incident.contributors, mine), mine],
    severity,
    tier: isHigherNow || incident.tier === null ? fired.tier : incident.tier,
    auto_resolve: incident.auto_resolve && rule.auto_resolve,
    rules: [...new Set([...incident.rules, rule.name])],
    notify: [...new Set([...incident.notify, ...routedChannels(rule, severity, route)])],
    quiet_since_ms: null,
    orphaned: false,
    shadow: incident.shadow && rule.mode === 'shadow',
  }
}

function recordRaised(
  incident: Incident,
  { rule, at_ms, route }: Contribution,
  { severity, tier, slot_ms }: Extract<Transition, { type: 'raised' }>,
): Changed | undefined {
  if (incident.state === 'resolved' || !isHigher(severity, incident.severity)) return undefined
  // The default route may have other channels for the severity.
  const notify = [...new Set([...incident.notify, ...routedChannels(rule, severity, route)])]
  const version = incident.version + 1
  return {
    incident: { ...incident, severity, tier, notify, version, reminded_ms: at_ms },
    events: [{ type: 'raised', at_ms: slot_ms, actor: ruleActor(rule) }],
  }
}

function recordEnded(
  before: Incident,
  { rule, group }: Contribution,
  at_ms: number,
): Changed | undefined {
  const contributors = without(before.contributors, { rule: rule.name, group })
  const isOther = contributors.length === before.contributors.length
  if (before.state === 'resolved' || isOther) return undefined
  const incident = { ...before, contributors, version: before.version + 1 }
  const actor = ruleActor(rule)
  const ended: IncidentEvent = { type: 'ended', at_ms, actor, note: group }
  if (contributors.length > 0) return { incident, events: [ended] }
  if (before.flapping) return { incident: { ...incident, quiet_since_ms: at_ms }, events: [ended] }
  if (!before.auto_resolve) return { incident, events: [ended] }
  return {
    incident: { ...withoutSnooze(incident), state: 'resolved', resolved_ms: at_ms },
    events: [{ type: 'resolved', at_ms, actor }],
  }
}

function without(contributors: readonly Contributor[], { rule, group }: Contributor) {
  return contributors.filter((one) => one.rule !== rule || one.group !== group)
}

function ruleActor(rule: Rule): Actor {
  return { type: 'rule', id: rule.name }
}
