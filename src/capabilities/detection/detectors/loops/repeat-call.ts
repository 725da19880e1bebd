import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  asksForRepetition,
  isAcknowledged,
  isPolling,
  pollingSettings,
  type StepFacts,
  stretchesOf,
  tellCalls,
  toCallEvidence,
  toLoopDraft,
} from '../../facts/index.ts'
import type { TaskRun } from '../../reconstruction/index.ts'

const source =
  'Source: OpenHands and gemini-cli stop at three to five; 10 to 16 % of passing runs have equal ' +
  'calls, almost none with equal results.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(3)
    .describe(`Minimum equal calls with equal results in a row for a loop. ${source}`),
  high_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(5)
    .describe(`Minimum for high severity. ${source}`),
  ...pollingSettings,
})
type Settings = z.output<typeof settings>

/** Finds the same calls with the same results in a row: asking again brought nothing new. */
export const repeatCall: Detector<typeof settings> = {
  name: 'repeat_call',
  kind: 'loop',
  types: ['repeat_call'],
  version: 1,
  needs: ['arguments', 'results'],
  settings,
  detect(run, set, budget) {
    return stretchesOf(run).flatMap((stretch) => {
      budget.spend(stretch.length)
      return rowsOf(stretch).flatMap((steps) => toFinding(run, steps, set) ?? [])
    })
  },
}

/** Returns maximal rows of at least two steps with equal calls whose known results are equal. */
function rowsOf(stretch: readonly StepFacts[]): StepFacts[][] {
  const rows: StepFacts[][] = []
  let row: StepFacts[] = []
  let out: string | null = null
  for (const facts of stretch) {
    const isSame = row[0] !== undefined && isEqualCall(row[0], facts)
    const isOn = isSame && (out === null || facts.out === null || facts.out === out)
    if (!isOn) {
      row = []
      out = null
      rows.push(row)
    }
    row.push(facts)
    out ??= facts.out
  }
  return rows.filter(({ length }) => length > 1)
}

function isEqualCall(one: StepFacts, other: StepFacts): boolean {
  const { sig } = one.step
  return (
    sig !== null && sig === other.step.sig && one.fault !== 'outage' && other.fault !== 'outage'
  )
}

/** Maximum unknown results in a row, because equal calls alone prove nothing. */
const maxUnknownResults = 1

function toFinding(
  run: TaskRun,
  steps: readonly StepFacts[],
  set: Settings,
): FindingDraft | undefined {
  const known = steps.filter(({ out }) => out !== null).length
  const is_polling = isPolling(run, steps, set.polling_gap_ms)
  const threshold = is_polling ? set.polling_warn_repeats : set.repeats
  const repeats = steps.length
  const uses = steps[0]?.uses ?? []
  if (repeats < threshold || known < Math.max(2, threshold - maxUnknownResults)) return undefined
  return toLoopDraft(run, {
    type: 'repeat_call',
    severity: severityOf(repeats, is_polling ? 'polls' : natureOf(run, steps), set),
    summary: `${tellCalls(uses)} ${repeats} times in a row with the same arguments and the same result.`,
    steps,
    fresh: 1,
    period: 1,
    repeats,
    threshold,
    evidence: { calls: toCallEvidence(uses), polling: is_polling },
  })
}

/** `acts`: the repetition may be intended, such as adding the same item twice. */
type Nature = 'polls' | 'acts' | 'asked_for' | 'asks'

function natureOf(run: TaskRun, steps: readonly StepFacts[]): Nature {
  const uses = steps[0]?.uses ?? []
  if (asksForRepetition(run, steps[0])) return 'asked_for'
  return uses.length > 0 && uses.every(isAcknowledged) ? 'acts' : 'asks'
}

function severityOf(repeats: number, nature: Nature, set: Settings): Severity {
  const isHigh = repeats >= set.high_repeats
  if (nature === 'polls') return repeats >= set.polling_loop_repeats ? 'medium' : 'low'
  if (nature === 'asked_for') return 'low'
  if (nature === 'acts') return isHigh ? 'medium' : 'low'
  return isHigh ? 'high' : 'medium'
}
