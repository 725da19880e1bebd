import type { Severity } from '../../../model/severity.ts'
import type { Rule } from '../rules/rule.ts'

/**
 * Evaluates one rule for one group at one slot. Pure: the result depends on the arguments only.
 * Live evaluation, preview, backtest and `looptrace test` call it.
 *
 * `state` is null for a group without state. A null state in the result means that the group is
 * forgotten. `sample.kind` is the kind of the rule. Slots of the first pass arrive in order; slots
 * of a late pass repeat earlier ones, oldest first. `step` knows groups, not incidents: shared
 * dedup keys, reopening, flapping, suppressions and `auto_resolve` belong to the incident that a
 * transition attaches to.
 *
 * Outcome of a slot, before any state changes:
 * - `condition`: no data (`value` null) gives the outcome of `no_data`: `ok` false, `alerting`
 *   true, `keep` undecided, but undecided for a group that never had data. Fewer samples than
 *   `min_samples` are false. Otherwise `value op threshold`.
 * - signal `absent`: undecided for a group that never had data, else true without data (`value`
 *   null) and false with data. `no_data` does not apply.
 * - signal `ingest_lag`: true if `lag_ms` > `longer_than`, else false. It always has data.
 * - `baseline`: no data as above. Fewer than 7 values in `history`: undecided. Otherwise true if
 *   samples ≥ `min_samples`, value > `max_ratio` × median, value > median + 5 × MAD, and
 *   value > `floor`. MAD is the median distance from the median, without a factor; the median of
 *   an even number of values is the mean of the two middle ones.
 * - `burn_rate`: a tier burns if it is filled, both totals are above 0, `long.bad` ≥ `min_bad`, and
 *   bad/total > factor × (1 − objective) in both windows, with the right side rounded to 12
 *   significant digits (`burnThreshold`). It has data if any `long.total` is above 0. True if a tier burns; otherwise undecided
 *   if no tier is filled, no data as above if `long.total` is 0 in all filled tiers, else false.
 * - `event`: see `EventSample`.
 *
 * A run is a sequence of slots, one `interval` apart, of which the first is true and none is false.
 * Undecided slots continue a run and begin none. A gap or a skipped slot ends it.
 *
 * A sample is partial if `lag_ms` > `delay`. A partial slot is certain only if its outcome is true
 * and late rows cannot change that: signal `ingest_lag`; or the value (not null) of a sum or count
 * (`totalSignals`, not `per: task`) in a condition with `gt` or `gte`, or in a baseline. Other partial slots change
 * nothing. A certain one counts as true but moves only `last_true_ms`, `ahead` and what firing
 * changes, because it is evaluated again. On the last attempt a certain partial slot is complete;
 * another one is skipped: only `slot_ms`, `ahead` and, by those, pending or ok change.
 *
 * A slot `s` of the first pass that is complete, or partial and certain:
 * - true: `last_true_ms` is at least `s`. A group that is neither firing nor quiet fires if
 *   `s − start of the run at s ≥ for`, but is quiet instead if `s` ≤ `ended_ms`, which only a
 *   person's resolve makes so late. A firing group is raised if its tier has a higher severity
 *   than `severity`.
 * - false: a quiet group is ok, with an `ended_ms` of at least `s`; a firing group ends if `last_true_ms` ≤ `s` and
 *   `s − last_true_ms ≥ keep_firing_for`, and is then ok.
 * - undecided: nothing ends, nothing fires.
 * - A group that is then neither firing nor quiet is pending if `run` or `ahead` is not null, and
 *   ok otherwise.
 * - Finally, and only after a complete slot: a group that is not firing, has no open incident, had
 *   data once, and has `s − seen_ms ≥ forget_after_ms` is forgotten.
 *
 * A slot `s` of a late pass replaces the outcome of the same slot in `recent`, if that is one of
 * its last five and the sample is not partial; otherwise nothing changes. A slot after `slot_ms`, or
 * of a group without state if the sample has data, is added as a complete slot instead: late rows
 * may be the first of a group. The runs of `recent`, `run` and `ahead` are computed again, `ahead` as after the newest slot. With data,
 * `seen_ms` is at least `s`. With a true outcome, `last_true_ms` is at least `s`, and the group
 * fires, marked `late`, if it is neither firing nor quiet, `s` is after `fired_ms`, `ended_ms` and
 * `known_until_ms`, and `s − start of the run at s ≥ for`. Nothing ends, is raised or is forgotten
 * in a late pass; pending and ok are as above.
 */
