import type { Evidence, FindingDraft, Severity } from '../contract.ts'
import type { TaskRun, ToolUse } from '../reconstruction/index.ts'
import {
  cutText,
  easeSeverity,
  placeKey,
  placeOfStep,
  placesOfSteps,
  wasteOfSteps,
} from './finding-parts.ts'
import type { StepFacts } from './steps.ts'
import { isRecovered } from './tool-troubles.ts'

/** The facts of a loop finding. */
type LoopFacts = {
  type: string
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

/** Lists the first few tool names for a sentence, each once. */
export function listToolNames(uses: readonly ToolUse[]): string {
  const names = [...new Set(uses.map(({ name }) => cutText(name, name_chars_max)))]
  const shown = names.slice(0, names_max).join(', ')
  return names.length > names_max ? `${shown} and ${names.length - names_max} more` : shown
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
