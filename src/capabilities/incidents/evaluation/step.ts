import { durationMs } from '../../../kernel/duration.ts'
import { isHigher } from '../rules/burn-tiers.ts'
import type { Rule } from '../rules/rule.ts'
import type {
  AfterReopen,
  AfterResolve,
  EventSample,
  GroupState,
  Slot,
  Step,
  StepResult,
  Transition,
} from './contract.ts'
import { isPartial, judge, type Verdict } from './outcome.ts'
import { addSlot, growAhead, replaceSlot, skipSlot } from './runs.ts'

/** The state of a group before its first slot. */
export const newGroup: GroupState = {
  phase: 'ok',
  slot_ms: null,
  seen_ms: null,
  last_true_ms: null,
  fired_ms: null,
  ended_ms: null,
  severity: null,
  tier: null,
  run: null,
  ahead: null,
  recent: [],
  matches: [],
}

/** Evaluates one rule for one group at one slot; see `Step`. */
export const step: Step = (rule, state, sample, slot) => {
  if (sample.kind === 'event') return stepEvents(rule, state ?? newGroup, sample, slot)
  const group = state ?? newGroup
  const verdict = judge(rule, sample, group.seen_ms)
  if (slot.pass === 'late') {
    const isKept = isPartial(rule, sample) || (state === null && !verdict.has_data)
    return isKept ? { state, transitions: [] } : stepLate(rule, group, { verdict, slot })
  }
  if (!isPartial(rule, sample)) return stepComplete(rule, group, { verdict, slot })
  if (verdict.is_certain) {
    if (slot.is_last_attempt) return stepComplete(rule, group, { verdict, slot })
    return stepCertain(rule, group, { verdict, slot })
  }
  if (!slot.is_last_attempt) return { state, transitions: [] }
  const skipped = skipSlot(group, slot.end_ms, durationMs(rule.interval))
  return { state: withPhase({ ...group, ...skipped }), transitions: [] }
}

/** Records that a person resolved the incident of a group; see `AfterResolve`. */
export const afterResolve: AfterResolve = (rule, state, at_ms) => {
  const ended_ms = Math.max(state.ended_ms ?? at_ms, at_ms)
  if (state.phase !== 'firing') return rule.event === undefined ? { ...state, ended_ms } : state
  const isTrue = state.run !== null || state.ahead !== null
  const phase = isTrue && rule.event === undefined ? 'quiet' : 'ok'
  return { ...state, phase, ended_ms, severity: null, tier: null, matches: [] }
}

/** Records that a person reopened the incident of a group; see `AfterReopen`. */
export const afterReopen: AfterReopen = (state, { severity, tier }) =>
  state.phase === 'quiet' ? { ...state, phase: 'firing', severity, tier } : state

type Judged = { verdict: Verdict; slot: Slot }

/** Evaluates a slot that has all its rows. */
function stepComplete(rule: Rule, before: GroupState, { verdict, slot }: Judged): StepResult {
  const s = slot.end_ms
  const runs = addSlot(before, s, verdict.outcome, durationMs(rule.interval))
  const group = { ...before, ...runs, seen_ms: verdict.has_data ? s : before.seen_ms }
  const { state, transitions } = decide(rule, group, {
    verdict,
    slot,
    since_ms: runs.run?.since_ms,
  })
  if (!isForgotten(state, slot)) return { state, transitions }
  return { state: null, transitions: [...transitions, { type: 'forgotten', slot_ms: s }] }
}

/** Evaluates a partial slot whose true outcome later rows cannot change. */
function stepCertain(rule: Rule, before: GroupState, { verdict, slot }: Judged): StepResult {
  const ahead = growAhead(before, slot.end_ms, durationMs(rule.interval))
  return decide(rule, { ...before, ahead }, { verdict, slot, since_ms: ahead.since_ms })
}

type Decision = Judged & { since_ms: number | undefined }

/** Fires, raises or ends a group whose runs are up to date. */
function decide(rule: Rule, group: GroupState, decision: Decision): Decided {
  const { verdict, slot } = decision
  if (verdict.outcome === 'true') return decideTrue(rule, group, decision)
  if (verdict.outcome === 'undecided') return calm(group)
  const s = slot.end_ms
  if (group.phase === 'quiet') return calm(endQuiet(group, s))
  const quiet_ms = s - (group.last_true_ms ?? s)
  const keep_ms = durationMs(rule.keep_firing_for ?? '0s')
  if (group.phase !== 'firing' || quiet_ms < keep_ms) return calm(group)
  const ended = { phase: 'ok', ended_ms: s, severity: null, tier: null } as const
  return { ...calm({ ...group, ...ended }), transitions: [{ type: 'ended', slot_ms: s }] }
}

