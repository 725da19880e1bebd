import { z } from 'zod'
import {
  type CheckedValue,
  checkAnswer,
  indexSeen,
  type SeenIndex,
} from '../../../provenance/sources/index.ts'
import type { Detector, FindingDraft, Severity, WorkBudget } from '../../contract.ts'
import { cutText, noWaste, placeKey, placeOfStep, readSeenTexts } from '../../facts/index.ts'
import { type Step, type TaskRun, text_chars_max } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds values in answers that the agent did not see: numbers, amounts, dates, ids, addresses and
 * quotations that neither a tool, the user nor the system gave, and that do not follow from what
 * they gave.
 */
export const unsupportedValue: Detector<typeof settings> = {
  name: 'unsupported_value',
  kind: 'claim',
  types: ['unsupported_value'],
  version: 2,
  needs: ['texts', 'results', 'history'],
  settings,
  detect(run, _settings, budget) {
    return answersOf(run).flatMap((step) => {
      const { values } = checkStep(run, step, budget)
      return values.length === 0 ? [] : toFinding(run, step, values)
    })
  },
  findGap(run) {
    for (const step of answersOf(run)) {
      const gap = checked.get(step)?.gap
      if (gap !== undefined) return `some answers were not compared: ${gap}`
    }
    return undefined
  },
  countValues(run) {
    const counts = { checked: 0, not_checked: 0 }
    for (const step of answersOf(run)) {
      const { total, unchecked } = checked.get(step) ?? nothing
      counts.checked += total - unchecked
      counts.not_checked += unchecked
    }
    return counts
  },
}

/** Returns the answers of the model that ask for no tool. */
function answersOf({ steps }: TaskRun): Step[] {
  return steps.filter(({ tools, text }) => tools.length === 0 && text !== null && text !== '')
}

/** The unsupported values of an answer, or why they are unknown. */
type CheckedAnswer = {
  values: readonly CheckedValue[]
  gap?: string
  /** Values that need a source, and how many of them were not checked. */
  total: number
  unchecked: number
}

/** A reconstruction keeps a step while nothing before it changes. */
const checked = new WeakMap<Step, CheckedAnswer>()

function checkStep(run: TaskRun, step: Step, budget: WorkBudget): CheckedAnswer {
  const known = checked.get(step)
  if (known !== undefined) return known
  const result = findUnsupported(run, step, budget)
  checked.set(step, result)
  return result
}

type Seen = ReturnType<typeof readSeenTexts>

const nothing: CheckedAnswer = { values: [], total: 0, unchecked: 0 }
const emptyIndex: SeenIndex = indexSeen([])

function findUnsupported(run: TaskRun, step: Step, budget: WorkBudget): CheckedAnswer {
  const answer = step.text ?? ''
  budget.spend(answer.length)
  const values = checkAnswer(answer, emptyIndex).filter(isOpen)
  // Most answers have no value that needs a source.
  if (values.length === 0) return nothing
  const total = values.length
  const unknown = { values: [], total, unchecked: total }
  const seen = readSeenTexts(run, step)
  const { texts, hasFacts, gap } = seen
  if (hasFacts === 'none') return unknown
  const chars = texts.reduce((sum, { text }) => sum + text.length, 0)
  budget.spend(chars / search_speed)
  if (values.every(({ value }) => isQuoted(value, texts)))
    return { values: [], total, unchecked: 0 }
  if (gap !== undefined) return { ...unknown, gap }
  if (chars > seen_chars_max) return { ...unknown, gap: `more than ${seen_chars_max} characters` }
  budget.spend(chars)
  const index = indexSeen(texts, seen_values_max)
  if (!index.isComplete) return { ...unknown, gap: manyValues }
  return compareValues(step, checkAnswer(answer, index), { seen, index })
}

/** Selects the unsupported values of an answer, and counts those that say nothing either way. */
function compareValues(
  step: Step,
  checks: readonly CheckedValue[],
  { seen, index }: { seen: Seen; index: SeenIndex },
): CheckedAnswer {
  const answer = step.text ?? ''
  const total = checks.filter(isOpen).length
  const claimed = checks.filter((value) => isClaimed(value, answer))
  const unchecked = checks.filter(
    (value) =>
      value.verdict === 'not_checked' || (isUnsupported(value) && !claimed.includes(value)),
  ).length
  const open = claimed.filter((value) => !isBare(value, index))
  const supported = checks.filter(({ verdict }) => verdict === 'seen' || verdict === 'derived')
  // Without tools, an answer from general knowledge is not a fault: it must follow the document.
  if (seen.hasFacts === 'document' && supported.length < Math.max(2, open.length))
    return { values: [], total, unchecked: unchecked + open.length }
  if (open.length === 0) return { values: [], total, unchecked }
  const isOwn = findOwn(answer, seen)
  const values = open.filter(({ at: [start] }) => !isOwn.has(start)).slice(0, values_max)
  return { values, total, unchecked }
}

/** Returns the starts of ids that the agent passed to tools, and of counts of its calls. */
function findOwn(answer: string, { asked, counts }: Seen): ReadonlySet<number> {
  const ids = checkAnswer(answer, indexSeen(asked)).filter(({ kind }) => kind === 'id')
  const numbers = checkAnswer(answer, indexSeen(counts)).filter(isCount)
  const own = [...ids, ...numbers].filter(({ verdict }) => verdict === 'seen')
  return new Set(own.map(({ at: [start] }) => start))
}

