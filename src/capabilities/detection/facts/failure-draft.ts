import { type Evidence, type FindingDraft, findingPlaces_max, type Severity } from '../contract.ts'
import type { ModelCall, Place, Step, TaskRun, ToolUse } from '../reconstruction/index.ts'
import { easeSeverity, placeKey, placeOf, type Waste, wasteOfCalls } from './finding-parts.ts'

/**
 * The words for failures, one per kind of trouble. A provider's errors are told apart by what helps:
 * another key, another model name, waiting, asking again. `provider_error` is one whose kind nobody
 * told.
 */
export const failureTypes = [
  'provider_auth',
  'provider_not_found',
  'provider_rate_limit',
  'provider_bad_request',
  'provider_server_error',
  'provider_timeout',
  'provider_connection',
  'provider_error',
  'output_truncated',
  'content_filter',
  'refusal',
  'empty_completion',
  'unknown_tool',
  'arguments_not_json',
  'arguments_invalid',
  'orphan_call',
  'orphan_result',
  'tool_outage',
  'tool_failure',
  'false_success',
  'duplicate_side_effect',
  'premature_stop',
  'budget_exceeded',
] as const
export type FailureType = (typeof failureTypes)[number]

/** What a detector of failures says of one; the rest of the finding follows from it. */
export type Failure = {
  type: FailureType
  /** As it is while the task did not get over it. */
  severity: Severity
  recovered: boolean
  /** What it began with: its id is the anchor. */
  began: Place
  /** More of what it began with, where one observation can begin several. */
  about?: string
  summary: string
  start_step: number | null
  end_step: number | null
  places: readonly Place[]
  /** How often it came, null for what comes once. */
  repeats?: number | null
  waste: Waste
  /** 0..1, left out 1: what the run tells for sure. */
  confidence?: number
  evidence: Evidence
}

/** The finding of a failure; one that the task got over weighs half. */
export function toFailureDraft(failure: Failure): FindingDraft {
  const { type, recovered, summary, start_step, end_step, evidence, about = '' } = failure
  return {
    kind: 'failure',
    type,
    severity: easeSeverity(failure.severity, recovered),
    anchor: about === '' ? placeKey(failure.began) : `${placeKey(failure.began)}:${about}`,
    summary,
    start_step,
    end_step,
    period: null,
    repeats: failure.repeats ?? null,
    places: failure.places.slice(0, findingPlaces_max).map(placeOf),
    ...failure.waste,
    recovered,
    confidence: failure.confidence ?? 1,
    evidence,
  }
}

export const noWaste: Waste = { wasted_tokens: 0, wasted_nano_dollars: 0n }

/** What these calls cost. */
export function wasteOf(run: TaskRun, calls: readonly ModelCall[]): Waste {
  return wasteOfCalls(run, new Set(calls.map(({ index }) => index)))
}

/** Where a tool's use is seen: who asked, and what answered it. */
export function placesOfUses(uses: readonly ToolUse[]): Place[] {
  const places = new Map<string, Place>()
  for (const { asked_by, answered_by } of uses) {
    if (places.size >= findingPlaces_max) break
    places.set(placeKey(asked_by), placeOf(asked_by))
    if (answered_by !== null) places.set(placeKey(answered_by), placeOf(answered_by))
  }
  return [...places.values()]
}

/** The call that a step answered. */
export function callOf(run: TaskRun, step: Step): ModelCall | undefined {
  return run.calls[step.call]
}

/** ` (rate_limit_exceeded: Slow down)`, or nothing where nobody said more. */
export function putInBrackets(...parts: readonly string[]): string {
  const told = parts.filter((part) => part !== '')
  return told.length === 0 ? '' : ` (${told.join(': ')})`
}

/** `once`, `3 times`. */
export function countTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
