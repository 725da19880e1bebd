import {
  afterReopen,
  afterResolve,
  isPartial,
  planSlots,
  type Sample,
} from '../../capabilities/incidents/evaluation/index.ts'
import {
  type Actor,
  advanceGroup,
  announced,
  applyMuting,
  applyTimers,
  type Changed,
  joinTimers,
  type Move,
  moveIncident,
  noticesOf,
  orphan,
} from '../../capabilities/incidents/life-cycle/index.ts'
import {
  incidentInhibitors,
  incidentSources,
  isActive,
  isMatch,
  type Suppression,
  sourcesFirst,
} from '../../capabilities/incidents/muting/index.ts'
import {
  dedupKey,
  forgetAfterMs,
  type Group,
  groupKey,
  type Rule,
} from '../../capabilities/incidents/rules/index.ts'
import { countMatches, groupsOfRecord } from './event-records.ts'
import type { Measurements } from './measurements.ts'
import type { GroupSlot, LiveRule, TrackedIncident } from './simulation-state.ts'
import type { TestCase } from './test-file.ts'
import type { TimelineEntry } from './timeline.ts'

type TestRecord = TestCase['events'][number]

/**
 * Simulates the evaluator without a store. It decides nothing itself: slots, states, incidents, muting
 * and messages are those of the functions that the service calls.
 */
export class Simulation {
  readonly #measurements: Measurements
  readonly #suppressions: readonly { id: string; body: Suppression }[]
  #rules: Map<string, LiveRule>
  /** The incidents of each dedup key, the newest last. */
  #incidents = new Map<string, TrackedIncident[]>()
  #opened = 0
  readonly timeline: TimelineEntry[] = []

