import type { Evidence, FindingDraft, Severity } from '../../contract.ts'
import { findingPlaces_max } from '../../contract.ts'
import { placeKey, placeOf } from '../../evidence/places.ts'
import { easedSeverity } from '../../evidence/severity.ts'
import { type Waste, wasteOfCalls } from '../../evidence/waste.ts'
import type { ModelCall, Place, Step, TaskRun, ToolUse } from '../../reconstruction/contract.ts'
import type { FailureType } from './failure-types.ts'

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
export function failureDraft(failure: Failure): FindingDraft {
  const { type, recovered, summary, start_step, end_step, evidence, about = '' } = failure
  return {
    kind: 'failure',
    type,
    severity: easedSeverity(failure.severity, recovered),
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
export function inBrackets(...parts: readonly string[]): string {
  const told = parts.filter((part) => part !== '')
  return told.length === 0 ? '' : ` (${told.join(': ')})`
}

/** `once`, `3 times`. */
export function timesOf(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