export type Step = (rule: Rule, state: GroupState | null, sample: Sample, slot: Slot) => StepResult

/**
 * Records that a person resolved the incident of a group. A firing group is quiet if `run` or
 * `ahead` is not null and the rule is not an event rule, otherwise ok; `severity` and `tier` are null,
 * `matches` is empty. `ended_ms` of all groups but those of event rules that do not fire is at least
 * `at_ms`: slots up to then are known to the person, also those that are evaluated later.
 */
export type AfterResolve = (rule: Rule, state: GroupState, at_ms: number) => GroupState

/**
 * Records that a person reopened the incident of a group. A quiet group is firing, with the severity
 * and the tier of the incident, so that its end resolves the incident. Other groups do not change.
 */
export type AfterReopen = (
  state: GroupState,
  incident: { severity: Severity; tier: number | null },
) => GroupState

/** The next state of the group, and its transitions in order. */
export type StepResult = { state: GroupState | null; transitions: readonly Transition[] }

/**
 * A point in time at which rules are evaluated. `planSlots` makes them: the newest ends at
 * `floor((now − delay) / interval) × interval`.
 */
export type Slot = {
  /** End of the slot and of its windows (exclusive), in ms since 1970. */
  readonly end_ms: number
  /** `first`: in order. `late`: one of the last five complete slots, again, for late rows. */
  readonly pass: 'first' | 'late'
  /** True if the catch-up limit is reached: a partial slot is not evaluated again. */
  readonly is_last_attempt: boolean
  /** True while an incident to which the group contributed is unresolved; such a group is kept. */
  readonly has_open_incident: boolean
  /**
   * The newest opening or resolve of an incident with the dedup key of the group, for keys that
   * groups share: a late pass fires only after it. Left out: no other group has the key.
   */
  readonly known_until_ms?: number
  /** Time without data after which a group is forgotten. 24 hours by default. */
  readonly forget_after_ms: number
}

/** The measurement of a rule for a group at a slot. Numbers are finite. */
export type Sample = ConditionSample | BurnRateSample | BaselineSample | EventSample

type AnySample = {
  /**
   * Age of the oldest item, at the time of the evaluation, that was accepted and not yet stored,
   * in ms; 0 without a backlog. The slot is partial if it is above the rule's `delay`.
   */
  readonly lag_ms: number
}

/** Sample of a `condition`. For `ingest_lag` only `lag_ms` is read. */
export type ConditionSample = AnySample & {
  readonly kind: 'condition'
  /** Null exactly if the window has no row; a sum or count without rows is null, not 0. */
  readonly value: number | null
  /** Rows behind the value. */
  readonly samples: number
}

/** Bad items and all items of a window; `bad` ≤ `total`. */
export type BadAndTotal = { readonly bad: number; readonly total: number }

/** Sample of a `burn_rate`. */
export type BurnRateSample = AnySample & {
  readonly kind: 'burn_rate'
  /**
   * In the order of `effectiveTiers(rule)`: by factor, the largest first. The first that burns
   * gives the severity and the `tier` of a transition.
   */
  readonly tiers: readonly {
    readonly long: BadAndTotal
    readonly short: BadAndTotal
    /** False while the stored history is shorter than the long window. */
    readonly is_filled: boolean
  }[]
}

/** Sample of a `baseline`. */
export type BaselineSample = AnySample & {
  readonly kind: 'baseline'
  /** The value of the hour that ends with the slot; null exactly if the hour has no row. */
  readonly value: number | null
  readonly samples: number
  /** Values of the same hour of the 28 days before that have data; at most 28, in any order. */
  readonly history: readonly number[]
}

