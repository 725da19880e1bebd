import {
  evidenceText_chars_max,
  findingPlaces_max,
  type Severity,
  severities,
} from '../contract.ts'
import type { Place, TaskRun } from '../reconstruction/index.ts'

/**
 * The model calls of these steps, in the order given; of more than a finding may name, the first
 * and the last half, because a reader asks how it began and how it ended.
 */
export function placesOfSteps(run: TaskRun, steps: readonly number[]): Place[] {
  return keepEnds(steps).flatMap((step) => placeOfStep(run, step) ?? [])
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

function keepEnds(steps: readonly number[]): readonly number[] {
  if (steps.length <= findingPlaces_max) return steps
  const half = Math.floor(findingPlaces_max / 2)
  return [...steps.slice(0, half), ...steps.slice(steps.length - half)]
}

export type Waste = { wasted_tokens: number; wasted_nano_dollars: bigint }

/**
 * What the model calls of these steps cost: tokens in and out, and billionths of a dollar. Each call
 * counts once; a number that nobody knows counts as nothing.
 */
export function wasteOfSteps(run: TaskRun, steps: Iterable<number>): Waste {
  const calls = new Set<number>()
  for (const step of steps) {
    const call = run.steps[step]?.call
    if (call !== undefined) calls.add(call)
  }
  return wasteOfCalls(run, calls)
}

/** The same for calls, such as failed ones that gave no step. `calls` holds each index once. */
export function wasteOfCalls(run: TaskRun, calls: ReadonlySet<number>): Waste {
  const waste: Waste = { wasted_tokens: 0, wasted_nano_dollars: 0n }
  for (const index of calls) {
    const call = run.calls[index]
    if (call === undefined) continue
    waste.wasted_tokens += (call.input_tokens ?? 0) + (call.output_tokens ?? 0)
    waste.wasted_nano_dollars += call.nano_dollars ?? 0n
  }
  return waste
}

const eased: Record<Severity, Severity> = {
  info: 'info',
  low: 'info',
  medium: 'low',
  high: 'low',
  critical: 'medium',
}

/** The severity of a finding that the task got over: half of what it was. */
export function easeSeverity(severity: Severity, recovered: boolean): Severity {
  return recovered ? eased[severity] : severity
}

/** 0 for `info` up to 4 for `critical`, to compare and to sort. */
export function severityRank(severity: Severity): number {
  return severities.indexOf(severity)
}

/** A text for evidence: cut to `chars_max`, never within a surrogate pair; an ellipsis says so. */
export function cutText(text: string, chars_max = evidenceText_chars_max): string {
  if (text.length <= chars_max) return text
  const end = isHighSurrogate(text.charCodeAt(chars_max - 2)) ? chars_max - 2 : chars_max - 1
  return `${text.slice(0, end)}…`
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
