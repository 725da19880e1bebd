import { z } from 'zod'
import type { Detector, FindingDraft, Severity, WorkBudget } from '../../contract.ts'
import {
  asksForRepetition,
  cutText,
  getJaccard,
  remember,
  type StepFacts,
  stretchesOf,
  toLoopDraft,
  toPlainText,
  toTokenSet,
} from '../../facts/index.ts'
import type { Step, TaskRun } from '../../reconstruction/index.ts'

const source = 'Source: OpenHands counts three equal messages of an agent as stuck.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(3)
    .describe(`Minimum equal texts in a row for a loop. ${source}`),
  similar_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(4)
    .describe(`Minimum nearly equal texts in a row for a loop. ${source}`),
  jaccard_min: z
    .number()
    .min(0.5)
    .max(1)
    .default(0.9)
    .describe(`Minimum share of common words for two texts to count as nearly equal. ${source}`),
  high_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(5)
    .describe(`Minimum texts in a row for high severity. ${source}`),
})
type Settings = z.output<typeof settings>

/** Finds equal answers in a row, without a tool result or a user message between them. */
export const monologue: Detector<typeof settings> = {
  name: 'monologue',
  kind: 'loop',
  types: ['monologue'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, set, budget) {
    return stretchesOf(run).flatMap((stretch) =>
      talksOf(run, stretch).flatMap((talk) => toFindings(run, talk, { set, budget })),
    )
  },
}

/** Returns rows of text-only answers, each given after the previous one ended. */
function talksOf(run: TaskRun, stretch: readonly StepFacts[]): StepFacts[][] {
  const talks: StepFacts[][] = []
  let before: StepFacts | undefined
  for (const facts of stretch) {
    const isTalk = facts.step.tools.length === 0 && plainTextOf(facts.step) !== ''
    if (isTalk && before !== undefined && isAfter(run, before.step, facts.step)) {
      talks.at(-1)?.push(facts)
    } else if (isTalk) talks.push([facts])
    before = isTalk ? facts : undefined
  }
  return talks.filter(({ length }) => length > 1)
}

function isAfter({ calls }: TaskRun, one: Step, next: Step): boolean {
  const before = calls[one.call]
  const after = calls[next.call]
  return before !== undefined && after !== undefined && after.start_time >= before.end_time
}

type Limits = { set: Settings; budget: WorkBudget }

function toFindings(
  run: TaskRun,
  talk: readonly StepFacts[],
  { set, budget }: Limits,
): FindingDraft[] {
  budget.spend(talk.length)
  const equal = rowsOf(talk, (one, other) => plainTextOf(one.step) === plainTextOf(other.step))
  const loops = equal.filter(({ length }) => length >= set.repeats)
  const similar = rowsOf(talk, (one, other) => {
    const words = wordsOf(one.step)
    budget.spend(words.size)
    return getJaccard(words, wordsOf(other.step)) >= set.jaccard_min
  })
  const nearly = similar.filter(({ length }) => length >= set.similar_repeats)
  const covered = new Set(nearly.flat())
  return [
    ...nearly.map((row) => toFinding(run, row, { threshold: set.similar_repeats, set })),
    ...loops
      .filter(([first]) => first !== undefined && !covered.has(first))
      .map((row) => toFinding(run, row, { threshold: set.repeats, set })),
  ]
}

type IsLike = (one: StepFacts, other: StepFacts) => boolean

/** Returns maximal rows in which each step is similar to the previous one. */
function rowsOf(talk: readonly StepFacts[], isLike: IsLike): StepFacts[][] {
  const rows: StepFacts[][] = []
  for (const facts of talk) {
    const row = rows.at(-1)
    const last = row?.at(-1)
    if (row !== undefined && last !== undefined && isLike(last, facts)) row.push(facts)
    else rows.push([facts])
  }
  return rows
}

const plainTextOf = remember((step: Step) => toPlainText(step.text ?? ''))
const wordsOf = remember((step: Step) => toTokenSet(step.text ?? ''))

type RowRule = { threshold: number; set: Settings }

function toFinding(
  run: TaskRun,
  steps: readonly StepFacts[],
  { threshold, set }: RowRule,
): FindingDraft {
  const repeats = steps.length
  const isEqual = new Set(steps.map(({ step }) => plainTextOf(step))).size === 1
  return toLoopDraft(run, {
    type: 'monologue',
    severity: severityOf(run, steps, set),
    summary: `The model said ${isEqual ? '' : 'nearly '}the same ${repeats} times in a row without a tool or a user in between.`,
    steps,
    fresh: 1,
    period: 1,
    repeats,
    threshold: isEqual ? set.repeats : threshold,
    evidence: { text: cutText(steps[0]?.step.text ?? ''), equal: isEqual },
  })
}

function severityOf(run: TaskRun, steps: readonly StepFacts[], set: Settings): Severity {
  if (asksForRepetition(run, steps[0])) return 'low'
  return steps.length >= set.high_repeats ? 'high' : 'medium'
}
