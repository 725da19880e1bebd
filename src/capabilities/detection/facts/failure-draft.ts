import { type Evidence, type FindingDraft, findingPlaces_max, type Severity } from '../contract.ts'
import type { ModelCall, Place, Step, TaskRun, ToolUse } from '../reconstruction/index.ts'
import { easeSeverity, placeKey, placeOf, type Waste, wasteOfCalls } from './finding-parts.ts'

/**
 * Types of failures. Provider errors are separated by their remedy: another key, another model
 * name, waiting, retrying. `provider_error` is an error of unknown kind.
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

/** The facts of a failure finding. */
type Failure = {
  type: FailureType
  /** Severity before it is lowered for a recovery. */
  severity: Severity
  recovered: boolean
  /** The first observation: its id is the anchor. */
  began: Place
  /** Distinguishes failures that start at the same observation. */
  topic?: string
  summary: string
  start_step: number | null
  end_step: number | null
  places: readonly Place[]
  /** Number of occurrences; null if it cannot repeat. */
  repeats?: number | null
  waste: Waste
  /** Confidence, 0–1; default 1, for a failure that the run proves. */
  confidence?: number
  evidence: Evidence
}

/** Creates the finding of a failure; a recovered one has a lower severity. */
export function toFailureDraft(failure: Failure): FindingDraft {
  const { type, recovered, summary, start_step, end_step, evidence, topic = '' } = failure
  return {
    kind: 'failure',
    type,
    severity: easeSeverity(failure.severity, recovered),
    anchor: topic === '' ? placeKey(failure.began) : `${placeKey(failure.began)}:${topic}`,
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

/** The waste of a finding that wasted nothing. */
export const noWaste: Waste = { wasted_tokens: 0, wasted_nano_dollars: 0n }

/** Returns the cost of these calls. */
export function wasteOf(run: TaskRun, calls: readonly ModelCall[]): Waste {
  return wasteOfCalls(run, new Set(calls.map(({ index }) => index)))
}

/** Returns the observations of tool uses: the asking call and the answer. */
export function placesOfUses(uses: readonly ToolUse[]): Place[] {
  const places = new Map<string, Place>()
  for (const { asked_by, answered_by } of uses) {
    if (places.size >= findingPlaces_max) break
    places.set(placeKey(asked_by), placeOf(asked_by))
    if (answered_by !== null) places.set(placeKey(answered_by), placeOf(answered_by))
  }
  return [...places.values()]
}

/** Returns the call that a step answered. */
export function callOf(run: TaskRun, step: Step): ModelCall | undefined {
  return run.calls[step.call]
}

/** Returns ` (rate_limit_exceeded: Slow down)`, or '' if all parts are empty. */
export function putInBrackets(...parts: readonly string[]): string {
  const given = parts.filter((part) => part !== '')
  return given.length === 0 ? '' : ` (${given.join(': ')})`
}

/** Returns `once`, `3 times`. */
export function countTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
