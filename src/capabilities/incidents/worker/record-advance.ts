import type { GroupState } from '../evaluation/contract.ts'
import type { Evidence } from '../incident-view.ts'
import { advanceGroup, type Measurement } from '../life-cycle/advance-group.ts'
import type { Incident } from '../life-cycle/incident.ts'
import { dedupKey } from '../rules/dedup-key.ts'
import type { DefaultRoute } from '../rules/default-route.ts'
import { type Group, groupKey } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import type { IncidentBook } from '../store/incident-book.ts'
import { coreOf } from '../store/incident-row.ts'
import type { MutingInEffect } from './muting-in-effect.ts'

/** The incidents of a transaction, what mutes them, and the channels of rules that name none. */
export type OpenBook = {
  book: IncidentBook
  muting: MutingInEffect
  route: DefaultRoute | undefined
}

/** A group of a rule with its state. */
export type GroupAtHand = { rule: Rule; group: Group; state: GroupState | null }

/** A measurement with what an opening shows as its reason. */
export type Observed = Pick<Measurement, 'sample' | 'slot'> & { evidence: readonly Evidence[] }

/**
 * Advances a group and records the changes of its incident. `book` has read the newest incident of
 * the dedup key. Returns the next state; null for a group that is forgotten.
 */
export function recordAdvance(
  { book, muting, route }: OpenBook,
  at: GroupAtHand,
  { sample, slot, evidence }: Observed,
): GroupState | null {
  const { rule, group } = at
  const dedup_key = dedupKey(rule, group)
  const known = book.newest(dedup_key)
  const mutingOf = (incident: Incident) => {
    const row = book.newest(dedup_key)
    const isStored = row !== undefined && coreOf(row).opened_ms === incident.opened_ms
    return muting.of(incident, isStored ? row : { rule, group })
  }
  const { state, changes } = advanceGroup(
    { ...at, newest: known && coreOf(known) },
    { sample, slot, now_ms: book.now_ms, mutingOf, route },
  )
  for (const change of changes) {
    const before = change.is_new === true ? undefined : book.newest(dedup_key)
    const isFiring = change.events.some(({ type }) => showsEvidence.has(type))
    const reasons = isFiring ? evidence : []
    muting.note(book.record({ before, change, origin: { rule, group }, evidence: reasons }))
  }
  return state
}

/** Events for which the measurement is the reason; that of the end has the value at the end. */
const showsEvidence = new Set<string>([
  ...['opened', 'reopened', 'flapping', 'attached', 'raised', 'resolved'],
])

/** Returns the groups of a slot by key. Equal keys after bounding are one group: the first. */
export function byGroupKey<G extends { group: Group }>(groups: readonly G[]): Map<string, G> {
  const known = new Map<string, G>()
  for (const one of groups) {
    const key = groupKey(one.group)
    if (!known.has(key)) known.set(key, one)
  }
  return known
}
