import type { GroupState, Sample } from '../../capabilities/incidents/evaluation/index.ts'
import type { Incident } from '../../capabilities/incidents/life-cycle/index.ts'
import type { Group, Rule } from '../../capabilities/incidents/rules/index.ts'

/** A rule with the state of its groups. */
export type LiveRule = {
  rule: Rule
  /** The newest slot that is not evaluated again as the first pass. */
  last_ms: number | null
  states: Map<string, { group: Group; state: GroupState }>
}

/** An incident with the rule and the group that opened it. */
export type TrackedIncident = { number: number; rule: Rule; group: Group; incident: Incident }

/** A time and the way in which a group is evaluated at it. */
export type GroupSlot = { sample: Sample; now_ms: number } & {
  slot: { end_ms: number; pass: 'first' | 'late'; is_last_attempt: boolean }
}
