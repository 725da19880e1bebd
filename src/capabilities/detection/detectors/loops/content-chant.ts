import { z } from 'zod'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import {
  cutText,
  getRepetitionConfidence,
  placeKey,
  placeOfStep,
  remember,
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

/** A piece of text that repeats within an answer. */
type Chant = {
  /** The repeated piece, `chunk_chars` long, and the text from its start to the next repetition. */
  chunk: string
  period: string
  repeats: number
  /** Characters from the start of the first to the end of the last repetition. */
  chars: number
  /** Number of different texts between repetitions. */
  periods: number
}

const chunk_chars = 50
/** Shorter repetition is emphasis (`hahaha`). */
const chars_min = 200

type ChantRule = { repeats: number; gap_chars_max: number; periods_max: number }

/**
 * Returns the most repeated piece of a text that the rule accepts as a chant, otherwise undefined.
 * Linear: each position is looked up once.
 */
function findChant(text: string, rule: ChantRule): Chant | undefined {
  if (text.length < chars_min || !mayRepeat(text, rule.gap_chars_max)) return undefined
  const places = new Map<string, number[]>()
  for (let at = 0; at + chunk_chars <= text.length; at++) {
    const chunk = text.slice(at, at + chunk_chars)
    const known = places.get(chunk)
    if (known === undefined) places.set(chunk, [at])
    else known.push(at)
  }
  let most: Chant | undefined
  for (const [chunk, at] of places) {
    if (at.length < rule.repeats || at.length <= (most?.repeats ?? 0)) continue
    most = toChant(text, { chunk, at }, rule) ?? most
  }
  return most
}

/** Distance of the positions probed first: a chant repeats soon after at least one of them. */
const probe_chars = 25
const probeGaps = 3

function mayRepeat(text: string, gap_chars_max: number): boolean {
  for (let at = 0; at + chunk_chars <= text.length; at += probe_chars) {
    const chunk = text.slice(at, at + chunk_chars)
    const ahead = text.slice(at + 1, at + 1 + chunk_chars + probeGaps * gap_chars_max)
    if (ahead.includes(chunk)) return true
  }
  return false
}

type ChunkPositions = { chunk: string; at: readonly number[] }

/** Returns the chant of the longest row of nearby positions, if it is one. */
function toChant(text: string, { chunk, at }: ChunkPositions, rule: ChantRule): Chant | undefined {
  if (!isProse(chunk)) return undefined
  const row = findLongestRow(at, rule.gap_chars_max * probeGaps)
  const first = row[0] ?? 0
  const last = row.at(-1) ?? 0
  const chars = last - first + chunk_chars
  if (row.length < rule.repeats || chars < chars_min) return undefined
  if ((last - first) / (row.length - 1) > rule.gap_chars_max) return undefined
  const periods = new Set(row.slice(1).map((place, nth) => text.slice(row[nth] ?? 0, place)))
  if (periods.size > rule.periods_max) return undefined
  const [period = chunk] = periods
  return { chunk, period, repeats: row.length, chars, periods: periods.size }
}

/** Returns the longest row in which neighbours are at most `gap_max` apart. */
function findLongestRow(at: readonly number[], gap_max: number): number[] {
  let longest: number[] = []
  let row: number[] = []
  for (const place of at) {
    if (place - (row.at(-1) ?? place) > gap_max) row = []
    row.push(place)
    if (row.length > longest.length) longest = row
  }
  return longest
}

/** Tells whether letters make up enough of it, unlike in rules, dot leaders and numbers. */
function isProse(chunk: string): boolean {
  const letters = chunk.match(/\p{L}/gu)?.length ?? 0
  return letters >= chunk_chars / 3
}

/**
 * Splits the prose of a text at fenced code, tables, lists, headings, quotations and rules, which
 * are left out because they repeat for a reason. Data and markup have no prose.
 */
function splitProse(text: string): string[] {
  if (isDataText(text)) return []
  const parts: string[] = []
  let part: string[] = []
  let fence: string | undefined
  const close = () => {
    if (part.length > 0) parts.push(part.join('\n'))
    part = []
  }
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    const mark = findFence(trimmed)
    if (fence !== undefined) {
      if (mark !== undefined && mark === fence) fence = undefined
    } else if (mark !== undefined) {
      fence = mark
      close()
    } else if (isMarked(line, trimmed)) close()
    else part.push(line)
  }
  close()
  return parts
}

function isDataText(text: string): boolean {
  const start = text.slice(0, 200).trimStart()
  return (
    /^(\{\s{0,100}["'}]|\[\s{0,100}[["'{\d\]])/.test(start) || /^<(?!think|reason)/i.test(start)
  )
}

function findFence(line: string): string | undefined {
  if (line.startsWith('```')) return '```'
  return line.startsWith('~~~') ? '~~~' : undefined
}

/** Tells whether a line belongs to a table, list, heading, quotation, rule, markup, log or code. */
function isMarked(line: string, trimmed: string): boolean {
  if (/^\[?(INFO|WARN|WARNING|ERROR|DEBUG|TRACE|\d{4}-\d\d)\b/.test(trimmed)) return true
  if (/^(#{1,6} |>|<[a-z/]|[-*+•–] |\d{1,9}[.)] |\(?[a-z\d][.)] )/i.test(trimmed)) return true
  if (trimmed.startsWith('|') || trimmed.split('|').length > 2 || trimmed.includes('\t'))
    return true
  if (/^(\t| {4})/.test(line) || isCode(trimmed)) return true
  return trimmed !== '' && !/[\p{L}\p{N}]/u.test(trimmed)
}

/** Recognises a statement (`f(x);`, `} else {`) and fields separated by commas without spaces. */
function isCode(trimmed: string): boolean {
  if (/[;{}]$/.test(trimmed) && /[()=<>{}]/.test(trimmed)) return true
  return (trimmed.match(/[,;](?=[^\s])/g)?.length ?? 0) >= 3
}
