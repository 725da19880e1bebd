import {
  BudgetSpent,
  type ContextMemory,
  type Detector,
  type FindingDraft,
  type Need,
  type WorkBudget,
} from '../contract.ts'
import { detectors as everyDetector } from '../detectors/index.ts'
import type { TaskRun } from '../reconstruction/index.ts'
import type { DetectionSettings } from '../settings/detector-settings.ts'
import { applyLoopPrecedence } from './loop-precedence.ts'

/**
 * Units of work (a comparison each) that one detector may do on one run. A run of 5,000 steps takes
 * the busiest detector about a million; the bound is there for runs made to be expensive.
 */
export const workUnits_max = 20_000_000
/** Wall-clock time that one detector may take on one run. */
export const detectorTime_ms_max = 10_000
/** Findings of one detector in one run; a run with more tells nobody anything new. */
export const findingsPerDetector_max = 200

export type RunOptions = {
  /** Names of the detectors that run; all when left out. Unknown names run nothing. */
  only?: readonly string[]
  /** What earlier tasks of the conversation said. */
  prior?: ContextMemory
  /** Which ones there are; the registry's when left out. */
  detectors?: readonly Detector[]
  work_units_max?: number
  time_ms_max?: number
  /** Milliseconds of a clock that only goes forward; the machine's when left out. */
  now_ms?: () => number
}

export type DetectorResults = {
  findings: FindingDraft[]
  /** Detectors that looked at all they need. One that is switched off is neither here nor below. */
  analysed: string[]
  /** What could not be checked, or only in part, and why, in words. */
  not_checked: { detector: string; reason: string }[]
  /** Those that threw, for the log and the counter; they are in `not_checked` too. */
  failed: { detector: string; error: unknown }[]
}

/**
 * Runs detectors over a run. Pure: the same run and settings give the same findings, but for a detector
 * whose time ran out. One that throws, or goes over a bound, takes only itself down.
 */
export function runDetectors(
  run: TaskRun,
  settings: DetectionSettings,
  options: RunOptions = {},
): DetectorResults {
  const { only, detectors = everyDetector } = options
  const detected: DetectorResults = { findings: [], analysed: [], not_checked: [], failed: [] }
  for (const detector of detectors) {
    if (only !== undefined && !only.includes(detector.name)) continue
    runDetector(run, { detector, settings, options }, detected)
  }
  return { ...detected, findings: applyLoopPrecedence(run, detected.findings) }
}

type DetectorRun = { detector: Detector; settings: DetectionSettings; options: RunOptions }

function runDetector(
  run: TaskRun,
  { detector, settings, options }: DetectorRun,
  detected: DetectorResults,
): void {
  const { name } = detector
  const { enabled = true, ...thresholds } = settings[name] ?? {}
  if (!enabled) return
  const missing = detector.needs.find((need) => !isMet(run, need))
  if (missing !== undefined) {
    detected.not_checked.push({ detector: name, reason: reasons[missing] })
    return
  }
  try {
    const known = detector.settings.parse(thresholds)
    const budget = createBudget(options)
    const findings = detector.detect(run, known, budget, options.prior)
    detected.findings.push(...findings.slice(0, findingsPerDetector_max))
    if (findings.length <= findingsPerDetector_max) detected.analysed.push(name)
    else
      addNotAnalysed(detected, name, `only the first ${findingsPerDetector_max} findings are kept`)
  } catch (error) {
    const isBound = error instanceof BudgetSpent
    if (!isBound) detected.failed.push({ detector: name, error })
    addNotAnalysed(detected, name, isBound ? error.message : 'the detector failed')
  }
}

function createBudget({ work_units_max, time_ms_max, now_ms }: RunOptions): WorkBudget {
  return createWorkBudget({
    units_max: work_units_max ?? workUnits_max,
    time_ms_max: time_ms_max ?? detectorTime_ms_max,
    ...(now_ms !== undefined && { now_ms }),
  })
}

function addNotAnalysed({ not_checked }: DetectorResults, detector: string, why: string): void {
  not_checked.push({ detector, reason: `not_analysed: ${why}` })
}

const reasons: Record<Need, string> = {
  arguments: 'the run has no arguments of tool calls',
  results: 'the run has no results of tool calls',
  tool_outcomes: 'the run does not tell how its tool calls ended',
  texts: 'the run has no texts of messages',
}

/** A run with content but without a tool has nothing that could be missing. */
function isMet({ content, tools, steps }: TaskRun, need: Need): boolean {
  if (need === 'texts') return content !== 'none' || steps.some(({ text }) => text !== null)
  if (content !== 'none' && tools.length === 0) return true
  if (need === 'arguments') return tools.some((use) => use.arguments !== null)
  if (need === 'results')
    return tools.some((use) => use.out !== null) || isUnanswered(content, tools)
  return tools.some((use) => use.is_answered) || isUnanswered(content, tools)
}

function isUnanswered(content: TaskRun['content'], tools: TaskRun['tools']): boolean {
  return content !== 'none' && tools.every((use) => !use.is_answered)
}

/** Bounds of one detector on one run. */
export type WorkBounds = {
  units_max: number
  /** Far more than the units take: it ends a detector that is held up, not one that works. */
  time_ms_max?: number
  /** Milliseconds of a clock that only goes forward. */
  now_ms?: () => number
}

/** Units of work between two looks at the clock. */
const unitsPerLook = 1_000

/**
 * Bounds what a detector does, and by that what it holds: it notes at most one thing for each unit.
 * Throws BudgetSpent when more is asked of it, or its time is over.
 */
export function createWorkBudget(bounds: WorkBounds): WorkBudget {
  const { units_max, time_ms_max = Number.POSITIVE_INFINITY, now_ms = steadyNow } = bounds
  const ends_ms = now_ms() + time_ms_max
  let left = units_max
  let lookAt = units_max - unitsPerLook
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new BudgetSpent(`more than ${units_max} units of work`)
      if (left > lookAt) return
      lookAt = left - unitsPerLook
      if (now_ms() > ends_ms) throw new BudgetSpent(`it took longer than ${time_ms_max} ms`)
    },
  }
}

function steadyNow(): number {
  return performance.now()
}
