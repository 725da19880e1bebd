import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  commandOf,
  cutText,
  effectOfTool,
  isPaced,
  isReadingName,
  limitGuess,
  listToolNames,
  pollingSettings,
  remember,
  type StepFacts,
  stretchesOf,
  toCallEvidence,
  toLoopDraft,
} from '../../facts/index.ts'
import type { TaskRun, ToolUse } from '../../reconstruction/index.ts'

const source = 'Source: OpenHands stops an agent at the third equal failing call.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(3)
    .describe(`Minimum equal failing calls in a row for a loop. ${source}`),
  high_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(5)
    .describe(`Minimum for high severity. ${source}`),
  ...pollingSettings,
})
type Settings = z.output<typeof settings>

/** Finds the same calls failing in a row, with any error text. Outages are not counted. */
export const repeatError: Detector<typeof settings> = {
  name: 'repeat_error',
  kind: 'loop',
  types: ['repeat_error'],
  version: 3,
  needs: ['arguments', 'tool_outcomes'],
  settings,
  detect(run, set, budget) {
    if (!run.tools.some(({ fault }) => fault === 'error')) return []
    const rows = stretchesOf(run).flatMap((stretch) => {
      budget.spend(stretch.length)
      return rowsOf(stretch).flatMap((steps) => toFinding(run, steps, set) ?? [])
    })
    const taken = new Set(rows.map(({ anchor }) => anchor))
    const byThread = Map.groupBy(stretchesOf(run).flat(), ({ step }) => step.thread)
    const scattered = [...byThread.values()].flatMap((steps) => {
      budget.spend(steps.length)
      return seriesOf(run, steps).flatMap((series) => toScatteredFinding(run, series, set) ?? [])
    })
    return [...rows, ...scattered.filter(({ anchor }) => !taken.has(anchor))]
  },
}

/** The same change, refused with the same error each time; other steps may be between. */
type Series = { use: ToolUse; steps: StepFacts[]; asked: number; last: number; gaps: number }

/**
 * Returns refused changes that were tried again, also after other steps and messages of the user.
 * Another change that succeeded can be the remedy, and ends the series.
 */
function seriesOf(run: TaskRun, steps: readonly StepFacts[]): Series[] {
  const all: Series[] = []
  const open = new Map<string, Series>()
  for (const [at, facts] of steps.entries()) {
    if (hasMade(facts)) open.clear()
    for (const use of facts.uses.filter(isRefused)) {
      const key = `${use.sig} ${use.out}`
      const known = open.get(key)
      const series = known ?? { use, steps: [], asked: 0, last: at, gaps: 0 }
      open.set(key, series)
      if (known === undefined) all.push(series)
      else if (known.last === at) continue
      else extendSeries(run, known, { at, facts })
      series.steps.push(facts)
      series.last = at
    }
  }
  // Attempts directly after each other are rows, which know about waiting.
  return all.filter(({ gaps }) => gaps > 0)
}

function extendSeries(
  run: TaskRun,
  series: Series,
  { at, facts }: { at: number; facts: StepFacts },
): void {
  if (facts.step.after_user || at > series.last + 1) series.gaps++
  if (isAskedToRetry(run, facts)) series.asked++
}

const isRefused = remember(
  (use: ToolUse): boolean =>
    use.fault === 'error' && use.sig !== null && use.out !== null && mayChange(use),
)

/** Tells whether a step has made a change. */
const hasMade = remember(({ uses }: StepFacts) =>
  uses.some((use) => use.is_answered && use.fault === null && effectOfTool(use) === 'changes'),
)

/** Tells whether a call, other than a command of a shell, can change something: its name reads nothing. */
function mayChange(use: ToolUse): boolean {
  if (commandOf(use) !== undefined) return false
  return effectOfTool(use) === 'changes' || !isReadingName(use.name)
}

