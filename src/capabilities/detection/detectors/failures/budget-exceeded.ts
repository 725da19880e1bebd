import { z } from 'zod'
import { dollarsFrom } from '../../../../kernel/dollars.ts'
import type { Detector, FindingDraft } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import type { ModelCall, TaskRun } from '../../reconstruction/contract.ts'
import { failureDraft, noWaste } from './failure-draft.ts'

const settings = z.strictObject({
  tokens_max: z
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .default(10_000_000)
    .describe('Tokens of a task, in and out, that its calls may take together.'),
  cost_usd_max: z
    .number()
    .min(0.01)
    .max(1_000_000)
    .default(25)
    .describe('US dollars that the calls of a task may cost together.'),
  duration_minutes_max: z
    .int()
    .min(1)
    .max(100_000)
    .default(1_440)
    .describe('Minutes from the start of the first call to the end of the last one.'),
})
type Settings = z.output<typeof settings>

/** Tasks that took more tokens, money or time than a project allows: a remark, no fault. */
export const budgetExceeded: Detector<typeof settings> = {
  name: 'budget_exceeded',
  kind: 'failure',
  types: ['budget_exceeded'],
  version: 1,
  needs: [],
  settings,
  detect(run, given, budget) {
    budget.spend(run.calls.length)
    return limitsOf(given).flatMap((limit) => exceeded(run, limit))
  },
}

type Limit = {
  of: string
  max: number
  amount(call: ModelCall, first: ModelCall): number
  /** Amounts of calls add up; the time since the first call stands for itself. */
  isSum: boolean
  told(amount: number): string
}

const nanoPerDollar = 1e9
const nsPerMinute = 60_000_000_000n

function limitsOf({ tokens_max, cost_usd_max, duration_minutes_max }: Settings): Limit[] {
  return [
    {
      of: 'tokens',
      max: tokens_max,
      amount: (call) => (call.input_tokens ?? 0) + (call.output_tokens ?? 0),
      isSum: true,
      told: (amount) => `${amount} tokens`,
    },
    {
      of: 'cost',
      max: Math.round(cost_usd_max * nanoPerDollar),
      amount: (call) => Number(call.nano_dollars ?? 0n),
      isSum: true,
      told: (amount) => `$${dollarsFrom(BigInt(Math.round(amount)))}`,
    },
    {
      of: 'duration',
      max: duration_minutes_max,
      amount: (call, first) => Number((call.end_time - first.start_time) / nsPerMinute),
      isSum: false,
      told: (amount) => `${amount} minutes`,
    },
  ]
}

function exceeded(run: TaskRun, limit: Limit): FindingDraft[] {
  const [first] = run.calls
  if (first === undefined) return []
  let sum = 0
  for (const call of run.calls) {
    const amount = limit.amount(call, first)
    sum = limit.isSum ? sum + amount : Math.max(sum, amount)
    if (sum > limit.max) return [overrun(run, call, limit)]
  }
  return []
}

/** It rests on the call that went over the limit, which does not change as the task grows. */
function overrun(run: TaskRun, call: ModelCall, { of, max, told }: Limit): FindingDraft {
  return failureDraft({
    type: 'budget_exceeded',
    severity: 'info',
    recovered: false,
    began: call,
    about: of,
    summary: `The task went over its limit of ${told(max)} with call ${call.index + 1} of ${run.calls.length}.`,
    start_step: call.step,
    end_step: call.step,
    places: [placeOf(call)],
    waste: noWaste,
    evidence: { of, max: told(max), call: call.index + 1 },
  })
}