  constructor(
    rules: readonly Rule[],
    measurements: Measurements,
    suppressions: readonly { id: string; body: Suppression }[],
  ) {
    this.#measurements = measurements
    this.#suppressions = suppressions
    this.#rules = new Map(
      rules.map((rule) => [rule.name, { rule, last_ms: null, states: new Map() }]),
    )
  }

  /** Evaluates the slots that are due, by time and sources of inhibitions first, and event rules. */
  evaluate(now_ms: number): void {
    const lives = [...this.#rules.values()].filter(({ rule }) => !rule.suspend)
    const ofRule = new Map(lives.map((live) => [live.rule, live]))
    const sorted = sourcesFirst([...ofRule.keys()]).flatMap((rule) => ofRule.get(rule) ?? [])
    const passes = sorted
      .filter(({ rule }) => rule.event === undefined)
      .flatMap((live) => this.#dueSlots(live, now_ms).map((slot) => ({ live, slot })))
      .toSorted((one, other) => one.slot.end_ms - other.slot.end_ms)
    for (const { live, slot } of passes) this.#evaluateSlot(live, now_ms, slot)
    for (const live of sorted) if (live.rule.event !== undefined) this.#tick(live, now_ms)
  }

  /** Stores a record, which event rules evaluate at once. */
  store(record: TestRecord, now_ms: number): void {
    for (const live of this.#rules.values()) {
      if (live.rule.event === undefined || live.rule.suspend) continue
      const matches = new Array<number>(countMatches(live.rule, record)).fill(now_ms)
      if (matches.length === 0) continue
      for (const group of groupsOfRecord(live.rule, record)) {
        this.#advance(live, group, this.#eventSlot(now_ms, matches))
      }
    }
  }

  /** Applies suppressions, inhibitions and timers. */
  applyClock(now_ms: number): void {
    for (const tracked of this.#unresolved()) {
      const muted = applyMuting(tracked.incident, this.#mutingOf(tracked, now_ms), now_ms)
      if (muted !== undefined) this.#record(tracked, muted, now_ms)
      const rules = tracked.incident.rules.flatMap((name) => this.#rules.get(name)?.rule ?? [])
      const { incident, events } = applyTimers(tracked.incident, joinTimers(rules), now_ms)
      if (events.length > 0) this.#record(tracked, { incident, events }, now_ms)
      else tracked.incident = incident
    }
  }

  /** Makes the move of a person. Returns why it is refused. */
  move(rule: Rule, group: Group, move: Move): string | undefined {
    const tracked = this.newestOf(rule, group)
    if (tracked === undefined) return 'the group has no incident'
    const actor: Actor = { type: 'user', id: 'test' }
    const moved = moveIncident(tracked.incident, this.#withQuiet(tracked, move), actor)
    if (moved.kind === 'refused') return moved.detail
    if (moved.kind === 'unchanged') return undefined
    this.#record(tracked, moved, move.at_ms)
    this.#moveStates(tracked, move)
    return undefined
  }

  /** Deletes a rule; its incidents are orphaned. */
  deleteRule(name: string, now_ms: number): void {
    this.#rules.delete(name)
    for (const tracked of this.#unresolved()) {
      const change = orphan(tracked.incident, name, now_ms)
      if (change !== undefined) this.#record(tracked, change, now_ms)
    }
  }

  /** Restarts the evaluator: what is stored is written as JSON and read again. */
  restart(now_ms: number): void {
    const stored = JSON.stringify({
      rules: [...this.#rules].map(([name, live]) => [name, { ...live, states: [...live.states] }]),
      incidents: [...this.#incidents],
    })
    const read = JSON.parse(stored) as {
      rules: [string, Omit<LiveRule, 'states'> & { states: [string, never][] }][]
      incidents: [string, TrackedIncident[]][]
    }
    this.#rules = new Map(
      read.rules.map(([name, live]) => [name, { ...live, states: new Map(live.states) }]),
    )
    this.#incidents = new Map(read.incidents)
    this.timeline.push({ at_ms: now_ms, text: 'restart' })
  }

  /** Returns the newest incident of a group, and the state of the group. */
  newestOf(rule: Rule, group: Group): TrackedIncident | undefined {
    return this.#incidents.get(dedupKey(rule, group))?.at(-1)
  }

  /** Returns whether the condition of a group is true for less than `for`. */
  isPending(rule: Rule, group: Group): boolean {
    const state = this.#rules.get(rule.name)?.states.get(groupKey(group))?.state
    return state?.phase === 'pending'
  }

  /** Returns the unresolved incidents to which a rule contributed. */
  countUnresolved({ name }: Rule): number {
    return this.#unresolved().filter(({ incident }) => incident.rules.includes(name)).length
  }

  /** Plans the slots of a rule, and moves its last slot. */
  #dueSlots(live: LiveRule, now_ms: number): GroupSlot['slot'][] {
    const { rule, last_ms } = live
    const plan = planSlots(rule, last_ms, now_ms)
    if (plan.first.length === 0) return []
    if (plan.gap !== null) this.timeline.push({ at_ms: now_ms, text: 'gap', rule: rule.name })
    const isRepeated = isPartial(rule, { lag_ms: this.#measurements.lag_ms(now_ms) })
    const done = plan.first.filter(({ is_last_attempt }) => !isRepeated || is_last_attempt)
    live.last_ms = done.at(-1)?.end_ms ?? last_ms
    return [
      ...plan.late.map((end_ms) => ({ end_ms, pass: 'late', is_last_attempt: false }) as const),
      ...plan.first.map((slot) => ({ ...slot, pass: 'first' }) as const),
    ]
  }

  #evaluateSlot(live: LiveRule, now_ms: number, slot: GroupSlot['slot']): void {
    const measured = this.#measurements.measure(live.rule, { end_ms: slot.end_ms, now_ms })
    for (const { key, group, sample, has_data } of measured) {
      if (has_data || live.states.has(key)) this.#advance(live, group, { sample, now_ms, slot })
    }
  }

  /** Ends groups of an event rule whose last match is long ago. */
  #tick(live: LiveRule, now_ms: number): void {
    for (const { group } of [...live.states.values()]) {
      this.#advance(live, group, this.#eventSlot(now_ms, []))
    }
  }

  #eventSlot(now_ms: number, matches: readonly number[]): GroupSlot {
    const sample: Sample = { kind: 'event', matches, lag_ms: this.#measurements.lag_ms(now_ms) }
    return { sample, now_ms, slot: { end_ms: now_ms, pass: 'first', is_last_attempt: false } }
  }

  #advance(live: LiveRule, group: Group, { sample, now_ms, slot }: GroupSlot): void {
    const { rule, states } = live
    const key = groupKey(group)
    const newest = this.newestOf(rule, group)
    const advanced = advanceGroup(
      { rule, group, state: states.get(key)?.state ?? null, newest: newest?.incident },
      {
        sample,
        now_ms,
        slot: { ...slot, forget_after_ms: forgetAfterMs },
        mutingOf: (incident) => {
          const known = newest ?? { number: this.#opened + 1, rule, group }
          return this.#mutingOf({ ...known, incident }, now_ms)
        },
      },
    )
    if (advanced.state === null) states.delete(key)
    else states.set(key, { group, state: advanced.state })
    for (const change of advanced.changes) {
      const tracked = change.is_new ? this.#open(rule, group, change) : this.newestOf(rule, group)
      if (tracked !== undefined) this.#record(tracked, change, now_ms)
    }
  }

  #open(rule: Rule, group: Group, { incident }: Changed): TrackedIncident {
    this.#opened += 1
    const tracked = { number: this.#opened, rule, group, incident }
    const known = this.#incidents.get(incident.dedup_key) ?? []
    this.#incidents.set(incident.dedup_key, [...known, tracked])
    return tracked
  }

  /** Keeps a changed incident and its messages, which a test delivers at once. */
  #record(tracked: TrackedIncident, change: Changed, now_ms: number): void {
    const { incident, events } = announced(change)
    const notices = noticesOf({ incident, events })
    const isAnnounced = notices.some(({ reason }) => reason !== 'resolved')
    tracked.incident = isAnnounced ? { ...incident, opened_delivered: true } : incident
    for (const [at, event] of events.entries()) {
      const isLast = at === events.length - 1
      const { number, rule, group } = tracked
      this.timeline.push({
        at_ms: now_ms,
        text: event.type,
        rule: rule.name,
        group,
        number,
        dedup_key: incident.dedup_key,
        slot_ms: event.at_ms,
        ...(event.type !== 'ended' && { severity: incident.severity }),
        notices: isLast ? notices : [],
      })
    }
  }

  #mutingOf({ number, rule, group, incident }: TrackedIncident, now_ms: number) {
    const { name, labels } = rule
    const { severity, dedup_key } = incident
    const suppressed_by = this.#suppressions
      .filter(({ body }) => isActive(body, now_ms))
      .filter(({ body }) => isMatch(body, { rule: name, severity, dedup_key, labels, group }))
      .map(({ id }) => id)
    const rules = new Map([...this.#rules].map(([key, live]) => [key, live.rule]))
    const sources = this.#unresolved().flatMap((one) => {
      const { state } = one.incident
      const opener = { id: `${one.number}`, state, rule: one.rule, group: one.group }
      return incidentSources(opener, one.incident, rules)
    })
    const target = { id: `${number}`, contributors: incident.contributors }
    return { suppressed_by, inhibited_by: incidentInhibitors(target, rules, sources) }
  }

  /** Adds to a reopening the quiet groups of the key, which fire again. */
  #withQuiet({ incident }: TrackedIncident, move: Move): Move {
    if (move.type !== 'reopen') return move
    const quiet = [...this.#rules.values()].flatMap(({ rule, states }) =>
      [...states.values()]
        .filter(({ state }) => state.phase === 'quiet')
        .filter(({ group }) => dedupKey(rule, group) === incident.dedup_key)
        .map(({ group }) => ({ rule: rule.name, group: groupKey(group) })),
    )
    return { ...move, quiet }
  }

  /** Changes the state of the groups of an incident that a person resolved or reopened. */
  #moveStates({ incident }: TrackedIncident, { type, at_ms }: Move): void {
    if (type !== 'resolve' && type !== 'reopen') return
    for (const { rule, states } of this.#rules.values()) {
      for (const [key, { group, state }] of states) {
        if (dedupKey(rule, group) !== incident.dedup_key) continue
        const moved =
          type === 'resolve' ? afterResolve(rule, state, at_ms) : afterReopen(state, incident)
        states.set(key, { group, state: moved })
      }
    }
  }

  #unresolved(): TrackedIncident[] {
    return [...this.#incidents.values()]
      .flat()
      .filter(({ incident }) => incident.state !== 'resolved')
  }
}
