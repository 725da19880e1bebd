import type { Evidence, FindingDraft, Severity } from '../contract.ts'
import type { Step, TaskRun, ToolFault, ToolUse } from '../reconstruction/index.ts'
import {
  cutText,
  easeSeverity,
  placeKey,
  placeOfStep,
  placesOfSteps,
  wasteOfSteps,
} from './finding-parts.ts'
import { remember } from './remember.ts'
import { effectOfTool } from './tool-effect.ts'
import { isRecovered } from './tool-troubles.ts'

/** A step with the results of its tools. */
export type StepFacts = {
  step: Step
  uses: readonly ToolUse[]
  /** Order-independent digest of the results of equal calls; null if one is unknown. */
  out: string | null
  /** `outage` if one of its calls met an outage; `error` if all answered calls failed. */
  fault: ToolFault | null
  /** True if a result is unknown and will not come: the thread continued or the task ended. */
  is_result_missing: boolean
}

/**
 * Returns the steps of each thread, split at messages of the user: consecutive repeats are counted
 * within one stretch. A last step that waits for results is left out.
 */
export const stretchesOf = remember((run: TaskRun): readonly (readonly StepFacts[])[] => {
  const stretches: StepFacts[][] = []
  for (const { steps } of run.threads) {
    let stretch: StepFacts[] = []
    for (const facts of stepsOf(run, steps)) {
      if (facts.step.after_user && stretch.length > 0) {
        stretches.push(stretch)
        stretch = []
      }
      stretch.push(facts)
    }
    if (stretch.length > 0) stretches.push(stretch)
  }
  return stretches
})

/** Returns the steps of a thread with their results, without a last step that waits for results. */
export function stepsOf(run: TaskRun, steps: readonly number[]): StepFacts[] {
  const facts = steps.flatMap((index) => factsOf(run, index) ?? [])
  const last = facts.at(-1)
  const isOver = run.state === 'completed' || run.state === 'failed'
  const isWaiting = last !== undefined && !isOver && last.uses.some((use) => !use.is_answered)
  return isWaiting ? facts.slice(0, -1) : facts
}

function factsOf(run: TaskRun, index: number): StepFacts | undefined {
  const step = run.steps[index]
  if (step === undefined) return undefined
  const uses = step.tools.flatMap((tool) => run.tools[tool] ?? [])
  const out = outOf(uses)
  const is_result_missing = uses.length > 0 && out === null
  return { step, uses, out, fault: faultOf(uses), is_result_missing }
}

function outOf(uses: readonly ToolUse[]): string | null {
  const [only] = uses
  if (only === undefined) return null
  if (uses.length === 1) return only.out
  if (uses.some(({ out }) => out === null)) return null
  return uses
    .map(({ sig, out }) => `${sig} ${out}`)
    .sort()
    .join(' ')
}

function faultOf(uses: readonly ToolUse[]): ToolFault | null {
  if (uses.some(({ fault }) => fault === 'outage')) return 'outage'
  const answered = uses.filter((use) => use.is_answered)
  return answered.length > 0 && answered.every(({ fault }) => fault === 'error') ? 'error' : null
}

/**
 * Counts changes to the outside world along a thread, so that calls can be compared within the same
 * state of the world. A compacted or cut history counts as a change too: the agent lost what it
 * knew and may ask again.
 */
type WorldClock = {
  /** Call it once per step, after analysing the step's own calls. */
  pass(facts: StepFacts): void
  /** Equal at two moments with no change between them. */
  moment(): number
}

/** Creates the clock of one thread, before its first step. */
export function createWorldClock(run: TaskRun, thread: number): WorldClock {
  const breaks = breaksByThread(run).get(thread)
  let moments = 0
  return {
    pass({ step, uses }) {
      if (breaks?.has(step.call)) moments++
      for (const use of uses) if (effectOfTool(use) === 'changes') moments++
    },
    moment: () => moments,
  }
}

/** Calls at which a thread's history broke. */
const breaksByThread = remember((run: TaskRun): ReadonlyMap<number, ReadonlySet<number>> => {
  const calls = new Map<number, Set<number>>()
  for (const { thread, call } of run.breaks) {
    const known = calls.get(thread)
    if (known === undefined) calls.set(thread, new Set([call]))
    else known.add(call)
  }
  return calls
})

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
