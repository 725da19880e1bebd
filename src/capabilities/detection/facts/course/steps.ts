import type { Step, TaskRun, Thread, ToolFault, ToolUse } from '../../reconstruction/index.ts'
import { remember, rememberFor } from '../remember.ts'
import { effectOfTool } from '../tools/tool-effect.ts'
import { usesOfSteps } from './thread-course.ts'

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
  for (const thread of run.threads) {
    let stretch: StepFacts[] = []
    for (const facts of stepsOf(run, thread)) {
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
export function stepsOf(run: TaskRun, { index }: Thread): readonly StepFacts[] {
  return stepsByThread(run)[index] ?? []
}

const stepsByThread = remember((run: TaskRun) =>
  run.threads.map(({ steps }) => withoutWaiting(run, steps)),
)

function withoutWaiting(run: TaskRun, steps: readonly number[]): readonly StepFacts[] {
  const facts: StepFacts[] = []
  for (const index of steps) {
    const step = run.steps[index]
    if (step !== undefined) facts.push(factsOf(run, step))
  }
  const last = facts.at(-1)
  const isOver = run.state === 'completed' || run.state === 'failed'
  const isWaiting = last !== undefined && !isOver && last.uses.some((use) => !use.is_answered)
  return isWaiting ? facts.slice(0, -1) : facts
}

const factsByStep = rememberFor<Step, StepFacts>()

/** The facts of a step are the same object as long as its tools are: more can be remembered of it. */
function factsOf(run: TaskRun, step: Step): StepFacts {
  const uses = usesOfSteps(run, [step])
  return factsByStep(step, uses, () => {
    const out = outOf(uses)
    const is_result_missing = uses.length > 0 && out === null
    return { step, uses, out, fault: faultOf(uses), is_result_missing }
  })
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
    pass(facts) {
      if (breaks?.has(facts.step.call)) moments++
      moments += countChanges(facts)
    },
    moment: () => moments,
  }
}

const countChanges = remember(
  ({ uses }: StepFacts) => uses.filter((use) => effectOfTool(use) === 'changes').length,
)

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
