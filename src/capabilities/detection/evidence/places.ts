import { findingPlaces_max } from '../contract.ts'
import type { Place, TaskRun } from '../reconstruction/contract.ts'

/**
 * The model calls of these steps, in the order given; of more than a finding may name, the first
 * and the last half, because a reader asks how it began and how it ended.
 */
export function placesOfSteps(run: TaskRun, steps: readonly number[]): Place[] {
  return keptEnds(steps).flatMap((step) => placeOfStep(run, step) ?? [])
}

/** The model call that a step answered. */
export function placeOfStep(run: TaskRun, step: number): Place | undefined {
  const call = run.calls[run.steps[step]?.call ?? -1]
  return call && placeOf(call)
}

/** Only the two ids of something that has them. */
export function placeOf({ trace_id, observation_id }: Place): Place {
  return { trace_id, observation_id }
}

/** One text for a place, to compare places and to make anchors of. */
export function placeKey({ trace_id, observation_id }: Place): string {
  return `${trace_id}:${observation_id}`
}

function keptEnds(steps: readonly number[]): readonly number[] {
  if (steps.length <= findingPlaces_max) return steps
  const half = Math.floor(findingPlaces_max / 2)
  return [...steps.slice(0, half), ...steps.slice(steps.length - half)]
}
