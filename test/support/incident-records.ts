import type { Transition } from '../../src/capabilities/incidents/evaluation/contract.ts'
import type {
  Changed,
  Incident,
  IncidentEvent,
} from '../../src/capabilities/incidents/life-cycle/incident.ts'
import { announced, noticesOf } from '../../src/capabilities/incidents/life-cycle/notices.ts'
import { recordTransition } from '../../src/capabilities/incidents/life-cycle/record-transition.ts'
import { failureRule, minute_ms, start_ms } from './incident-steps.ts'

type Rule = ReturnType<typeof failureRule>

export const at = (minute: number) => start_ms + minute * minute_ms

/** A rule that notifies the channel `on-call`. */
export function loudRule(more: object = {}): Rule {
  return failureRule({ notify: ['on-call'], ...more })
}

export const fired = (minute: number, more: object = {}): Transition => ({
  type: 'fired',
  slot_ms: at(minute),
  severity: 'high',
  tier: null,
  late: false,
  ...more,
})

export const ended = (minute: number): Transition => ({ type: 'ended', slot_ms: at(minute) })

/** The incidents of one dedup key, with the events and messages of all changes. */
export class IncidentLog {
  readonly incidents: Incident[] = []
  readonly events: IncidentEvent[] = []
  readonly notices: string[] = []

  get newest(): Incident {
    const newest = this.incidents.at(-1)
    if (newest === undefined) throw new Error('no incident was opened')
    return newest
  }

  /** Records a transition of a rule's group in the newest incident. */
  add(transition: Transition, rule = loudRule(), group = '{}'): this {
    const newest = this.incidents.at(-1)
    const at_ms = transition.slot_ms
    const change = recordTransition(newest, { rule, group, dedup_key: 'key', transition, at_ms })
    return change === undefined ? this : this.apply(change)
  }

  /** Keeps a changed incident, its events and its messages. */
  apply(change: Changed): this {
    const { incident, events, is_new } = announced(change)
    this.incidents.splice(is_new ? this.incidents.length : -1, 1, incident)
    this.events.push(...events)
    for (const { reason, channels, at_ms } of noticesOf({ incident, events })) {
      this.notices.push(`${(at_ms - start_ms) / minute_ms} ${reason} ${channels.join()}`)
    }
    return this
  }

  /** Changes fields of the newest incident. */
  set(fields: Partial<Incident>): this {
    return this.apply({ incident: { ...this.newest, ...fields }, events: [] })
  }
}
