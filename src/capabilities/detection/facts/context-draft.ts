import type { FindingDraft, Severity } from '../contract.ts'
import type { Place, TaskRun } from '../reconstruction/index.ts'
import {
  cutText,
  easeSeverity,
  placeKey,
  placeOf,
  placesOfSteps,
  wasteOfSteps,
} from './finding-parts.ts'

type ContextType =
  | 'lost_context'
  | 'contradicted_fact'
  | 'repeated_question'
  | 'context_truncated'
  | 'context_overflow'
  | 'conversation_reset'

/** The facts of a context finding. */
type ContextFacts = {
  type: ContextType
  /** Severity before it is lowered for a recovery. */
  severity: Severity
  /** Distinguishes findings of one type that start at the same call. */
  topic: string
  summary: string
  /** The original statement and how it was lost, as returned by the API. */
  original_context: string
  violation: string
  /** The call of the statement; the call of the finding if there was no statement. */
  original: Place
  /** Steps that show the finding, in order; empty if no answer does. */
  steps: readonly number[]
  /** The call at which the finding starts. */
  begins_at: Place
  /** Whether the tokens of its steps count as wasted. */
  is_waste?: boolean
  recovered: boolean
  confidence: number
  evidence?: Record<string, unknown>
}

/** Creates the finding. Its anchor stays the same as the task grows. */
export function toContextDraft(run: TaskRun, trouble: ContextFacts): FindingDraft {
  const { type, steps, recovered, begins_at, original } = trouble
  const waste = trouble.is_waste === true ? wasteOfSteps(run, steps) : noWaste
  return {
    kind: 'context',
    type,
    severity: easeSeverity(trouble.severity, recovered),
    anchor: cutText(`${placeKey(begins_at)}:${trouble.topic}`, anchor_chars_max),
    summary: cutText(trouble.summary),
    start_step: steps[0] ?? null,
    end_step: steps.at(-1) ?? null,
    period: null,
    repeats: steps.length > 0 ? steps.length : null,
    places: steps.length > 0 ? placesOfSteps(run, steps) : [placeOf(begins_at)],
    ...waste,
    recovered,
    confidence: trouble.confidence,
    evidence: {
      original_context: cutText(trouble.original_context),
      violation: cutText(trouble.violation),
      original_trace_id: original.trace_id,
      original_observation_id: original.observation_id,
      ...trouble.evidence,
    },
  }
}

const noWaste = { wasted_tokens: 0, wasted_nano_dollars: 0n }
const anchor_chars_max = 200
