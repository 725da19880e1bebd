import { durationMs } from '../../../kernel/duration.ts'
import type { GroupState, Sample, Slot, Transition } from '../evaluation/contract.ts'
import { sampleValue } from '../evaluation/sample-value.ts'
import { newGroup } from '../evaluation/step.ts'
import { advanceGroup } from '../life-cycle/advance-group.ts'
import { applyTimers, joinTimers, type Timers } from '../life-cycle/due.ts'
import type { Incident, IncidentEvent } from '../life-cycle/incident.ts'
import { announced, type NoticeReason, noticesOf } from '../life-cycle/notices.ts'
import type { MeasuredSample } from '../ports.ts'
import { dedupKey } from '../rules/dedup-key.ts'
import type { DefaultRoute } from '../rules/default-route.ts'
import { admitGroups, type Group, groupKey } from '../rules/groups.ts'
import { groups_max, type Rule } from '../rules/rule.ts'
import { forgetAfterMs } from '../rules/rule-faults.ts'

/** A range of time in ms since 1970. */
export type Range = { from_ms: number; to_ms: number }

/** A transition of a group. */
export type PreviewTransition = { group: Group } & Transition

/** The result of a preview. */
export type PreviewResult = {
  transitions: readonly PreviewTransition[]
  /** Time in which at least one group fired. */
  firing_ms: number
  /** Incidents that were opened. */
  incidents: number
  /** Openings, reopenings and raised severities. */
  pages: number
  /** Messages to channels by reason, if no person acts. */
  messages: Readonly<Partial<Record<NoticeReason, number>>>
  recipients: readonly string[]
  groups: readonly { group: Group; dedup_key: string }[]
  /** Most groups above the limit at one slot. */
  overflow: number
  series: readonly SeriesOfGroup[]
}

type KnownGroup = { group: Group; state: GroupState | null; fired_ms: number | null }

/** An incident, and when its next timer is due. */
type OpenIncident = { incident: Incident; next_ms: number | null }

const paging: ReadonlySet<IncidentEvent['type']> = new Set([
  'opened',
  'reopened',
  'flapping',
  'raised',
])

const silent = { suppressed_by: [], inhibited_by: [] }

/**
 * Evaluates a rule on measured slots or matches, in order of time, as the evaluator would: as a live
 * rule, without suppressions, and without people, so that every escalation step is taken.
 */
export class RulePreview {
  readonly #rule: Rule
  readonly #range: Range
  readonly #route: DefaultRoute | undefined
  readonly #timers: Timers
  readonly #groups = new Map<string, KnownGroup>()
  readonly #incidents = new Map<string, OpenIncident>()
  readonly #transitions: PreviewTransition[] = []
  readonly #firing: Range[] = []
  readonly #series: PreviewSeries
  readonly #messages: Partial<Record<NoticeReason, number>> = {}
  readonly #recipients = new Set<string>()
  #overflow = 0
  #opened = 0
  #pages = 0

  constructor(rule: Rule, range: Range, route?: DefaultRoute) {
    this.#rule = { ...rule, mode: 'live', suspend: false }
    this.#range = range
    this.#route = route
    this.#timers = joinTimers([this.#rule])
    this.#series = new PreviewSeries(rule, range)
  }

  /** Adds groups that had rows before the range, and are known at its start. */
  addEarlier(groups: readonly Group[], at_ms: number): void {
    for (const group of groups.slice(0, groups_max)) {
      const state = { ...newGroup, seen_ms: at_ms }
      this.#groups.set(groupKey(group), { group, state, fired_ms: null })
    }
  }

