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

export type ContextType =
  | 'lost_context'
  | 'contradicted_fact'
  | 'repeated_question'
  | 'context_truncated'
  | 'context_overflow'
  | 'conversation_reset'

/** What a detector of context tells of what it found. */
export type ContextFacts = {
  type: ContextType
  /** Before it is eased for a recovery. */
  severity: Severity
  /** Distinguishes findings of one type that begin at one call. */
  topic: string
  summary: string
  /** What was said, and how it was lost, as the API answers both. */
  original_context: string
  violation: string
  /** Where it was said; where the trouble begins when it was said nowhere. */
  original: Place
  /** Steps that show it, in order; empty when no answer does. */
  steps: readonly number[]
  /** The call that it begins with. */
  begins_at: Place
  /** Whether its steps were in vain. */
  is_waste?: boolean
  recovered: boolean
  confidence: number
  evidence?: Record<string, unknown>
}

/** Makes the finding of a trouble with context. Its anchor never changes as the task grows. */
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