function isCount({ kind }: CheckedValue): boolean {
  return kind === 'number' || kind === 'quantity'
}

/** Tells whether a seen text has a value as a whole word; an index is then needless. */
function isQuoted(value: string, texts: Seen['texts']): boolean {
  return texts.some(({ text }) => {
    let at = text.indexOf(value)
    for (let tries = 0; at !== -1 && tries < quotes_max; tries++) {
      const end = at + value.length
      const isWhole =
        !wordBefore.test(text.slice(Math.max(0, at - 2), at)) &&
        !wordAfter.test(text.slice(end, end + 2))
      if (isWhole) return true
      at = text.indexOf(value, at + 1)
    }
    return false
  })
}

/**
 * Tells whether a seen text has the number of a value without any unit, as tables and JSON have.
 * An amount in a currency that the agent did not see does not count.
 */
function isBare({ kind, value }: CheckedValue, { texts, currencies }: SeenIndex): boolean {
  if (!measured.has(kind)) return false
  const [digits] = /\d[\d.,’']*(?<!\D)/.exec(value) ?? []
  if (digits === undefined) return oneUnit.test(value)
  if (kind === 'money' && currencies.size > 0) {
    const currency = value.replace(/[\d.,’'\s-]/g, '').toLowerCase()
    if (!texts.some(({ text }) => text.toLowerCase().includes(currency))) return false
  }
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}\\p{Sc}_.,-])${digits.replaceAll('.', '\\.')}\\s*(?:[,;\\]}|"]|$)`,
    'mu',
  )
  return texts.some(({ text }) => text.includes(digits) && pattern.test(text))
}

const measured: ReadonlySet<string> = new Set(['money', 'quantity', 'percent'])
/** “One euro is 163.2 yen” states a rate. */
const oneUnit = /^(?:one|eine?|une?|una?|uno)\b/i

/** Occurrences of a value that are compared in one text. */
const quotes_max = 20
/** Neighbours that make another value: `40` is not in `$40`, `40 %`, `1,402` or `A-40`. */
const wordBefore = /[\p{L}\p{N}\p{Sc}_-]$|[\d\p{Sc}][.,:/ ]$/u
const wordAfter = /^(?:[\p{L}\p{N}\p{Sc}%_-]|[.,:/ ][\d\p{Sc}%])/u
/** Searching is this many times as fast as reading values. */
const search_speed = 16

/** Maximum characters of all texts that an answer is compared with. */
const seen_chars_max = 2_000_000
/** Maximum values of all texts: a thousand take about 25 ms. */
const seen_values_max = 25_000
const manyValues = `more than ${seen_values_max.toLocaleString('en-US')} values`
/** Maximum values of a finding. */
const values_max = 50

function isOpen({ verdict }: CheckedValue): boolean {
  return verdict !== 'exempt'
}

function isUnsupported({ verdict }: CheckedValue): boolean {
  return verdict === 'unsupported'
}

/** Numbers of a JSON answer may be scores of the model; a cut answer may end within a value. */
function isClaimed(value: CheckedValue, answer: string): boolean {
  const {
    kind,
    at: [, end],
  } = value
  if (!isUnsupported(value)) return false
  if (end >= text_chars_max - 1) return false
  return !(/^\s*[[{]/.test(answer) && (kind === 'number' || kind === 'percent'))
}

const strong: ReadonlySet<string> = new Set(['money', 'id', 'url', 'email', 'quote'])
const many_values = 3
/** Up to this number, an integer without a unit may count things that only a reader counts. */
const countable_max = 20

/**
 * At most medium: on runs that nothing was tuned to, a third of the flags were wrong
 * (docs/reference/verification.md).
 */
function severityOf(values: readonly CheckedValue[]): Severity {
  const isStrong = values.some(({ kind }) => strong.has(kind))
  return values.length >= many_values || isStrong ? 'medium' : 'low'
}

function isCountable(one: CheckedValue): boolean {
  const { value } = one
  return (
    isCount(one) && (!/\d/.test(value) || (/^\d+$/.test(value) && Number(value) <= countable_max))
  )
}

function confidenceOf(values: readonly CheckedValue[]): number {
  if (values.some(({ kind }) => strong.has(kind))) return 0.7
  return values.every(isCountable) ? 0.5 : 0.6
}

function toFinding(run: TaskRun, step: Step, values: readonly CheckedValue[]): FindingDraft[] {
  const place = placeOfStep(run, step.index)
  if (place === undefined) return []
  const [first] = values
  const others = values.length === 1 ? '' : ` and ${values.length - 1} more`
  return [
    {
      kind: 'claim',
      type: 'unsupported_value',
      severity: severityOf(values),
      anchor: placeKey(place),
      summary: `The answer states “${cutText(first?.value ?? '', value_chars_max)}”${others}, not found in what the agent saw.`,
      ...{ start_step: step.index, end_step: step.index, period: null },
      repeats: values.length,
      places: [place],
      ...noWaste,
      recovered: false,
      confidence: confidenceOf(values),
      evidence: {
        answer: cutText(step.text ?? ''),
        values: values.map(({ value, kind, at }) => ({
          ...{ value: cutText(value, value_chars_max), kind, at },
          note: 'not found in what the agent saw',
        })),
      },
    },
  ]
}

const value_chars_max = 120
