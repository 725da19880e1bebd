import { z } from 'zod'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import {
  type Chant,
  cutText,
  findChant,
  getRepetitionConfidence,
  placeKey,
  placeOfStep,
  remember,
  splitProse,
  toPlainText,
} from '../../facts/index.ts'
import type { Step, TaskRun } from '../../reconstruction/index.ts'

const source = 'Source: the content check of gemini-cli (chunks of 50 characters, ten times).'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(3)
    .max(1_000)
    .default(10)
    .describe(`Minimum repeats of a piece of text in one answer for a loop. ${source}`),
  gap_chars_max: z
    .int()
    .min(10)
    .max(5_000)
    .default(250)
    .describe(`Maximum average distance between repeats in characters. ${source}`),
  periods_max: z
    .int()
    .min(1)
    .max(1_000)
    .default(5)
    .describe(`Maximum different texts between repeats; more make it a list. ${source}`),
  high_repeats: z
    .int()
    .min(3)
    .max(10_000)
    .default(30)
    .describe(`Minimum repeats for high severity. ${source}`),
})
type Settings = z.output<typeof settings>

/** Finds answers that repeat the same piece of text. */
export const contentChant: Detector<typeof settings> = {
  name: 'content_chant',
  kind: 'loop',
  types: ['content_chant'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, set, budget) {
    return run.steps.flatMap((step) => {
      const chant = chantOf(step, set, budget)
      return chant === undefined || isQuoted(run, step, chant)
        ? []
        : [toFinding(run, step, { chant, set })]
    })
  },
}

const partsOf = remember((step: Step) => splitProse(step.text ?? ''))
/** Chants by settings as text: equal for all steps of a run, but they can change between runs. */
const chantsOf = remember((_step: Step) => new Map<string, Chant | undefined>())

function chantOf(step: Step, set: Settings, budget: WorkBudget): Chant | undefined {
  budget.spend(1)
  const key = `${set.repeats} ${set.gap_chars_max} ${set.periods_max}`
  const known = chantsOf(step)
  if (!known.has(key)) known.set(key, findLongestChant(partsOf(step), set, budget))
  return known.get(key)
}

function findLongestChant(
  parts: readonly string[],
  set: Settings,
  budget: WorkBudget,
): Chant | undefined {
  let longest: Chant | undefined
  for (const part of parts) {
    budget.spend(part.length)
    const chant = findChant(part, set)
    if (chant !== undefined && chant.chars > (longest?.chars ?? 0)) longest = chant
  }
  return longest
}

/** Maximum user and tool messages searched for the piece. */
const sources_max = 8
const quoted_chars = 30

/** Tells whether the piece was quoted: `write it a hundred times`, or a quoted log. */
function isQuoted(run: TaskRun, step: Step, { chunk }: Chant): boolean {
  const said = toPlainText(chunk).slice(0, quoted_chars)
  let left = sources_max
  for (let at = run.messages.length - 1; at >= 0 && left > 0; at--) {
    const message = run.messages[at]
    if (message === undefined || message.role === 'assistant') continue
    if (message.thread !== step.thread || message.call > step.call) continue
    if (toPlainText(message.text).includes(said)) return true
    left--
  }
  return false
}

type FoundChant = { chant: Chant; set: Settings }

function toFinding(run: TaskRun, step: Step, { chant, set }: FoundChant): FindingDraft {
  const place = placeOfStep(run, step.index)
  const { repeats } = chant
  return {
    kind: 'loop',
    type: 'content_chant',
    severity: repeats >= set.high_repeats ? 'high' : 'medium',
    anchor: place === undefined ? `step:${step.index}` : placeKey(place),
    summary: `One answer said the same piece of text ${repeats} times.`,
    start_step: step.index,
    end_step: step.index,
    period: null,
    repeats,
    places: place === undefined ? [] : [place],
    ...wasteOf(run, step, chant),
    recovered: false,
    confidence: getRepetitionConfidence({
      repeats,
      threshold: set.repeats,
      is_result_missing: false,
      is_partial: step.is_partial,
    }),
    evidence: { text: cutText(chant.period), chars: chant.chars, periods: chant.periods },
  }
}

/** Returns the repeated share of the answer's output tokens, and the proportional cost. */
function wasteOf(run: TaskRun, { call: index, text }: Step, { chars, repeats }: Chant) {
  const call = run.calls[index]
  const output = call?.output_tokens ?? 0
  const share = Math.min(1, (chars * (1 - 1 / repeats)) / Math.max(1, text?.length ?? 1))
  const wasted_tokens = Math.round(output * share)
  const all = BigInt(Math.max(1, output + (call?.input_tokens ?? 0)))
  return {
    wasted_tokens,
    wasted_nano_dollars: ((call?.nano_dollars ?? 0n) * BigInt(wasted_tokens)) / all,
  }
}
