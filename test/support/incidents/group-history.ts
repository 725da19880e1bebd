import type {
  GroupState,
  Sample,
  Slot,
  Transition,
} from '../../../src/capabilities/incidents/evaluation/contract.ts'

/** One entry of the history of a group, in the order in which the service processes it. */
export type Act =
  | {
      readonly type: 'slot'
      readonly sample: Sample
      readonly slot: Slot
      /** With 2, both evaluators evaluate the slot from the same state; one result is stored. */
      readonly evaluators: 1 | 2
    }
  /** A person resolves the incident of the group. */
  | { readonly type: 'resolve'; readonly at_ms: number }
  /** The evaluator restarts: the state is written as JSON and read again. */
  | { readonly type: 'restart' }

/** The state and the transitions after one act. */
export type Answer = {
  readonly state: GroupState | null
  readonly transitions: readonly Transition[]
}

/**
 * A change of the phase of a group: a transition, or what a person's resolve began: the move itself,
 * quiet at a slot before it, and the end of the quiet. `act` is the act of the change.
 */
export type LogEntry =
  | Transition
  | {
      readonly type: 'resolved'
      /** The time from which the group may fire; never before an earlier end. */
      readonly at_ms: number
      readonly is_quiet: boolean
      /** Whether the group was firing. */
      readonly is_end: boolean
      readonly act: number
    }

/** The state of a group of which nothing is known. */
export const emptyState: GroupState = {
  ...{ phase: 'ok', slot_ms: null, seen_ms: null, last_true_ms: null, fired_ms: null },
  ...{ ended_ms: null, severity: null, tier: null, run: null, ahead: null },
  ...{ recent: [], matches: [] },
}

/** Returns null for a state without any content: the contract allows either form. */
export function comparableState(state: GroupState | null): GroupState | null {
  if (state === null) return null
  const { recent, matches, phase, ...rest } = state
  const isEmpty =
    phase === 'ok' &&
    recent.length === 0 &&
    matches.length === 0 &&
    Object.values(rest).every((value) => value === null)
  return isEmpty ? null : state
}

/** Returns the fields of a state that only the log of changes decides. */
export function stateFromLog(log: readonly LogEntry[]) {
  const last = log.filter(({ type }) => type !== 'raised').at(-1)
  const strongest = last?.type === 'fired' ? log.at(-1) : undefined
  const hasTier = strongest?.type === 'fired' || strongest?.type === 'raised'
  return {
    is_firing: last?.type === 'fired',
    fired_ms: newestTime(log, ['fired']),
    ended_ms: newestTime(log, ['ended', 'resolved']),
    severity: hasTier ? strongest.severity : null,
    tier: hasTier ? strongest.tier : null,
  }
}

function newestTime(log: readonly LogEntry[], types: readonly LogEntry['type'][]) {
  const entry = log.findLast(({ type }) => types.includes(type))
  if (entry === undefined) return null
  return entry.type === 'resolved' ? entry.at_ms : entry.slot_ms
}

/** Returns the largest number; null without numbers. */
export function newest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.max(...times)
}