/** Tells whether the user asked for the new attempt, agreed to it, or changed something outside before it. */
function isAskedToRetry({ messages }: TaskRun, { step }: StepFacts): boolean {
  const said = messages.filter(({ thread, call }) => thread === step.thread && call <= step.call)
  const at = said.findLastIndex(({ role, is_harness = false }) => role === 'user' && !is_harness)
  const asked = said[at]?.text.slice(0, message_chars_max) ?? ''
  const offered = said[at - 1]
  return (
    retry.test(asked) ||
    changedOutside.test(asked) ||
    (offered?.role === 'assistant' && /[?？]/.test(offered.text) && retry.test(offered.text))
  )
}

const message_chars_max = 2_000
const retry =
  /\b(?:again|retry|re-?try|once more|one more time|another (?:try|attempt|go)|nochmals?|noch einmal|erneut|encore|otra vez|de nuevo)\b|再/i

/** “I've topped up the card”, “it should work now”: the same call is a new attempt. */
const changedOutside =
  /\bi(?:'ve|’ve| have)? (?:now |just |already )*(?:topped|paid|unlocked|activated|chang|fixed|updat|add|enabl|restart|rais|transferr|install|remov|freed|verif|confirm|cleared|sign|logg|turned|switch|reset|charged|plugged|called|set |put )|\b(?:should|must|will) (?:work|go|be (?:fine|ok|possible)) now\b|\b(?:fixed|unlocked|open|active|back|done|ready|paid) now\b|\bhabe (?:\S+ ){0,6}(?:\p{L}*(?:ge|ent|be|ver|er|um)\p{L}+(?:t|en)|\p{L}+iert)(?!\p{L})|\bj'ai (?:\p{L}+ )?\p{L}+(?:é|mis|fait)(?!\p{L})|\b(?:ya )?(?:lo |la )?he (?:\p{L}+(?:ado|ido)|puesto|hecho)\b|我已经|もう一度できる/iu

function toScatteredFinding(
  run: TaskRun,
  { use, steps, asked }: Series,
  set: Settings,
): FindingDraft | undefined {
  const repeats = steps.length
  if (repeats < set.repeats || asked >= repeats - 1) return undefined
  return toLoopDraft(run, {
    type: 'repeat_error',
    severity: repeats >= set.high_repeats ? 'high' : 'medium',
    summary: `“${use.name}” failed ${repeats} times with the same arguments and the same error, and nothing was changed in between.`,
    steps,
    fresh: 1,
    period: null,
    repeats,
    threshold: set.repeats,
    evidence: {
      calls: toCallEvidence([use]),
      last_error: cutText(use.result ?? ''),
      polling: false,
    },
  })
}

function rowsOf(stretch: readonly StepFacts[]): StepFacts[][] {
  const rows: StepFacts[][] = []
  let row: StepFacts[] = []
  for (const facts of stretch) {
    const isOn = facts.fault === 'error' && facts.step.sig === row[0]?.step.sig
    if (!isOn) {
      row = []
      rows.push(row)
    }
    if (facts.fault === 'error' && facts.step.sig !== null) row.push(facts)
  }
  return rows.filter(({ length }) => length > 1)
}

function toFinding(
  run: TaskRun,
  steps: readonly StepFacts[],
  set: Settings,
): FindingDraft | undefined {
  const repeats = steps.length
  const is_polling = isPaced(run, steps, set.polling_gap_ms)
  const threshold = is_polling ? set.polling_warn_repeats : set.repeats
  if (repeats < threshold) return undefined
  const uses = steps[0]?.uses ?? []
  const isLoop = !is_polling || repeats >= set.polling_loop_repeats
  const high = repeats >= set.high_repeats && !is_polling
  const severity = high ? 'high' : isLoop ? 'medium' : 'low'
  const all = steps.flatMap((facts) => facts.uses)
  // Equal calls with equal results are a loop, errors or not.
  const isSame = steps.every(({ out }) => out !== null && out === steps[0]?.out)
  const error = steps.at(-1)?.uses[0]?.result
  return toLoopDraft(run, {
    type: 'repeat_error',
    severity: isSame ? severity : limitGuess(severity, all),
    summary: `${listToolNames(uses)} failed ${repeats} times in a row with the same arguments.`,
    steps,
    fresh: 1,
    period: 1,
    repeats,
    threshold,
    evidence: {
      calls: toCallEvidence(uses),
      last_error: error == null ? null : cutText(error),
      polling: is_polling,
    },
  })
}
