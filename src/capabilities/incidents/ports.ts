import type { IncidentTables, Kysely } from '../../platform/relational/index.ts'
import type { Sample } from './evaluation/contract.ts'
import type { Evidence } from './incident-view.ts'
import type { Group } from './rules/groups.ts'
import type { Rule } from './rules/rule.ts'

/** The database of rules, incidents and notifications. */
export type IncidentDb = Kysely<IncidentTables>

/** A rule to be measured at the end of a slot. */
export type MeasuredSlot = {
  rule_id: string
  rule: Rule
  end_ms: number
  /** Groups with state. They are measured even if more groups have rows than one rule reads. */
  known?: readonly Group[]
}

/** The groups of a rule that have rows in the windows of a slot, or why there is no measurement. */
export type Measured = MeasuredSlot &
  (
    | {
        groups: readonly { group: Group; sample: Sample }[]
        /** Sample of the groups without rows. */
        empty: Sample
        /** Number of further groups with rows, which are not in `groups`. */
        others: number
      }
    /** The store refused, failed or took too long; the rule keeps its state. */
    | { error: string }
  )

/** Measures the signals of rules. Event rules have no signal. */
export type Signals = {
  /**
   * Measures rules of a project at the ends of slots; rules of one store share
   * statements. Groups without rows are missing: `emptySample` is their sample. `lag_ms` of all
   * samples is the given one.
   */
  measure(request: {
    project_id: string
    slots: readonly MeasuredSlot[]
    lag_ms: number
    signal?: AbortSignal
  }): Promise<Measured[]>
  /**
   * Returns the age of the oldest item of a project that was accepted and is not yet stored, in ms;
   * 0 without a backlog: the age of its oldest message in the queue, see decision 30.
   */
  lag(project_id: string, now_ms: number): Promise<number>
}

/** A rule and a range of past slots: those that end after `from_ms` and at or before `to_ms`. */
export type RangeRequest = {
  project_id: string
  rule: Rule
  from_ms: number
  to_ms: number
  signal?: AbortSignal
}

/** The groups with rows in the windows of a slot, and the sample of all others. */
export type MeasuredSample = {
  end_ms: number
  groups: readonly { group: Group; sample: Sample }[]
  empty: Sample
}

/**
 * Measures a rule at past slots, in order, as if all rows had arrived in time. `available_from_ms` is
 * the start of the oldest stored row, undefined without rows: slots before it are left out, and, if
 * retention may have deleted rows before it that matter, those whose window begins before it.
 * `earlier` are the groups that had rows before the range, see `earlierGroupsRule`. Rejects with
 * `store_unavailable`.
 */
export type MeasureRange = (request: RangeRequest) => Promise<{
  available_from_ms: number | undefined
  earlier: readonly Group[]
  slots: AsyncIterable<MeasuredSample>
}>

/** An incident of a rule that measures a signal, at the end of the slot at which it opened. */
export type ExamplesRequest = {
  project_id: string
  rule: Rule
  group: Group
  at_ms: number
  signal?: AbortSignal
}

/** Returns calls or findings of the window that opened an incident, the worst or newest first. */
export type Examples = (request: ExamplesRequest) => Promise<Evidence[]>
