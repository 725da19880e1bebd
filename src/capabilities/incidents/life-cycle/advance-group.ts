import type { GroupState, Sample, Slot, Transition } from '../evaluation/contract.ts'
import { step } from '../evaluation/step.ts'
import { dedupKey } from '../rules/dedup-key.ts'
import type { DefaultRoute } from '../rules/default-route.ts'
import { type Group, groupKey } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import type { Changed, Incident } from './incident.ts'
import { announced, applyMuting, type Muting, type Notice, noticesOf } from './notices.ts'
import { recordTransition } from './record-transition.ts'

/** A group of a rule, and what is stored about it. */
export type KnownGroup = {
  rule: Rule
  group: Group
  state: GroupState | null
  /** The newest incident with the dedup key of the group. */
  newest: Incident | undefined
}

/** A measurement of a group, and the suppressions and inhibitions of its incident at that time. */
export type Measurement = {
  sample: Sample
  /** Time of the evaluation; the end of the slot in a preview. */
  now_ms: number
  slot: Omit<Slot, 'has_open_incident' | 'known_until_ms'>
  mutingOf: (incident: Incident) => Muting
  /** The channels of rules that name none. */
  route?: DefaultRoute | undefined
}

/** The next state of a group, the incidents that changed, in order, and their messages. */
export type Advanced = {
  state: GroupState | null
  transitions: readonly Transition[]
  newest: Incident | undefined
  changes: readonly Changed[]
  notices: readonly Notice[]
}

/**
 * Evaluates a group at a slot and records its transitions: `step`, `recordTransition`, `applyMuting`
 * and `noticesOf` in the order in which all evaluations call them.
 */
export function advanceGroup(
  known: KnownGroup,
  { sample, slot, now_ms, mutingOf, route }: Measurement,
): Advanced {
  const { rule, group } = known
  const { state, transitions } = step(rule, known.state, sample, {
    ...slot,
    ...slotFactsOf(known.newest),
  })
  let { newest } = known
  const changes: Changed[] = []
  for (const transition of transitions) {
    const contribution = {
      rule,
      group: groupKey(group),
      dedup_key: dedupKey(rule, group),
      transition,
      at_ms: now_ms,
      route,
    }
    const change = recordTransition(newest, contribution)
    if (change === undefined) continue
    const muted = announced(withMuting(change, mutingOf, now_ms))
    changes.push(muted)
    newest = muted.incident
  }
  return { state, transitions, newest, changes, notices: changes.flatMap(noticesOf) }
}

/** Returns the facts of a slot that the newest incident of the key of a group decides. */
export function slotFactsOf(
  newest: Incident | undefined,
): Pick<Slot, 'has_open_incident' | 'known_until_ms'> {
  if (newest === undefined) return { has_open_incident: false }
  const { resolved_ms, openings_ms, opened_ms } = newest
  const opening_ms = openings_ms.at(-1) ?? opened_ms
  return {
    has_open_incident: newest.state !== 'resolved',
    known_until_ms: Math.max(opening_ms, resolved_ms ?? opening_ms),
  }
}

/** Mutes or unmutes an incident in the change that may have made a matcher match. */
function withMuting(change: Changed, mutingOf: Measurement['mutingOf'], at_ms: number): Changed {
  const { incident, events } = change
  // A resolved incident keeps the suppressions under which it resolved.
  const muted =
    incident.state === 'resolved' ? undefined : applyMuting(incident, mutingOf(incident), at_ms)
  return muted === undefined
    ? change
    : { ...change, incident: muted.incident, events: [...events, ...muted.events] }
}
