import { type Severity, severities } from '../../../model/severity.ts'
import type { IncidentTables, Selectable } from '../../../platform/relational/index.ts'
import type { Evidence, IncidentView } from '../incident-view.ts'
import { type Incident, type IncidentEvent, isMuted } from '../life-cycle/incident.ts'
import type { Group } from '../rules/groups.ts'
import { type Rule, ruleKinds } from '../rules/rule.ts'

/** A stored incident: the incident of the core, its copies for lists, and what its rule said. */
export type StoredIncident = Selectable<IncidentTables['incidents']>

/** The rule and the group that open an incident. */
export type Origin = { rule: Rule; group: Group }

/** Maximum evidence of an incident: the first entry and the newest ones. */
const evidence_max = 50

const title_chars_max = 300

/** Fields that incidents of earlier versions have not. */
type Added = 'announced_to' | 'snoozed_until_ms'

/** Returns the incident that decides the next change. */
export function coreOf({ core }: StoredIncident): Incident {
  const { snoozed_until_ms = null, ...incident } = core as unknown as Omit<Incident, Added> &
    Partial<Pick<Incident, Added>>
  const { announced_to } = incident
  if (announced_to !== undefined) return { ...incident, announced_to, snoozed_until_ms }
  // An incident of an earlier version: each of its channels may have a message.
  const all = [...incident.notify, ...incident.escalated_to]
  return { ...incident, announced_to: [...new Set(all)], snoozed_until_ms }
}

/** Returns an incident as routes and messages show it. */
export function toIncidentView(row: StoredIncident): IncidentView {
  const core = coreOf(row)
  const { id: incident_id, project_id, number, title, state, severity, signal } = row
  const { labels, annotations, runbook_url, dedup_key, assignee, version } = row
  const { opened_at, acknowledged_at, resolved_at, updated_at } = row
  const { late, flapping, orphaned, shadow } = core
  return {
    incident_id,
    project_id,
    number,
    title,
    state,
    severity,
    signal,
    rule: row.rule_name,
    rules: [...core.rules],
    group: row.group_values,
    labels,
    annotations,
    runbook_url,
    dedup_key,
    assignee,
    suppressed: isMuted(core),
    suppressed_by: [...core.suppressed_by],
    snoozed_until: toInstantOrNull(core.snoozed_until_ms),
    inhibited_by: [...core.inhibited_by],
    flapping,
    late,
    orphaned,
    shadow,
    version,
    opened_at,
    acknowledged_at,
    resolved_at,
    updated_at,
    evidence: [...row.evidence] as unknown as Evidence[],
  }
}

/** Returns the row of a new incident, without its columns of `core`. */
export function newRow(
  { rule, group }: Origin,
  identity: { id: string; project_id: string; number: number },
): Omit<StoredIncident, keyof ReturnType<typeof coreColumns>> {
  return {
    ...identity,
    rule_name: rule.name,
    title: titleOf(rule, group),
    signal: signalOf(rule),
    group_values: { ...group },
    labels: rule.labels,
    annotations: rule.annotations,
    runbook_url: rule.runbook_url ?? null,
    grouping: rule.grouping,
    last_seq: 0,
    moved: false,
    first_acknowledged_at: null,
    evidence: [],
  }
}

/** Returns the columns that a change of the incident sets. */
export function coreColumns(core: Incident, now_ms: number) {
  const { dedup_key, state, severity, assignee, flapping, orphaned, shadow, version } = core
  const updated_at = toInstant(now_ms)
  return {
    dedup_key,
    state,
    severity,
    assignee,
    flapping,
    orphaned,
    shadow,
    version,
    rank: rankOf(severity),
    suppressed: isMuted(core),
    opened_at: toInstant(core.opened_ms),
    acknowledged_at: toInstantOrNull(core.acknowledged_ms),
    resolved_at: toInstantOrNull(core.resolved_ms),
    updated_at,
    // Each change may begin or end a timer; the timers compute when the next one is due.
    timer_at: state === 'resolved' ? null : updated_at,
    core: core as unknown as Record<string, unknown>,
  }
}

/** Returns a row after a change: its events are the next ones of the timeline. */
export function changedRow(
  row: StoredIncident,
  change: { incident: Incident; events: readonly IncidentEvent[]; evidence: readonly Evidence[] },
  now_ms: number,
): StoredIncident {
  const { incident, events, evidence } = change
  const columns = coreColumns(incident, now_ms)
  const byHand = events.some(({ actor }) => actor.type !== 'rule' && actor.type !== 'timer')
  return {
    ...row,
    ...columns,
    last_seq: row.last_seq + events.length,
    moved: row.moved || byHand,
    first_acknowledged_at: row.first_acknowledged_at ?? columns.acknowledged_at,
    evidence: addEvidence(row.evidence, evidence),
  }
}

/** Adds evidence: the first entry and the newest ones remain. */
export function addEvidence(
  before: StoredIncident['evidence'],
  evidence: readonly Evidence[],
): StoredIncident['evidence'] {
  const all = [...before, ...evidence]
  if (all.length <= evidence_max) return all
  return [...all.slice(0, 1), ...all.slice(1 - evidence_max)]
}

/** Returns the rank of a severity: 1 info … 5 critical. */
export function rankOf(severity: Severity): number {
  return severities.indexOf(severity) + 1
}

export function toInstant(at_ms: number): string {
  return new Date(at_ms).toISOString()
}

function toInstantOrNull(at_ms: number | null): string | null {
  return at_ms === null ? null : toInstant(at_ms)
}

/** Returns the kind of a rule: the field that is set. */
export function kindOf(rule: Rule): (typeof ruleKinds)[number] {
  return ruleKinds.find((kind) => rule[kind] !== undefined) ?? 'condition'
}

/** Returns the signal of a rule; the source for event rules. */
export function signalOf({ condition, burn_rate, baseline, event }: Rule): string {
  return (condition ?? burn_rate ?? baseline)?.signal ?? event?.match.source ?? ''
}

/** Returns the annotation `title`, or the rule and the values of its group. */
function titleOf({ name, annotations }: Rule, group: Group): string {
  const values = Object.entries(group).map(([dimension, value]) => `${dimension}=${value}`)
  const title = annotations['title'] ?? [name, values.join(', ')].filter(Boolean).join(': ')
  return title.slice(0, title_chars_max).toWellFormed()
}
