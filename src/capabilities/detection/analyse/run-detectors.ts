import {
  BudgetSpent,
  type ContextMemory,
  type Detector,
  type FindingDraft,
  type Need,
  type ValueCounts,
  type WorkBudget,
} from '../contract.ts'
import { detectors as everyDetector } from '../detectors/index.ts'
import { placeKey } from '../facts/index.ts'
import type { Step, TaskRun } from '../reconstruction/index.ts'
import type { DetectionSettings } from '../settings/detector-settings.ts'

/**
 * Maximum units of work (about a comparison each) of one detector on one run. The busiest detector
 * needs about a million for 5,000 steps; the limit stops runs built to be expensive.
 */
const maxWorkUnits = 20_000_000
/** Maximum wall-clock time of one detector on one run. */
const maxDetectorTimeMs = 10_000
/** Maximum findings of one detector in one run; more add no information. */
export const maxFindingsPerDetector = 200

type RunOptions = {
  /** Names of the detectors to run; default: all. Unknown names run nothing. */
  only?: readonly string[]
  /** Memory of earlier tasks of the conversation. */
  prior?: ContextMemory
  /** Available detectors; default: all detectors of the product. */
  detectors?: readonly Detector[]
  work_units_max?: number
  time_ms_max?: number
  /** Milliseconds of a monotonic clock; default: the machine's. */
  now_ms?: () => number
}

type DetectorResults = {
  findings: FindingDraft[]
  /** Detectors that analysed everything they need. A disabled detector is in neither list. */
  analysed: string[]
  /** Detectors that checked nothing or only a part, with the reason. */
  not_checked: { detector: string; reason: string }[]
  /** Detectors that threw, for the log and the metric; also in `not_checked`. */
  failed: { detector: string; error: unknown }[]
  /** Values of the answers; null if no detector checked them. */
  values: ValueCounts | null
}

/**
 * Runs detectors over a run. Pure: the same run and settings give the same findings, unless a
 * detector's time runs out. A detector that throws or exceeds a limit does not affect the others.
 */
export function runDetectors(
  run: TaskRun,
  settings: DetectionSettings,
  options: RunOptions = {},
): DetectorResults {
  const { only, detectors = everyDetector } = options
  const detected: DetectorResults = {
    findings: [],
    analysed: [],
    not_checked: [],
    failed: [],
    values: null,
  }
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
    detected.not_checked.push({ detector: name, reason: unmetReasons[missing] })
    return
  }
  try {
    const known = detector.settings.parse(thresholds)
    const budget = createBudget(options)
    const findings = detector.detect(run, known, budget, options.prior)
    detected.findings.push(...findings.slice(0, maxFindingsPerDetector))
    const gap = detector.findGap?.(run)
    if (findings.length > maxFindingsPerDetector)
      addNotAnalysed(detected, name, `only the first ${maxFindingsPerDetector} findings are kept`)
    else if (gap !== undefined) detected.not_checked.push({ detector: name, reason: gap })
    else detected.analysed.push(name)
    countValues(run, detector, detected)
  } catch (error) {
    const isBound = error instanceof BudgetSpent
    if (!isBound) detected.failed.push({ detector: name, error })
    addNotAnalysed(detected, name, isBound ? error.message : 'the detector failed')
  }
}

/** Counts the values of answers; a detector that left some out was still able to analyse the run. */
function countValues(run: TaskRun, detector: Detector, detected: DetectorResults): void {
  const counts = detector.countValues?.(run)
  if (counts === undefined) return
  detected.values = counts
  const { not_checked: left } = counts
  const isGap = detected.not_checked.some((one) => one.detector === detector.name)
  if (left === 0 || isGap) return
  const reason = `${left} of ${counts.checked + left} values of the answers ${left === 1 ? 'was' : 'were'} not checked`
  detected.not_checked.push({ detector: detector.name, reason })
}

function createBudget({ work_units_max, time_ms_max, now_ms }: RunOptions): WorkBudget {
  return createWorkBudget({
    units_max: work_units_max ?? maxWorkUnits,
    time_ms_max: time_ms_max ?? maxDetectorTimeMs,
    ...(now_ms !== undefined && { now_ms }),
  })
}

function addNotAnalysed({ not_checked }: DetectorResults, detector: string, why: string): void {
  not_checked.push({ detector, reason: `not_analysed: ${why}` })
}

/** Reasons of detectors that did not run, by what they lack. */
export const unmetReasons: Readonly<Record<Need, string>> = {
  arguments: 'the run has no arguments of tool calls',
  results: 'the run has no results of tool calls',
  tool_outcomes: 'the run does not report the outcome of its tool calls',
  texts: 'the run has no texts of messages',
  history: 'part of the history is held by the provider',
}

