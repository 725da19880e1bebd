import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  commandOf,
  limitGuess,
  listToolNames,
  type StepFacts,
  stretchesOf,
  toCallEvidence,
  toLoopDraft,
} from '../../facts/index.ts'
import type { TaskRun } from '../../reconstruction/index.ts'

const source =
  'Source: 800 labelled runs: 10 to 21 % of passing ones have a tool error, almost none five in a row.'

const settings = z.strictObject({
  errors: z
    .int()
    .min(2)
    .max(1_000)
    .default(5)
    .describe(`Minimum errors in a row, over at least two steps, for a loop. ${source}`),
  equal_errors: z
    .int()
    .min(2)
    .max(1_000)
    .default(3)
    .describe(
      `Minimum steps in a row that fail with the same text for a loop; shells excluded. ${source}`,
    ),
  high_errors: z
    .int()
    .min(2)
    .max(1_000)
    .default(10)
    .describe(`Minimum errors in a row for high severity. ${source}`),
})
type Settings = z.output<typeof settings>

/** Finds consecutive failing calls with any arguments. Outages neither count nor end a streak. */
export const errorStreak: Detector<typeof settings> = {
  name: 'error_streak',
  kind: 'loop',
  types: ['error_streak'],
  version: 2,
  needs: ['tool_outcomes'],
  settings,
  detect(run, set, budget) {
    return stretchesOf(run).flatMap((stretch) => {
      budget.spend(stretch.length)
      return streaksOf(stretch).flatMap((streak) => toFindings(run, streak, set))
    })
  },
}

function streaksOf(stretch: readonly StepFacts[]): StepFacts[][] {
  const streaks: StepFacts[][] = [[]]
  for (const facts of stretch) {
    if (facts.uses.length === 0 || facts.fault === 'outage') continue
    if (facts.fault === 'error') streaks.at(-1)?.push(facts)
    else streaks.push([])
  }
  return streaks.filter(({ length }) => length > 1)
}

function toFindings(run: TaskRun, streak: readonly StepFacts[], set: Settings): FindingDraft[] {
  if (resultsOf(streak) >= set.errors)
    return [toFinding(run, streak, { threshold: set.errors, set })]
  return groupEqualErrors(streak)
    .filter((row) => row.length >= set.equal_errors)
    .map((row) => toFinding(run, row, { threshold: set.equal_errors, set }))
}

/** Counts results. Parallel calls count separately, but a single step is not a streak. */
function resultsOf(steps: readonly StepFacts[]): number {
  return steps.reduce((sum, { uses }) => sum + uses.length, 0)
}

/** Returns rows of equal error texts, from tools other than shells. */
function groupEqualErrors(streak: readonly StepFacts[]): StepFacts[][] {
  const rows: StepFacts[][] = []
  for (const facts of streak) {
    const said = errorOf(facts)
    const row = rows.at(-1)
    if (said !== undefined && row?.[0] !== undefined && errorOf(row[0]) === said) row.push(facts)
    else rows.push([facts])
  }
  return rows
}

function errorOf({ uses }: StepFacts): string | undefined {
  const outs = new Set(uses.map((use) => use.out))
  const [out] = outs
  if (outs.size !== 1 || out == null || uses.some((use) => commandOf(use) !== undefined))
    return undefined
  return out
}

type StreakRule = { threshold: number; set: Settings }

function toFinding(
  run: TaskRun,
  steps: readonly StepFacts[],
  { threshold, set }: StreakRule,
): FindingDraft {
  const uses = steps.flatMap((facts) => facts.uses)
  const repeats = resultsOf(steps)
  return toLoopDraft(run, {
    type: 'error_streak',
    severity: limitGuess(repeats >= set.high_errors ? 'high' : 'medium', uses),
    summary: `${repeats} tool calls in a row failed (${listToolNames(uses)}).`,
    steps,
    fresh: 1,
    period: null,
    repeats,
    threshold,
    evidence: { calls: toCallEvidence(uses), equal: threshold === set.equal_errors },
  })
}