  /** Evaluates a slot. Returns the number of groups that were evaluated. */
  addSlot({ end_ms, groups, empty }: MeasuredSample): number {
    this.#passTime(end_ms)
    const measured = new Map(groups.map((one) => [groupKey(one.group), one]))
    const arriving = [...measured.keys()]
    if (this.#rule.group_by.length === 0) arriving.push(groupKey({}))
    const live = [...this.#groups].filter(([, { state }]) => state !== null).map(([key]) => key)
    const { admitted, overflow } = admitGroups(live, arriving)
    this.#overflow = Math.max(this.#overflow, overflow)
    for (const key of admitted) {
      const known = measured.get(key)
      const group = known?.group ?? this.#groups.get(key)?.group ?? {}
      this.#advance(group, known?.sample ?? empty, end_ms)
      if (known !== undefined) this.#series.add(known, end_ms)
    }
    return admitted.length
  }

  /** Evaluates a match of an event rule. Groups above the limit are counted as overflow. */
  addMatch(group: Group, at_ms: number): void {
    this.#passTime(at_ms)
    const live = [...this.#groups].filter(([, { state }]) => state !== null).map(([key]) => key)
    const { overflow } = admitGroups(live, [groupKey(group)])
    this.#overflow = Math.max(this.#overflow, overflow)
    if (overflow > 0) return
    const sample: Sample = { kind: 'event', matches: [at_ms], lag_ms: 0 }
    this.#advance(group, sample, at_ms)
    this.#series.add({ group, sample }, at_ms)
  }

  /** Returns the result up to the end of the range. */
  result(): PreviewResult {
    this.#passTime(this.#range.to_ms)
    const { to_ms } = this.#range
    const firing = [...this.#groups.values()].flatMap(({ fired_ms }) =>
      fired_ms === null ? [] : [{ from_ms: fired_ms, to_ms }],
    )
    return {
      transitions: this.#transitions,
      firing_ms: lengthOf([...this.#firing, ...firing]),
      incidents: this.#opened,
      pages: this.#pages,
      messages: this.#messages,
      recipients: [...this.#recipients].toSorted(),
      groups: [...this.#groups.values()].map(({ group }) => ({
        group,
        dedup_key: dedupKey(this.#rule, group),
      })),
      overflow: this.#overflow,
      series: this.#series.result(),
    }
  }

  /** Applies the timers and the ends of event groups that are due up to an instant. */
  #passTime(now_ms: number): void {
    for (const { group, at_ms } of this.#endsOfEvents(now_ms)) {
      this.#advance(group, { kind: 'event', matches: [], lag_ms: 0 }, at_ms)
    }
    for (const open of this.#incidents.values()) {
      while (open.next_ms !== null && open.next_ms <= now_ms) {
        const { incident, events, next_ms } = applyTimers(open.incident, this.#timers, open.next_ms)
        const isLater = next_ms !== null && next_ms > open.next_ms
        const change = announced({ incident, events })
        open.incident = change.incident
        open.next_ms = isLater ? next_ms : null
        this.#announce(change.incident, events)
      }
    }
  }

  /** Event groups end without a match, so a tick at that time ends them. */
  #endsOfEvents(now_ms: number): { group: Group; at_ms: number }[] {
    const { event, keep_firing_for } = this.#rule
    if (event === undefined || keep_firing_for === undefined) return []
    const keep_ms = durationMs(keep_firing_for)
    return [...this.#groups.values()]
      .filter(({ state }) => state?.phase === 'firing')
      .map(({ group, state }) => ({ group, at_ms: (state?.last_true_ms ?? now_ms) + keep_ms }))
      .filter(({ at_ms }) => at_ms <= now_ms)
      .toSorted((one, other) => one.at_ms - other.at_ms)
  }

  #advance(group: Group, sample: Sample, end_ms: number): void {
    const key = groupKey(group)
    const dedup_key = dedupKey(this.#rule, group)
    const known = this.#groups.get(key) ?? { group, state: null, fired_ms: null }
    const slot: Omit<Slot, 'has_open_incident' | 'known_until_ms'> = {
      end_ms,
      pass: 'first',
      is_last_attempt: false,
      forget_after_ms: forgetAfterMs,
    }
    const newest = this.#incidents.get(dedup_key)?.incident
    const advanced = advanceGroup(
      { rule: this.#rule, group, state: known.state, newest },
      { sample, slot, now_ms: end_ms, mutingOf: () => silent, route: this.#route },
    )
    const { state, transitions, changes } = advanced
    this.#groups.set(key, { ...known, state })
    for (const transition of transitions) this.#note(key, transition)
    for (const { incident, events, is_new } of changes) {
      if (is_new === true) this.#opened += 1
      this.#announce(incident, events)
    }
    if (changes.length === 0 || advanced.newest === undefined) return
    const { next_ms } = applyTimers(advanced.newest, this.#timers, end_ms)
    this.#incidents.set(dedup_key, { incident: advanced.newest, next_ms })
  }

  #note(key: string, transition: Transition): void {
    const known = this.#groups.get(key)
    if (known === undefined) return
    this.#transitions.push({ group: known.group, ...transition })
    if (transition.type === 'fired') known.fired_ms = transition.slot_ms
    if (transition.type !== 'ended' || known.fired_ms === null) return
    this.#firing.push({ from_ms: known.fired_ms, to_ms: transition.slot_ms })
    known.fired_ms = null
  }

  #announce(incident: Incident, events: readonly IncidentEvent[]): void {
    this.#pages += events.filter(({ type }) => paging.has(type)).length
    for (const { reason, channels } of noticesOf({ incident, events })) {
      this.#messages[reason] = (this.#messages[reason] ?? 0) + channels.length
      for (const channel of channels) this.#recipients.add(channel)
    }
  }
}

/** Returns the time that at least one of some ranges covers. */
function lengthOf(ranges: readonly Range[]): number {
  let [length_ms, covered_ms] = [0, Number.NEGATIVE_INFINITY]
  for (const { from_ms, to_ms } of ranges.toSorted((a, b) => a.from_ms - b.from_ms)) {
    if (to_ms <= covered_ms) continue
    length_ms += to_ms - Math.max(from_ms, covered_ms)
    covered_ms = to_ms
  }
  return length_ms
}

/** A point of a series: the value nearest to firing of some slots. */
type SeriesPoint = { at_ms: number; value: number | null; samples: number }
type SeriesOfGroup = { group: Group; points: readonly SeriesPoint[] }

const points_max = 500
const shown_groups_max = 10

/** The measurements of a preview, reduced to a bounded number of points. */
class PreviewSeries {
  readonly #from_ms: number
  readonly #width_ms: number
  /** Event rules count matches; other rules keep the highest or the lowest value. */
  readonly #join: (one: number, other: number) => number
  readonly #groups = new Map<string, { group: Group; points: Map<number, SeriesPoint> }>()

  constructor(rule: Rule, { from_ms, to_ms }: { from_ms: number; to_ms: number }) {
    this.#from_ms = from_ms
    this.#width_ms = Math.max(durationMs(rule.interval), Math.ceil((to_ms - from_ms) / points_max))
    this.#join = joinOf(rule)
  }

  /** Adds the sample of a group. The first groups are kept. */
  add({ group, sample }: { group: Group; sample: Sample }, at_ms: number): void {
    const key = groupKey(group)
    const known = this.#groups.get(key) ?? { group, points: new Map<number, SeriesPoint>() }
    if (!this.#groups.has(key) && this.#groups.size >= shown_groups_max) return
    this.#groups.set(key, known)
    const bucket = Math.ceil((at_ms - this.#from_ms) / this.#width_ms)
    const point = { at_ms, ...sampleValue(sample) }
    const before = known.points.get(bucket)
    known.points.set(bucket, before === undefined ? point : this.#joined(before, point))
  }

  /** Returns the series of the first groups, in order of time. */
  result(): SeriesOfGroup[] {
    return [...this.#groups.values()].map(({ group, points }) => ({
      group,
      points: [...points.values()],
    }))
  }

  #joined(before: SeriesPoint, point: SeriesPoint): SeriesPoint {
    if (point.value === null) return before
    if (before.value === null) return point
    const value = this.#join(before.value, point.value)
    return value === before.value ? before : { ...point, value }
  }
}

function joinOf({ condition, event }: Rule): (one: number, other: number) => number {
  if (event !== undefined) return (one, other) => one + other
  const op = condition !== undefined && 'op' in condition ? condition.op : 'gt'
  return op.startsWith('lt') ? Math.min : Math.max
}
