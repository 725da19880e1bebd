import { z } from 'zod'
import { dollarsFrom } from '../../../../kernel/dollars.ts'
import type { Detector } from '../../contract.ts'
import { noWaste, placeOf, toFailureDraft } from '../../facts/index.ts'
import type { ModelCall, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  tokens_max: z
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .default(10_000_000)
    .describe('Maximum tokens of a task, input and output of all calls.'),
  cost_usd_max: z
    .number()
    .min(0.01)
    .max(1_000_000)
    .default(25)
    .describe('Maximum cost of all calls of a task in US dollars.'),
  duration_minutes_max: z
    .int()
    .min(1)
    .max(100_000)
    .default(1_440)
    .describe('Maximum minutes from the start of the first call to the end of the last one.'),
})
type Settings = z.output<typeof settings>

/** Finds tasks that exceed a project's limits of tokens, cost or time: informational only. */
export const budgetExceeded: Detector<typeof settings> = {
  name: 'budget_exceeded',
  kind: 'failure',
  types: ['budget_exceeded'],
  version: 1,
  needs: [],
  settings,
  detect(run, given, budget) {
    budget.spend(run.calls.length)
    return [...findOverruns(run, given)].map(([of, { call, max }]) =>
      toFinding(run, call, { of, max }),
    )
  },
}

const nanoPerDollar = 1e9
const nsPerMinute = 60_000_000_000n

type Overrun = { call: ModelCall; max: string }

/** Returns the first call above each limit, which stays the same as the task grows. */
function findOverruns(run: TaskRun, given: Settings): Map<string, Overrun> {
  const over = new Map<string, Overrun>()
  const nano_max = BigInt(Math.round(given.cost_usd_max * nanoPerDollar))
  const end_max =
    (run.calls[0]?.start_time ?? 0n) + BigInt(given.duration_minutes_max) * nsPerMinute
  let tokens = 0
  let nano = 0n
  for (const call of run.calls) {
    tokens += (call.input_tokens ?? 0) + (call.output_tokens ?? 0)
    if (call.nano_dollars !== null) nano += call.nano_dollars
    if (tokens > given.tokens_max)
      keepFirst(over, 'tokens', { call, max: `${given.tokens_max} tokens` })
    if (nano > nano_max) keepFirst(over, 'cost', { call, max: `$${dollarsFrom(nano_max)}` })
    if (call.end_time > end_max) {
      keepFirst(over, 'duration', { call, max: `${given.duration_minutes_max} minutes` })
    }
  }
  return over
}

function keepFirst(over: Map<string, Overrun>, of: string, first: Overrun): void {
  if (!over.has(of)) over.set(of, first)
}

function toFinding(run: TaskRun, call: ModelCall, { of, max }: { of: string; max: string }) {
  return toFailureDraft({
    type: 'budget_exceeded',
    severity: 'info',
    recovered: false,
    began: call,
    topic: of,
    summary: `The task went over its limit of ${max} with call ${call.index + 1} of ${run.calls.length}.`,
    start_step: call.step,
    end_step: call.step,
    places: [placeOf(call)],
    waste: noWaste,
    evidence: { of, max, call: call.index + 1 },
  })
}
