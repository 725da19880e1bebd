/** When a subject took a step for the first time, in milliseconds since 1970. */
export type StepTime<Step extends string> = { subject: string; step: Step; at_ms: number }

/** One step of a funnel. */
type FunnelRow<Step extends string> = {
  step: Step
  /** Subjects that took the step itself. */
  done: number
  /** Subjects that took the step or a later one. */
  reached: number
  /** `reached` as a share of the subjects of the funnel; null without subjects. */
  of_all: number | null
  /** `reached` as a share of `reached` of the step before; null if that is 0. */
  of_previous: number | null
  /** Subjects with a time between this step and the nearest earlier one that they took. */
  timed: number
  /** Median and 90th percentile of those times, by nearest rank, in seconds; null without any. */
  median_s: number | null
  p90_s: number | null
  /** Subjects that took this step before the nearest earlier one; they have no time. */
  out_of_order: number
}

/** A week of subjects, by their first step. `week` is its Monday in UTC, such as 2026-02-23. */
type Cohort<Step extends string> = {
  week: string
  subjects: number
  /** Subjects that reached each step, in the order of the steps. */
  reached: { step: Step; subjects: number }[]
}

export type Funnel<Step extends string> = {
  subjects: number
  rows: FunnelRow<Step>[]
  /** Oldest week first. Weeks without a first step are left out. */
  cohorts: Cohort<Step>[]
}

/**
 * Computes a funnel from the steps of subjects. The earliest time of a repeated step counts. A
 * later step implies the earlier ones, so `reached` never grows from step to step: a subject with a
 * first verdict also reached the first call, even if that call was not seen.
 */
export function computeFunnel<Step extends string>(
  steps: readonly Step[],
  times: readonly StepTime<Step>[],
): Funnel<Step> {
  const subjects = [...firstTimes(steps, times).values()]
  const reached = countReached(steps, subjects)
  const rows = steps.map((step, at): FunnelRow<Step> => {
    const count = reached[at] ?? 0
    const before = at === 0 ? subjects.length : (reached[at - 1] ?? 0)
    const gaps = subjects.flatMap((own) => gapBefore(own, at) ?? [])
    const passed_ms = gaps.filter((gap_ms) => gap_ms >= 0).toSorted((a, b) => a - b)
    return {
      step,
      done: subjects.filter((own) => own[at] !== undefined).length,
      reached: count,
      of_all: shareOf(count, subjects.length),
      of_previous: shareOf(count, before),
      timed: passed_ms.length,
      median_s: secondsAtRank(passed_ms, 0.5),
      p90_s: secondsAtRank(passed_ms, 0.9),
      out_of_order: gaps.length - passed_ms.length,
    }
  })
  return { subjects: subjects.length, rows, cohorts: cohortsOf(steps, subjects) }
}

/** The first time of each step of a subject, in the order of the steps. */
type Times = (number | undefined)[]

function firstTimes<Step extends string>(
  steps: readonly Step[],
  times: readonly StepTime<Step>[],
): Map<string, Times> {
  const places = new Map(steps.map((step, at) => [step, at]))
  const subjects = new Map<string, Times>()
  for (const { subject, step, at_ms } of times) {
    const at = places.get(step)
    if (at === undefined) continue
    const own = subjects.get(subject) ?? steps.map(() => undefined)
    own[at] = Math.min(own[at] ?? at_ms, at_ms)
    subjects.set(subject, own)
  }
  return subjects
}

function countReached(steps: readonly string[], subjects: readonly Times[]): number[] {
  const last = subjects.map((own) => own.findLastIndex((at_ms) => at_ms !== undefined))
  return steps.map((_, at) => last.filter((index) => index >= at).length)
}

/** Time between a step of a subject and the nearest earlier step that it took, in milliseconds. */
function gapBefore(own: Times, at: number): number | undefined {
  const at_ms = own[at]
  const before_ms = own.slice(0, at).findLast((time) => time !== undefined)
  return at_ms === undefined || before_ms === undefined ? undefined : at_ms - before_ms
}

function shareOf(count: number, all: number): number | null {
  return all === 0 ? null : count / all
}

/** The value at rank ⌈share × n⌉ of sorted values, in seconds. */
function secondsAtRank(sorted_ms: readonly number[], share: number): number | null {
  const value_ms = sorted_ms[Math.ceil(share * sorted_ms.length) - 1]
  return value_ms === undefined ? null : value_ms / 1_000
}

const day_ms = 86_400_000
const week_ms = 7 * day_ms
/** 1970-01-05, the first Monday. */
const firstMondayMs = 4 * day_ms

function cohortsOf<Step extends string>(
  steps: readonly Step[],
  subjects: readonly Times[],
): Cohort<Step>[] {
  const weeks = Map.groupBy(subjects, (own) => {
    const first_ms = Math.min(...own.filter((at_ms) => at_ms !== undefined))
    return Math.floor((first_ms - firstMondayMs) / week_ms)
  })
  return [...weeks]
    .toSorted(([one], [other]) => one - other)
    .map(([week, own]) => {
      const reached = countReached(steps, own)
      return {
        week: new Date(firstMondayMs + week * week_ms).toISOString().slice(0, 10),
        subjects: own.length,
        reached: steps.map((step, at) => ({ step, subjects: reached[at] ?? 0 })),
      }
    })
}
