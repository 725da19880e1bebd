import type { Slot } from '../evaluation/contract.ts'
import { isPartial } from '../evaluation/outcome.ts'
import { planSlots, type SlotPlan } from '../evaluation/slots.ts'
import type { Measured, MeasuredSlot } from '../ports.ts'
import { earlierGroupsRule } from '../rules/earlier-groups.ts'
import type { Group } from '../rules/groups.ts'
import type { StoredRule } from '../store/rule-rows.ts'

/** A rule whose newest slot is not complete. */
export type DueRule = StoredRule & {
  /** End of the newest slot that is complete or skipped; null before the first. */
  last_ms: number | null
  /** Groups with state. */
  known: readonly Group[]
}

/** The slots of a rule, and what was measured at them. */
export type MeasuredRule = {
  due: DueRule
  plan: SlotPlan
  slots: readonly MeasuredPass[]
  /** Before the first slot: groups that had rows earlier, see `earlierGroupsRule`. */
  earlier: readonly Group[]
  /** Why a slot was not measured: the slots after it wait. */
  error: string | undefined
}

/** A slot of a rule with its measurement. */
export type MeasuredPass = Pick<Slot, 'end_ms' | 'pass' | 'is_last_attempt'> &
  Pick<Extract<Measured, { groups: unknown }>, 'groups' | 'empty' | 'others'>

/** Plans the slots of rules. Rules without a slot to evaluate are missing. */
export function planRules(due: readonly DueRule[], now_ms: number): Map<DueRule, SlotPlan> {
  const plans = due.map((one) => [one, planSlots(one.rule, one.last_ms, now_ms)] as const)
  return new Map(plans.filter(([, { first }]) => first.length > 0))
}

/** Returns all slots of plans, to be measured. */
export function slotsOf(plans: ReadonlyMap<DueRule, SlotPlan>): MeasuredSlot[] {
  return [...plans].flatMap(([{ id, rule, known }, { late, first }]) =>
    [...late, ...first.map(({ end_ms }) => end_ms)].map((end_ms) => ({
      rule_id: id,
      rule,
      end_ms,
      known,
    })),
  )
}

/** Returns what is measured to find the earlier groups of rules that are evaluated for the first time. */
export function earlierSlotsOf(plans: ReadonlyMap<DueRule, SlotPlan>): MeasuredSlot[] {
  return [...plans].flatMap(([{ id, rule, last_ms }, { first }]) => {
    const earlier = last_ms === null ? earlierGroupsRule(rule) : undefined
    const end_ms = first[0]?.end_ms
    if (earlier === undefined || end_ms === undefined) return []
    return [{ rule_id: id, rule: earlier, end_ms }]
  })
}

/** Adds the earlier groups of rules. Without them, a rule keeps its first slot. */
export function withEarlierGroups(
  rules: readonly MeasuredRule[],
  measured: readonly Measured[],
): MeasuredRule[] {
  const byRule = new Map(measured.map((one) => [one.rule_id, one]))
  return rules.map((rule) => {
    const found = byRule.get(rule.due.id)
    if (found === undefined) return rule
    if ('error' in found) return { ...rule, slots: [], error: found.error }
    return { ...rule, earlier: found.groups.map(({ group }) => group) }
  })
}

/**
 * Returns the measured slots of each rule in the order of evaluation. A slot of the first pass that
 * was not measured holds up those after it; a late slot is left out.
 */
export function toMeasuredRules(
  plans: ReadonlyMap<DueRule, SlotPlan>,
  measured: readonly Measured[],
): MeasuredRule[] {
  const known = new Map(measured.map((one) => [keyOf(one.rule_id, one.end_ms), one]))
  return [...plans].map(([due, plan]) => {
    const slots: MeasuredPass[] = []
    for (const end_ms of plan.late) {
      const one = known.get(keyOf(due.id, end_ms))
      if (one === undefined || 'error' in one) continue
      slots.push({ end_ms, pass: 'late', is_last_attempt: false, ...measurementOf(one) })
    }
    for (const slot of plan.first) {
      const one = known.get(keyOf(due.id, slot.end_ms))
      if (one === undefined || 'error' in one) {
        return { due, plan, slots, earlier: [], error: one?.error ?? 'the slot was not measured' }
      }
      slots.push({ ...slot, pass: 'first', ...measurementOf(one) })
    }
    return { due, plan, slots, earlier: [], error: undefined }
  })
}

/**
 * Returns the end of the newest slot that is complete, or skipped because it waited too long for
 * its rows; null without such a slot.
 */
export function completedSlot({ due, slots }: MeasuredRule, lag_ms: number): number | null {
  const partial = isPartial(due.rule, { lag_ms })
  const done = slots.filter(
    ({ pass, is_last_attempt }) => pass === 'first' && (!partial || is_last_attempt),
  )
  return done.at(-1)?.end_ms ?? null
}

function measurementOf({ groups, empty, others }: Extract<Measured, { groups: unknown }>) {
  return { groups, empty, others }
}

function keyOf(rule_id: string, end_ms: number): string {
  return `${rule_id} ${end_ms}`
}