/**
 * Tells whether the run has what a detector needs. A run with content but without tools lacks
 * nothing.
 */
function isMet({ content, tools, steps, threads }: TaskRun, need: Need): boolean {
  if (need === 'history') return !threads.some(({ is_held = false }) => is_held)
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

/** Limits of one detector on one run. */
type WorkBounds = {
  units_max: number
  /** Far above the time of the units: it stops a blocked detector, not a working one. */
  time_ms_max?: number
  /** Milliseconds of a monotonic clock. */
  now_ms?: () => number
}

/** Units of work between two checks of the clock. */
const unitsPerLook = 1_000

/**
 * Limits a detector's work and, with it, its memory: it stores at most one item per unit. Throws
 * BudgetSpent when a limit is exceeded.
 */
export function createWorkBudget(bounds: WorkBounds): WorkBudget {
  const { units_max, time_ms_max = Number.POSITIVE_INFINITY, now_ms = readSteadyClock } = bounds
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

function readSteadyClock(): number {
  return performance.now()
}

/**
 * Loop types, strongest first: the strongest says most about the cause. Other types (a chant within
 * one answer, a budget) are unrelated and never replace one of these.
 */
const strength = [
  'repeat_error',
  'repeat_call',
  'cycle',
  'monologue',
  'error_streak',
  'similar_call',
  'scattered_repeat',
]

/** Minimum covered share of a finding's steps to count as the same loop. */
const coveredShare = 0.5

/**
 * Reduces overlapping loops to the strongest one, which lists the other types in its evidence as
 * `also`. Findings of other kinds keep their positions.
 */
export function applyLoopPrecedence(
  run: TaskRun,
  findings: readonly FindingDraft[],
): FindingDraft[] {
  const ranked = findings.filter(isRanked).toSorted(compareStrength)
  if (ranked.length < 2) return [...findings]
  const stepOf = indexSteps(run)
  const dropped = new Set<FindingDraft>()
  const also = new Map<FindingDraft, string[]>()
  const kept: Span[] = []
  for (const finding of ranked) {
    const span = spanOf(run, finding, stepOf)
    const stronger = kept.find((other) => isCovered(span, other))
    if (stronger === undefined) kept.push(span)
    else {
      dropped.add(finding)
      const types = also.get(stronger.finding) ?? []
      if (!types.includes(finding.type)) also.set(stronger.finding, [...types, finding.type])
    }
  }
  return findings
    .filter((finding) => !dropped.has(finding))
    .map((finding) => nameOthers(finding, also))
}

/** Attempts with other steps between are weaker than a pattern that explains those steps too. */
function strengthOf({ type, repeats, start_step, end_step }: FindingDraft): number {
  const steps = (end_step ?? 0) - (start_step ?? 0) + 1
  const isScattered = type === 'repeat_error' && repeats !== null && steps > repeats
  return strength.indexOf(isScattered ? 'similar_call' : type)
}

type Span = { finding: FindingDraft; thread: number; steps: readonly Step[] }

function isRanked({ kind, type }: FindingDraft): boolean {
  return kind === 'loop' && strength.includes(type)
}

function compareStrength(one: FindingDraft, other: FindingDraft): number {
  return strengthOf(one) - strengthOf(other) || (one.start_step ?? 0) - (other.start_step ?? 0)
}

function indexSteps(run: TaskRun): Map<string, Step> {
  const steps = new Map<string, Step>()
  for (const step of run.steps) {
    const call = run.calls[step.call]
    if (call) steps.set(placeKey(call), step)
  }
  return steps
}

function spanOf(run: TaskRun, finding: FindingDraft, stepOf: ReadonlyMap<string, Step>): Span {
  const steps = finding.places.flatMap((place) => stepOf.get(placeKey(place)) ?? [])
  return { finding, thread: run.steps[finding.start_step ?? -1]?.thread ?? -1, steps }
}

function isCovered({ steps, thread }: Span, by: Span): boolean {
  if (thread !== by.thread || steps.length === 0) return false
  const start = by.finding.start_step ?? 0
  const end = by.finding.end_step ?? start
  if ((steps.at(-1)?.index ?? 0) < start || (steps[0]?.index ?? 0) > end) return false
  const within = steps.filter(({ index }) => index >= start && index <= end)
  return within.length >= coveredShare * steps.length
}

function nameOthers(
  finding: FindingDraft,
  also: ReadonlyMap<FindingDraft, string[]>,
): FindingDraft {
  const types = also.get(finding)
  return types === undefined
    ? finding
    : { ...finding, evidence: { ...finding.evidence, also: types } }
}
