import type { Finding } from '../../detection/index.ts'
import { type Place, spanKey, type TaskRun } from '../../detection/reconstruction/index.ts'

/** The fields of a finding that say where it is. */
export type FindingPlaces = Pick<
  Finding,
  'finding_id' | 'kind' | 'start_step' | 'end_step' | 'period' | 'repeats' | 'places'
>

/** An iteration of a loop, and the position of a step in it. */
type Iteration = {
  finding_id: string
  /** From 1. */
  number: number
  of: number
  /** Position within the iteration, from 1. */
  position: number
}

/** The findings of calls, and the iterations of steps, by their indexes in the run. */
export type Marks = {
  findings: ReadonlyMap<number, readonly string[]>
  iterations: ReadonlyMap<number, Iteration>
}

/** Maximum observations that a finding names; of more it names the first and the last half. */
const places_max = 100

/**
 * Finds the calls and steps of findings; pure. A loop whose iterations have a length covers the steps
 * of its thread from start to end; every other finding is at its observations, and at its first and
 * last step. Of several loops of one step, the one whose iterations have a length counts.
 */
export function markFindings(run: TaskRun, found: readonly FindingPlaces[]): Marks {
  const calls = indexCalls(run)
  const findings = new Map<number, string[]>()
  const iterations = new Map<number, Iteration>()
  const withPeriod = found.filter(({ period }) => period !== null)
  const others = found.filter(({ period }) => period === null)
  for (const finding of [...withPeriod, ...others]) {
    const steps = listLoopSteps(run, finding, calls)
    for (const call of new Set([
      ...steps.flatMap((step) => run.steps[step]?.call ?? []),
      ...listCalls(run, finding, calls),
    ])) {
      findings.set(call, [...(findings.get(call) ?? []), finding.finding_id])
    }
    for (const [step, iteration] of numberSteps(finding, steps)) {
      if (!iterations.has(step)) iterations.set(step, iteration)
    }
  }
  return { findings, iterations }
}

/** Returns the indexes of calls by their observations, further records included. */
export function indexCalls({ calls, further_records }: TaskRun): ReadonlyMap<string, number> {
  const byPlace = new Map<string, number>()
  for (const call of calls) {
    for (const place of further_records.get(call.observation_id) ?? []) {
      byPlace.set(spanKey(place), call.index)
    }
  }
  for (const call of calls) byPlace.set(spanKey(call), call.index)
  return byPlace
}

/** Returns the steps of a loop's iterations, in order; none for other findings. */
function listLoopSteps(
  run: TaskRun,
  finding: FindingPlaces,
  calls: ReadonlyMap<string, number>,
): number[] {
  const { kind, start_step, end_step, period, repeats } = finding
  const first = start_step === null ? undefined : run.steps[start_step]
  if (kind !== 'loop' || first === undefined || end_step === null || repeats === null) return []
  if (period === null) return listPlaceSteps(run, finding, calls)
  const within = (run.threads[first.thread]?.steps ?? []).filter(
    (step) => step >= first.index && step <= end_step,
  )
  return within.slice(0, period * repeats)
}

function listPlaceSteps(
  run: TaskRun,
  { places }: FindingPlaces,
  calls: ReadonlyMap<string, number>,
): number[] {
  const steps = places.flatMap((place) => findStep(run, place, calls) ?? [])
  return [...new Set(steps)].toSorted((a, b) => a - b)
}

function findStep(run: TaskRun, place: Place, calls: ReadonlyMap<string, number>): number | null {
  return run.calls[calls.get(spanKey(place)) ?? -1]?.step ?? null
}

/** Returns the calls at the observations of a finding, and of its first and last step. */
function listCalls(
  run: TaskRun,
  { start_step, end_step, places }: FindingPlaces,
  calls: ReadonlyMap<string, number>,
): number[] {
  const ends = [start_step, end_step].flatMap((step) => run.steps[step ?? -1]?.call ?? [])
  const isWithin = (call: number) => {
    if (start_step === null || end_step === null) return true
    const step = run.calls[call]?.step ?? null
    return step !== null && step >= start_step && step <= end_step
  }
  const named = places.flatMap((place) => calls.get(spanKey(place)) ?? [])
  return [...ends, ...named.filter(isWithin)]
}

/** Numbers the steps of a loop. A loop that is too long for its list of places is not numbered. */
function numberSteps(
  { finding_id, period, repeats }: FindingPlaces,
  steps: readonly number[],
): [number, Iteration][] {
  if (period === null && steps.length >= places_max && (repeats ?? 0) > steps.length) return []
  const length = period ?? 1
  const of = period === null ? steps.length : (repeats ?? 0)
  return steps.map((step, at) => {
    const number = Math.floor(at / length) + 1
    return [step, { finding_id, number, of, position: (at % length) + 1 }]
  })
}
