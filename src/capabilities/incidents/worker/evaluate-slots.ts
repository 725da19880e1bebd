import type { GroupState, Sample } from '../evaluation/contract.ts'
import { sampleValue } from '../evaluation/sample-value.ts'
import { newGroup } from '../evaluation/step.ts'
import type { Evidence } from '../incident-view.ts'
import { sourcesFirst } from '../muting/inhibition.ts'
import { dedupKey } from '../rules/dedup-key.ts'
import { admitGroups, boundedGroup, type Group, groupKey } from '../rules/groups.ts'
import { groups_max } from '../rules/rule.ts'
import { toInstant } from '../store/incident-row.ts'
import type { NextState, StoredState } from '../store/rule-rows.ts'
import type { MeasuredPass, MeasuredRule } from './project-slots.ts'
import { byGroupKey, type OpenBook, recordAdvance } from './record-advance.ts'

/** A rule with its measured slots, and the groups that it has. */
export type RuleAtHand = {
  measured: MeasuredRule
  slots: readonly GroupedPass[]
  states: Map<string, GroupState>
  /** Keys of the groups whose state changed or was forgotten. */
  changed: Set<string>
  overflow: number
}

/** A slot with its measured groups by key. */
type GroupedPass = Omit<MeasuredPass, 'groups'> & {
  groups: ReadonlyMap<string, { group: Group; sample: Sample }>
}

/** A row of `rule_samples`. */
export type SampleRow = {
  rule_id: string
  group_key: string
  slot: string
  project_id: string
  value: number | null
  samples: number
  lag_ms: number
}

/** Joins rules with their stored states. */
export function toRulesAtHand(
  rules: readonly MeasuredRule[],
  states: readonly StoredState[],
): RuleAtHand[] {
  const byRule = Map.groupBy(states, ({ rule_id }) => rule_id)
  return rules.map((measured) => {
    const own = byRule.get(measured.due.id) ?? []
    const slots = measured.slots.map((slot) => ({ ...slot, groups: toGroups(slot.groups) }))
    const states = new Map(own.map(({ group_key, state }) => [group_key, state]))
    for (const [key, state] of earlierStates(measured, slots)) {
      if (!states.has(key)) states.set(key, state)
    }
    return { measured, slots, states, changed: new Set<string>(), overflow: 0 }
  })
}

/** Returns the states of earlier groups, below the limit of groups: those with rows come first. */
function earlierStates(
  { earlier }: MeasuredRule,
  [first]: readonly GroupedPass[],
): [string, GroupState][] {
  if (first === undefined) return []
  const seen = { ...newGroup, seen_ms: first.end_ms }
  const keys = [...new Set(earlier.map((group) => groupKey(boundedGroup(group))))].toSorted()
  const silent = keys.filter((key) => !first.groups.has(key))
  const room = Math.max(0, groups_max - first.groups.size)
  return silent.slice(0, room).map((key) => [key, seen])
}

/** Returns the groups by their keys, with values that an index can hold. */
function toGroups(groups: MeasuredPass['groups']): GroupedPass['groups'] {
  return byGroupKey(groups.map(({ group, sample }) => ({ group: boundedGroup(group), sample })))
}

/** Returns the states to write; null for a group that was forgotten. */
export function changedStates({ measured, states, changed }: RuleAtHand): NextState[] {
  return [...changed].map((group_key) => {
    return { rule_id: measured.due.id, group_key, state: states.get(group_key) ?? null }
  })
}

/** Returns the dedup keys of all groups. */
export function dedupKeysOf(rules: readonly RuleAtHand[]): string[] {
  return rules.flatMap(({ measured, slots, states }) => {
    const keys = new Set([...states.keys(), ...slots.flatMap(({ groups }) => [...groups.keys()])])
    if (measured.due.rule.group_by.length === 0) keys.add(groupKey({}))
    return [...keys].map((key) => dedupKey(measured.due.rule, toGroup(key)))
  })
}

/** How slots are evaluated. */
export type EvaluationOptions = { lag_ms: number; forget_after_ms: number }

/**
 * Evaluates the slots of all rules by time, so that rules that share incidents change them in order;
 * of the same time, sources of inhibitions first. Returns the samples of the groups.
 */
export function evaluateSlots(
  open: OpenBook,
  rules: readonly RuleAtHand[],
  options: EvaluationOptions,
): SampleRow[] {
  const ruleOf = new Map(rules.map((one) => [one.measured.due.rule, one]))
  const sorted = sourcesFirst([...ruleOf.keys()]).flatMap((rule) => ruleOf.get(rule) ?? [])
  const samples = new Map<string, SampleRow>()
  const passes = sorted.flatMap((one) => one.slots.map((slot) => ({ one, slot })))
  passes.sort((a, b) => a.slot.end_ms - b.slot.end_ms)
  for (const { one, slot } of passes) {
    for (const row of evaluatePass(open, one, slot, options)) {
      samples.set(`${row.rule_id} ${row.slot} ${row.group_key}`, row)
    }
  }
  return [...samples.values()]
}

/** Evaluates all groups of a rule at a slot. */
function evaluatePass(
  open: OpenBook,
  at: RuleAtHand,
  { groups, empty, others, ...slot }: GroupedPass,
  { lag_ms, forget_after_ms }: EvaluationOptions,
): SampleRow[] {
  const { id, project_id, rule } = at.measured.due
  const arriving = [...groups.keys()]
  if (rule.group_by.length === 0) arriving.push(groupKey({}))
  const { admitted, overflow } = admitGroups([...at.states.keys()], arriving)
  at.overflow = overflow + others
  const rows: SampleRow[] = []
  for (const key of admitted) {
    const measured = groups.get(key)
    const sample = measured?.sample ?? empty
    const before = at.states.get(key) ?? null
    const group = measured?.group ?? toGroup(key)
    const evidence = [evidenceOf(sample, slot.end_ms)]
    const observed = { sample, slot: { ...slot, forget_after_ms }, evidence }
    setState(at, key, recordAdvance(open, { rule, group, state: before }, observed))
    if (measured === undefined) continue
    const slot_at = toInstant(slot.end_ms)
    rows.push({
      rule_id: id,
      group_key: key,
      slot: slot_at,
      project_id,
      ...sampleValue(sample),
      lag_ms,
    })
  }
  return rows
}

function setState(at: RuleAtHand, key: string, state: GroupState | null): void {
  if (state === (at.states.get(key) ?? null)) return
  at.changed.add(key)
  if (state === null) at.states.delete(key)
  else at.states.set(key, state)
}

function evidenceOf(sample: Sample, end_ms: number): Evidence {
  return { kind: 'value', ...sampleValue(sample), at: toInstant(end_ms) }
}

function toGroup(key: string): Group {
  return JSON.parse(key) as Group
}
