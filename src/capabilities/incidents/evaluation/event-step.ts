import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import type { EventSample, GroupState, Slot, StepResult, Transition } from './contract.ts'
import { isPartial } from './outcome.ts'

/** Evaluates an event rule for the matches that were stored since the last step of the group. */
export function stepEvents(
  rule: Rule,
  before: GroupState,
  sample: EventSample,
  slot: Slot,
): StepResult {
  const { event } = rule
  if (event === undefined) throw new Error('an event sample needs an event rule')
  const s = slot.end_ms
  const transitions: Transition[] = []
  let group: GroupState = { ...before, slot_ms: Math.max(before.slot_ms ?? s, s) }
  const within_ms = event.within === undefined ? 0 : durationMs(event.within)
  for (const m of sample.matches.toSorted((one, other) => one - other)) {
    group = endBefore(rule, group, m, transitions)
    group = countMatch(group, m, { rule, count: event.count, within_ms }, transitions)
  }
  // Matches may still be on their way: nothing ends and nothing is forgotten.
  if (isPartial(rule, sample)) return { state: group, transitions }
  group = endBefore(rule, group, s, transitions)
  if (!isForgotten(group, slot, within_ms)) return { state: group, transitions }
  return { state: null, transitions: [...transitions, { type: 'forgotten', slot_ms: s }] }
}

/** Ends a firing group whose last match is older than `keep_firing_for`. */
function endBefore(
  { keep_firing_for }: Rule,
  group: GroupState,
  slot_ms: number,
  transitions: Transition[],
): GroupState {
  if (group.phase !== 'firing' || keep_firing_for === undefined) return group
  if (slot_ms - (group.last_true_ms ?? slot_ms) < durationMs(keep_firing_for)) return group
  transitions.push({ type: 'ended', slot_ms })
  return { ...group, phase: 'ok', ended_ms: slot_ms, severity: null, tier: null, matches: [] }
}

type Count = { rule: Rule; count: number; within_ms: number }

/** Counts a match, which fires the group or renews its firing. */
function countMatch(
  group: GroupState,
  m: number,
  { rule, count, within_ms }: Count,
  transitions: Transition[],
): GroupState {
  const seen_ms = Math.max(group.seen_ms ?? m, m)
  if (group.phase === 'firing') {
    return { ...group, seen_ms, last_true_ms: Math.max(group.last_true_ms ?? m, m) }
  }
  const counted = group.matches.filter((at) => at > m - within_ms)
  const matches = [...counted, m].toSorted((one, other) => one - other)
  if (matches.length < count) return { ...group, seen_ms, matches }
  const { severity } = rule
  transitions.push({ type: 'fired', slot_ms: m, severity, tier: null, late: false })
  const fired = { phase: 'firing', fired_ms: m, last_true_ms: m, severity, matches: [] } as const
  return { ...group, ...fired, seen_ms }
}

function isForgotten(
  { phase, seen_ms, matches }: GroupState,
  { end_ms, has_open_incident, forget_after_ms }: Slot,
  within_ms: number,
): boolean {
  if (phase === 'firing' || has_open_incident || seen_ms === null) return false
  const isCounting = matches.some((at) => at > end_ms - within_ms)
  return !isCounting && end_ms - seen_ms >= forget_after_ms
}
