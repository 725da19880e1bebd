import { dollars_max, nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { maxEvidenceTextChars, maxFindingPlaces, type Severity, severities } from '../contract.ts'
import type { ModelCall, Place, Step, TaskRun, ToolUse } from '../reconstruction/index.ts'

/**
 * Returns the model calls of these steps in the given order. Above the limit of a finding it keeps
 * the first and the last half, because readers look at the beginning and the end.
 */
export function placesOfSteps(run: TaskRun, steps: readonly number[]): Place[] {
  return keepEnds(steps).flatMap((step) => placeOfStep(run, step) ?? [])
}

/** Returns the model call that a step answered. */
export function placeOfStep(run: TaskRun, step: number): Place | undefined {
  const call = run.calls[run.steps[step]?.call ?? -1]
  return call && placeOf(call)
}

/** Returns only the two ids. */
export function placeOf({ trace_id, observation_id }: Place): Place {
  return { trace_id, observation_id }
}

/** Returns a text that identifies a place, for comparisons and anchors. */
export function placeKey({ trace_id, observation_id }: Place): string {
  return `${trace_id}:${observation_id}`
}

function keepEnds(steps: readonly number[]): readonly number[] {
  if (steps.length <= maxFindingPlaces) return steps
  const half = Math.floor(maxFindingPlaces / 2)
  return [...steps.slice(0, half), ...steps.slice(steps.length - half)]
}

/** Wasted tokens, input and output, and their cost in billionths of a dollar; the calls, if known. */
export type Waste = {
  wasted_tokens: number
  wasted_nano_dollars: bigint
  /** Indexes in `TaskRun.calls`, so that overlapping findings count a call once. */
  wasted_calls?: readonly number[]
}

/**
 * Returns the cost of the model calls of these steps: tokens in and out, and billionths of a
 * dollar. Each call counts once; unknown numbers count as zero.
 */
export function wasteOfSteps(run: TaskRun, steps: Iterable<number>): Waste {
  const calls = new Set<number>()
  for (const step of steps) {
    const call = run.steps[step]?.call
    if (call !== undefined) calls.add(call)
  }
  return wasteOfCalls(run, calls)
}

/** Largest waste that JSON and the columns of findings hold. Senders choose the counts of calls. */
const waste_max = {
  wasted_tokens: Number.MAX_SAFE_INTEGER,
  wasted_nano_dollars: nanoDollarsFrom(String(dollars_max)),
}

/** Returns the cost of calls, including failed calls without a step, up to `waste_max`. */
export function wasteOfCalls(run: TaskRun, calls: ReadonlySet<number>): Waste {
  const waste = { wasted_tokens: 0, wasted_nano_dollars: 0n, wasted_calls: [...calls] }
  for (const index of calls) {
    const call = run.calls[index]
    if (call === undefined) continue
    waste.wasted_tokens += (call.input_tokens ?? 0) + (call.output_tokens ?? 0)
    waste.wasted_nano_dollars += call.nano_dollars ?? 0n
  }
  waste.wasted_tokens = Math.min(waste.wasted_tokens, waste_max.wasted_tokens)
  if (waste.wasted_nano_dollars > waste_max.wasted_nano_dollars) {
    waste.wasted_nano_dollars = waste_max.wasted_nano_dollars
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

/** Lowers the severity of a recovered finding by half. */
export function easeSeverity(severity: Severity, recovered: boolean): Severity {
  return recovered ? eased[severity] : severity
}

/** Limits a severity to low if all faults of these uses are guessed from their first words. */
export function limitGuess(severity: Severity, uses: readonly ToolUse[]): Severity {
  const faulty = uses.filter(({ fault }) => fault !== null)
  const isGuess = faulty.length > 0 && faulty.every(({ is_guessed = false }) => is_guessed)
  return isGuess && severityRank(severity) > severityRank('low') ? 'low' : severity
}

/** Returns 0 for `info` up to 4 for `critical`, for comparison and sorting. */
export function severityRank(severity: Severity): number {
  return severities.indexOf(severity)
}

/** Cuts a text for evidence to `chars_max` with an ellipsis, never within a surrogate pair. */
export function cutText(text: string, chars_max = maxEvidenceTextChars): string {
  if (text.length <= chars_max) return text
  const end = isHighSurrogate(text.charCodeAt(chars_max - 2)) ? chars_max - 2 : chars_max - 1
  return `${text.slice(0, end)}…`
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
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
    if (places.size >= maxFindingPlaces) break
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

/**
 * Types of provider errors, separated by their remedy: another key, another model name, waiting,
 * retrying. `provider_error` is an error of unknown kind.
 */
export const providerErrorTypes = [
  'provider_auth',
  'provider_not_found',
  'provider_rate_limit',
  'provider_bad_request',
  'provider_server_error',
  'provider_timeout',
  'provider_connection',
  'provider_error',
] as const