/**
 * Sample of an `event` rule: the matches that were stored since the last step of the group.
 * The slot ends when they were stored, or at the time of a tick without matches. `pass`,
 * `is_last_attempt`, `no_data`, `for` and `delay` do not apply to the matches.
 *
 * Matches are processed in order of time. Before a match at `m`, and at the end of the slot if the
 * sample is not partial, a firing group ends if `keep_firing_for` is set and
 * `m − last_true_ms ≥ keep_firing_for` (the transition has the time of `m` or of the slot). Then
 * the match counts: a firing group has `last_true_ms` of at least `m`; any other group adds `m` to
 * `matches`, drops those at or before `m − within`, and fires at `m` when `count` remain, with
 * `last_true_ms` = `m` and empty `matches`. Without `within` one match fires. An event group is
 * `ok` or `firing`, never pending or quiet; `seen_ms` is the newest match, and a group with
 * `matches` in `within` of the slot is not forgotten. `slot_ms` is the largest end of a slot.
 */
export type EventSample = AnySample & {
  readonly kind: 'event'
  /** Times at which the matches were stored, in ms since 1970. */
  readonly matches: readonly number[]
}

/** Outcome of a complete slot. `undecided` neither begins nor ends anything. */
export type Outcome = 'true' | 'false' | 'undecided'

/** The state of a rule for a group: plain JSON. Times are ms since 1970. */
export type GroupState = {
  /**
   * `pending`: in a run shorter than `for`. `quiet`: a person resolved the incident while the group
   * was firing and in a run (`run` or `ahead`), see `afterResolve`, or just before a slot that would
   * have fired was evaluated; ends with the next false slot that is complete and of the first pass.
   */
  readonly phase: 'ok' | 'pending' | 'firing' | 'quiet'
  /** The newest slot that is complete or skipped; null before the first. */
  readonly slot_ms: number | null
  /** The newest complete slot with data; null for a group that never had data. */
  readonly seen_ms: number | null
  /** The newest true slot. */
  readonly last_true_ms: number | null
  /** The slot at which the group fired last. */
  readonly fired_ms: number | null
  /**
   * The slot at which firing or quiet ended last, or the time at which a person resolved: a late
   * pass fires after it only.
   */
  readonly ended_ms: number | null
  /** Highest severity since the group fired, and the factor of its tier; null if not firing. */
  readonly severity: Severity | null
  readonly tier: number | null
  /**
   * The run of the newest complete slot, which is its last slot; null outside a run, and always
   * null for event rules.
   */
  readonly run: Run | null
  /**
   * The run that ends with a certain partial slot, after `slot_ms`. A certain partial slot inside it
   * changes nothing; the slot one interval after it extends it; any other one replaces it by a run
   * that begins with `run`, if `run` ends one interval before, else with the slot itself. After a
   * complete or skipped slot `s` it is null if it ends at or before `s`. Else, if it covers or
   * follows `s` and `run` ends at `s`, it begins with `run`; else not before `s` + one interval.
   */
  readonly ahead: Run | null
  /**
   * The newest complete slots, at most six, oldest first. A late pass may change the last five; the
   * first of six remains for the start of its run.
   */
  readonly recent: readonly RecentSlot[]
  /** Event rules: times of the matches that count towards the next firing, oldest first. */
  readonly matches: readonly number[]
}

/** The first and the last slot of a run. */
export type Run = { readonly since_ms: number; readonly until_ms: number }

/** A complete slot. */
export type RecentSlot = {
  readonly slot_ms: number
  readonly outcome: Outcome
  /** Start of the run that contains the slot; null outside a run. */
  readonly run_since_ms: number | null
}

/** A change of a group. `slot_ms` is the slot at which it happened. */
export type Transition =
  | {
      readonly type: 'fired'
      readonly slot_ms: number
      readonly severity: Severity
      /** Factor of the burning tier with the largest factor; null for other kinds. */
      readonly tier: number | null
      /** True in a late pass. */
      readonly late: boolean
    }
  | {
      readonly type: 'raised'
      readonly slot_ms: number
      readonly severity: Severity
      readonly tier: number
    }
  | { readonly type: 'ended'; readonly slot_ms: number }
  | { readonly type: 'forgotten'; readonly slot_ms: number }