function decideTrue(rule: Rule, group: GroupState, { verdict, slot, since_ms }: Decision): Decided {
  const s = slot.end_ms
  const state = { ...group, last_true_ms: Math.max(group.last_true_ms ?? s, s) }
  if (state.phase === 'firing') return raise(state, verdict, s)
  if (state.phase === 'quiet' || s - (since_ms ?? s) < durationMs(rule.for)) return calm(state)
  // The condition was already true when a person resolved, before this slot was evaluated.
  if (s <= (state.ended_ms ?? 0)) return calm({ ...state, phase: 'quiet' })
  return fire(state, verdict, slot)
}

/** Ends the quiet at a false slot: a late pass must not fire on the true slots before it. */
function endQuiet(group: GroupState, slot_ms: number): GroupState {
  return { ...group, phase: 'ok', ended_ms: Math.max(group.ended_ms ?? slot_ms, slot_ms) }
}

type Decided = { state: GroupState; transitions: readonly Transition[] }

function calm(state: GroupState): Decided {
  return { state: withPhase(state), transitions: [] }
}

/** Sets pending or ok by the runs of a group that is neither firing nor quiet. */
function withPhase(state: GroupState): GroupState {
  if (state.phase === 'firing' || state.phase === 'quiet') return state
  return { ...state, phase: state.run !== null || state.ahead !== null ? 'pending' : 'ok' }
}

function fire(group: GroupState, { severity, tier }: Verdict, { end_ms, pass }: Slot): Decided {
  const late = pass === 'late'
  return {
    state: { ...group, phase: 'firing', fired_ms: end_ms, severity, tier },
    transitions: [{ type: 'fired', slot_ms: end_ms, severity, tier, late }],
  }
}

function raise(group: GroupState, { severity, tier }: Verdict, slot_ms: number): Decided {
  if (tier === null || !isHigher(severity, group.severity)) return calm(group)
  return {
    state: { ...group, severity, tier },
    transitions: [{ type: 'raised', slot_ms, severity, tier }],
  }
}

function isForgotten(
  { phase, seen_ms }: GroupState,
  { end_ms, has_open_incident, forget_after_ms }: Slot,
): boolean {
  if (phase === 'firing' || has_open_incident || seen_ms === null) return false
  return end_ms - seen_ms >= forget_after_ms
}

/** Evaluates one of the last complete slots again: late rows may fire, never end. */
function stepLate(rule: Rule, before: GroupState, { verdict, slot }: Judged): StepResult {
  const s = slot.end_ms
  const isNew = before.slot_ms === null || s > before.slot_ms
  const runs = (isNew ? addSlot : replaceSlot)(
    before,
    s,
    verdict.outcome,
    durationMs(rule.interval),
  )
  if (runs === undefined) return { state: before, transitions: [] }
  const seen_ms = verdict.has_data ? Math.max(before.seen_ms ?? s, s) : before.seen_ms
  const group = { ...before, ...runs, seen_ms }
  if (verdict.outcome !== 'true') return calm(group)
  const state = { ...group, last_true_ms: Math.max(group.last_true_ms ?? s, s) }
  const since_ms = runs.recent.find(({ slot_ms }) => slot_ms === s)?.run_since_ms ?? s
  const isKnown = s <= Math.max(state.fired_ms ?? 0, state.ended_ms ?? 0, slot.known_until_ms ?? 0)
  const isFiring = state.phase === 'firing' || state.phase === 'quiet'
  if (isFiring || isKnown || s - since_ms < durationMs(rule.for)) return calm(state)
  return fire(state, verdict, slot)
}

/** Evaluates an event rule for the matches that were stored since the last step of the group. */
function stepEvents(rule: Rule, before: GroupState, sample: EventSample, slot: Slot): StepResult {
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
  if (isCounting(group, slot, within_ms) || !isForgotten(group, slot))
    return { state: group, transitions }
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

function isCounting({ matches }: GroupState, { end_ms }: Slot, within_ms: number): boolean {
  return matches.some((at) => at > end_ms - within_ms)
}
