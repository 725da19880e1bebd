import type { FindingType } from '../../../model/finding-kind.ts'
import { type Evidence, type FindingDraft, maxFindingPlaces, type Severity } from '../contract.ts'
import type { Place, TaskRun, ToolUse } from '../reconstruction/index.ts'
import type { StepFacts } from './course/steps.ts'
import { isRecovered } from './course/tool-troubles.ts'
import {
  cutText,
  easeSeverity,
  noWaste,
  placeKey,
  placeOf,
  placeOfStep,
  placesOfSteps,
  type Waste,
  wasteOfSteps,
} from './finding-parts.ts'

/** The facts of a loop finding. */
type LoopFacts = {
  type: FindingType<'loop'>
  severity: Severity
  summary: string
  /** All steps of the loop, in order; at least one. */
  steps: readonly StepFacts[]
  /** Number of first steps that did something new: their cost is not wasted. */
  fresh: number
  period: number | null
  repeats: number
  threshold: number
  evidence: Evidence
}

/** Creates the finding of a loop, with places, waste, recovery and confidence. */
export function toLoopDraft(run: TaskRun, found: LoopFacts): FindingDraft {
  const { steps, type, summary, period, repeats, threshold, evidence } = found
  const indexes = steps.map(({ step }) => step.index)
  const start_step = indexes[0] ?? 0
  const end_step = indexes.at(-1) ?? start_step
  const first = placeOfStep(run, start_step)
  const tools = steps.flatMap(({ step }) => step.tools)
  const recovered = isRecovered(run, end_step, tools)
  return {
    kind: 'loop',
    type,
    severity: easeSeverity(found.severity, recovered),
    anchor: first === undefined ? `step:${start_step}` : placeKey(first),
    summary,
    start_step,
    end_step,
    period,
    repeats,
    places: placesOfSteps(run, indexes),
    ...wasteOfSteps(run, indexes.slice(found.fresh)),
    recovered,
    confidence: getRepetitionConfidence({
      repeats,
      threshold,
      is_result_missing: steps.some((facts) => facts.is_result_missing),
      is_partial: steps.some(({ step }) => step.is_partial),
    }),
    evidence,
  }
}

const calls_max = 6

/** Returns name, arguments and result of the first few calls, for evidence. */
export function toCallEvidence(uses: readonly ToolUse[]): Evidence[] {
  return uses.slice(0, calls_max).map((use) => ({
    name: cutText(use.name),
    arguments: use.arguments === null ? null : cutText(use.arguments),
    result: use.result === null ? null : cutText(use.result),
  }))
}

const names_max = 3
const name_chars_max = 60

/** Lists the first few tool names for a sentence, each once: `f`, `f and g`, `f, g, h and 2 more`. */
export function listToolNames(uses: readonly ToolUse[]): string {
  const names = [...new Set(uses.map(({ name }) => cutText(name, name_chars_max)))]
  const more = names.length > names_max ? [`${names.length - names_max} more`] : []
  const shown = [...names.slice(0, names_max), ...more]
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}

/** Begins a sentence about calls: `f was called`, `f and g were called`. */
export function tellCalls(uses: readonly ToolUse[]): string {
  const isOne = new Set(uses.map(({ name }) => name)).size <= 1
  return `${listToolNames(uses)} ${isOne ? 'was' : 'were'} called`
}

type Repetition = {
  repeats: number
  /** Minimum repeats for a finding. */
  threshold: number
  /** True if a result within the pattern is unknown. */
  is_result_missing: boolean
  /** True if the stream of one of its answers was cut. */
  is_partial: boolean
}

/** Returns the confidence of a repetition, 0–1, by the rule in `docs/internals/detection.md`. */
export function getRepetitionConfidence(found: Repetition): number {
  const beyond = Math.max(0, found.repeats - found.threshold)
  const certain = 1 - 0.5 ** (beyond + 1)
  return certain * (found.is_result_missing ? 0.8 : 1) * (found.is_partial ? 0.6 : 1)
}

/** The facts of a failure finding. */
type Failure = {
  type: FindingType<'failure'>
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
    places: failure.places.slice(0, maxFindingPlaces).map(placeOf),
    ...failure.waste,
    recovered,
    confidence: failure.confidence ?? 1,
    evidence,
  }
}

/** The facts of a context finding. */
type ContextFacts = {
  type: FindingType<'context'>
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

/** Creates the finding of a context failure. Its anchor stays the same as the task grows. */
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

const anchor_chars_max = 200
