import { z } from 'zod'
import {
  type CheckedValue,
  checkAnswer,
  indexSeen,
  type SeenIndex,
} from '../../../provenance/sources/index.ts'
import { type Detector, type FindingDraft, severities, type WorkBudget } from '../../contract.ts'
import {
  cutText,
  findConfirmed,
  type Grounds,
  noteOf,
  noWaste,
  placeKey,
  placeOfStep,
  readSeenTexts,
  remember,
  severityOfValue,
  shorten,
  summaryOf,
  wordsOfValue,
} from '../../facts/index.ts'
import { type Step, type TaskRun, text_chars_max } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  grounded_share_min: z
    .number()
    .min(0.5)
    .max(1)
    .default(0.95)
    .describe(
      'Share of the other values of an answer that must have a source for medium severity. Source: 0 of 78 clean runs flagged at 0.95.',
    ),
})

/**
 * Lists the values of answers that have no source: numbers, amounts, dates, ids, addresses and
 * quotations that neither a tool, the user nor the system gave, and that do not follow from what
 * they gave by an operation that the answer names.
 */
export const unsupportedValue: Detector<typeof settings> = {
  name: 'unsupported_value',
  kind: 'claim',
  types: ['unsupported_value'],
  version: 4,
  needs: ['texts', 'results', 'history'],
  settings,
  detect(run, { grounded_share_min }, budget) {
    const proved = new Set<string>()
    return answersOf(run).flatMap((step) => {
      const answer = checkStep(run, step, budget)
      const values = answer.values.filter((value) => !proved.has(wordsOfValue(value)))
      for (const value of answer.derived) proved.add(wordsOfValue(value))
      return values.length === 0
        ? []
        : toFinding(run, step, { ...answer, values }, grounded_share_min)
    })
  },
  findGap(run) {
    const [gap] = answersOf(run).flatMap((step) => checked.get(step)?.gap ?? [])
    return gap && `some answers were not compared: ${gap}`
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

/** The values of an answer without a source, or why they are unknown. */
type CheckedAnswer = {
  values: readonly CheckedValue[]
  gap?: string
  /** Values that need a source, how many have one, and how many of these were calculated. */
  total: number
  found: number
  /** The calculated ones: later answers can repeat them. */
  derived: readonly CheckedValue[]
  /** Values that were not compared with anything. */
  unchecked: number
  hasTools: boolean
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
type SeenText = Seen['texts'][number]

const nothing: CheckedAnswer = {
  values: [],
  derived: [],
  total: 0,
  found: 0,
  unchecked: 0,
  hasTools: false,
}
const emptyIndex: SeenIndex = indexSeen([])

function findUnsupported(run: TaskRun, step: Step, budget: WorkBudget): CheckedAnswer {
  const answer = step.text ?? ''
  budget.spend(answer.length)
  const values = checkAnswer(answer, emptyIndex).filter(isOpen)
  // Most answers have no value that needs a source.
  if (values.length === 0) return nothing
  const total = values.length
  const unknown = { ...nothing, total, unchecked: total }
  const seen = readSeenTexts(run, step)
  const { texts, gap } = seen
  const chars = texts.reduce((sum, { text }) => sum + text.length, 0)
  budget.spend(chars / search_speed)
  if (gap !== undefined) return { ...unknown, gap }
  if (chars > seen_chars_max) return { ...unknown, gap: `more than ${seen_chars_max} characters` }
  spendOnNew(run, chars, budget)
  const own = seen.asked.map((one) => ({ ...one, isOwn: true }))
  const compare = (more: readonly SeenText[]) => {
    const index = indexSeen([...texts, ...more, ...own], seen_values_max)
    return index.isComplete ? checkAnswer(answer, index) : undefined
  }
  let checks = compare([])
  // Most answers need no sum over all pages of a list.
  const pages = checks?.some(isMissing) === true ? seen.pages() : []
  if (pages.length > 0) checks = compare(pages)
  return checks === undefined ? { ...unknown, gap: manyValues } : compareValues(step, checks, seen)
}

/** Characters that earlier answers of a run were compared with: they are read already. */
const readBefore = remember((_first: Step) => ({ chars: 0 }))

function spendOnNew({ steps }: TaskRun, chars: number, budget: WorkBudget): void {
  const [first] = steps
  if (first === undefined) return
  const known = readBefore(first)
  budget.spend(Math.max(0, chars - known.chars))
  known.chars = Math.max(chars, known.chars)
}

/** Selects the values of an answer without a source, and counts those with one. */
function compareValues(step: Step, checks: readonly CheckedValue[], seen: Seen): CheckedAnswer {
  const answer = step.text ?? ''
  const total = checks.filter(isOpen).length
  const counted = startsOfCounts(answer, checks, seen)
  const derived = checks.filter(({ verdict }) => verdict === 'derived')
  const found =
    derived.length + checks.filter(({ verdict }) => verdict === 'seen').length + counted.size
  const missing = checks.filter(isMissing).filter(({ at: [start] }) => !counted.has(start))
  const claimed = missing.filter((value) => isClaimed(value, answer))
  const counts = { total, found, derived, hasTools: seen.hasFacts === 'results' }
  // Without tools and documents, an answer without any source is general knowledge.
  const isKnowledge = seen.hasFacts === 'none' && found === 0
  const values = isKnowledge ? claimed.filter(isOfOwnDomain) : claimed
  return {
    ...counts,
    values: values.slice(0, values_max),
    unchecked: total - found - values.length,
  }
}

/** Reports whether a value is an address of the user's own domain: general knowledge does not give it. */
function isOfOwnDomain({ kind, doubt }: CheckedValue): boolean {
  return (kind === 'url' || kind === 'email') && doubt === undefined
}

/** Returns the starts of numbers that count the calls of the agent. */
function startsOfCounts(
  answer: string,
  checks: readonly CheckedValue[],
  { counts }: Seen,
): ReadonlySet<number> {
  if (!checks.some((one) => isMissing(one) && isCount(one))) return new Set()
  const numbers = checkAnswer(answer, indexSeen(counts)).filter(isCount)
  const missing = new Set(checks.filter(isMissing).map(({ at: [start] }) => start))
  const own = numbers.filter(({ verdict, at: [start] }) => verdict === 'seen' && missing.has(start))
  return new Set(own.map(({ at: [start] }) => start))
}

function isCount({ kind }: CheckedValue): boolean {
  return kind === 'number' || kind === 'quantity'
}

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

function isMissing({ verdict }: CheckedValue): boolean {
  return verdict === 'unsupported' || verdict === 'other_subject'
}

/** Numbers of a JSON answer may be scores of the model; a cut answer may end within a value. */
function isClaimed({ kind, at: [, end] }: CheckedValue, answer: string): boolean {
  if (end >= text_chars_max - 1) return false
  return !(/^\s*[[{]/.test(answer) && (kind === 'number' || kind === 'percent'))
}

const strong: ReadonlySet<string> = new Set(['money', 'id', 'url', 'email', 'quote'])
/** Up to this number, an integer without a unit may count things that only a reader counts. */
const countable_max = 20

function isCountable(one: CheckedValue): boolean {
  if (!isCount(one) || !/\d/.test(one.value)) return isCount(one)
  return /^\d+$/.test(one.value) && Number(one.value) <= countable_max
}

function confidenceOf(values: readonly CheckedValue[]): number {
  if (values.some(({ kind }) => strong.has(kind))) return 0.7
  return values.every(isCountable) ? 0.5 : 0.6
}

function toFinding(
  run: TaskRun,
  step: Step,
  answer: CheckedAnswer,
  share_min: number,
): FindingDraft[] {
  const place = placeOfStep(run, step.index)
  if (place === undefined) return []
  const { values, found, total } = answer
  const grounds: Grounds = { ...answer, share_min }
  const isConfirmed = findConfirmed(run, step)
  const rated = values.map((value) => {
    const severity = severityOfValue(value, grounds)
    return { value, severity: severity === 'medium' && isConfirmed(value) ? 'low' : severity }
  })
  const ranks = rated.map(({ severity }) => severities.indexOf(severity))
  const severity = severities[Math.max(...ranks)] ?? 'low'
  const worst = rated.filter((one) => one.severity === severity).map((one) => one.value)
  return [
    {
      kind: 'claim',
      type: 'unsupported_value',
      severity,
      anchor: placeKey(place),
      summary: summaryOf(values, worst, { found, total }),
      start_step: step.index,
      end_step: step.index,
      period: null,
      repeats: values.length,
      places: [place],
      ...noWaste,
      recovered: false,
      confidence: confidenceOf(worst),
      evidence: {
        answer: cutText(step.text ?? ''),
        values_found: found,
        values_total: total,
        values: rated.map(({ value, severity: own }) => ({
          value: shorten(value.value),
          kind: value.kind,
          at: value.at,
          severity: own,
          reason: value.doubt ?? null,
          note: noteOf(value),
        })),
      },
    },
  ]
}
