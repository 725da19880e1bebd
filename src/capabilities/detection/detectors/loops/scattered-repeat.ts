import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  commandOf,
  createWorldClock,
  effectOfTool,
  isPollingUse,
  remember,
  type StepFacts,
  stepsOf,
  tellCalls,
  toCallEvidence,
  toLoopDraft,
} from '../../facts/index.ts'
import type { TaskRun, ToolUse } from '../../reconstruction/index.ts'

const source = 'Source: 800 labelled runs; gemini-cli and Roo Code count repeats in such a window.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(3)
    .describe(`Minimum equal calls with equal results within the window. ${source}`),
  shell_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(5)
    .describe(`Minimum for shells, where reading again is normal. ${source}`),
  window_steps: z
    .int()
    .min(3)
    .max(1_000)
    .default(40)
    .describe(`Size of the window in steps of a thread. ${source}`),
})
type Settings = z.output<typeof settings>

/**
 * Finds the same call with the same result in several places, although nothing changed in between.
 * The only loop that can span user messages. Calls that change something or wait are ignored.
 */
export const scatteredRepeat: Detector<typeof settings> = {
  name: 'scattered_repeat',
  kind: 'loop',
  types: ['scattered_repeat'],
  version: 1,
  needs: ['arguments', 'results'],
  settings,
  detect(run, set, budget) {
    return run.threads.flatMap((thread) => {
      const steps = stepsOf(run, thread)
      budget.spend(steps.length)
      return seriesOf(run, { thread: thread.index, steps }, set).map((series) =>
        toFinding(run, series, set),
      )
    })
  },
}

/** Repeats of one call in one state of the world. */
type Series = {
  use: ToolUse
  moment: number
  at: number[]
  steps: StepFacts[]
  /** Number of groups of adjacent steps; a single group is a row, not scattered. */
  groups: number
  is_found: boolean
}

type ThreadSteps = { thread: number; steps: readonly StepFacts[] }

function seriesOf(run: TaskRun, { thread, steps }: ThreadSteps, set: Settings): Series[] {
  const clock = createWorldClock(run, thread)
  const open = new Map<string, Series>()
  const found: Series[] = []
  for (const [at, facts] of steps.entries()) {
    for (const { use, key } of eligibleIn(facts)) {
      const moment = clock.moment()
      const known = open.get(key)
      const series = known?.moment === moment ? known : newSeries(use, moment)
      open.set(key, series)
      const was = series.is_found
      extend(series, { at, facts }, set)
      if (series.is_found && !was) found.push(series)
    }
    clock.pass(facts)
  }
  return found
}

function newSeries(use: ToolUse, moment: number): Series {
  return { use, moment, at: [], steps: [], groups: 0, is_found: false }
}

function extend(
  series: Series,
  { at, facts }: { at: number; facts: StepFacts },
  set: Settings,
): void {
  if (!series.is_found) dropOld(series, at - set.window_steps + 1)
  else if ((series.at.at(-1) ?? at) <= at - set.window_steps) return
  if (series.at.at(-1) !== at - 1) series.groups++
  series.at.push(at)
  series.steps.push(facts)
  series.is_found ||= series.at.length >= thresholdOf(series.use, set) && series.groups > 1
}

function dropOld(series: Series, from: number): void {
  const kept = series.at.findIndex((at) => at >= from)
  const old = kept === -1 ? series.at.length : kept
  if (old === 0) return
  series.at.splice(0, old)
  series.steps.splice(0, old)
  series.groups = series.at.filter((at, nth) => at !== (series.at[nth - 1] ?? -2) + 1).length
}

function thresholdOf(use: ToolUse, set: Settings): number {
  return commandOf(use) === undefined ? set.repeats : set.shell_repeats
}

/** The eligible calls of a step, each once, by call and result. */
const eligibleIn = remember(({ uses }: StepFacts) => {
  const distinct = new Map(uses.filter(isFit).map((use) => [use.sig, use]))
  return [...distinct.values()].map((use) => ({ use, key: `${use.sig} ${use.out}` }))
})

function isFit(use: ToolUse): boolean {
  return (
    use.sig !== null &&
    use.out !== null &&
    use.fault !== 'outage' &&
    effectOfTool(use) !== 'changes' &&
    !isPollingUse(use)
  )
}

function toFinding(run: TaskRun, { use, steps }: Series, set: Settings): FindingDraft {
  return toLoopDraft(run, {
    type: 'scattered_repeat',
    severity: 'low',
    summary: `${tellCalls([use])} ${steps.length} times with the same arguments and the same result, though nothing was changed in between.`,
    steps,
    fresh: 1,
    period: null,
    repeats: steps.length,
    threshold: thresholdOf(use, set),
    evidence: { calls: toCallEvidence([use]) },
  })
}
