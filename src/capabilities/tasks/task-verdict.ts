import { z } from 'zod'
import { shownDollars } from '../../kernel/dollars.ts'
import { dollarsSchema } from '../../model/named-schemas.ts'
import { severities, toStepNumber } from '../detection/index.ts'
import type { TaskRow } from './store.ts'

const count = z.int().nonnegative()

/** Summary of a task's findings. */
export const taskVerdictSchema = z
  .strictObject({
    summary: z.string().describe('One sentence that sums up the findings.'),
    worst_severity: z
      .enum(severities)
      .nullable()
      .describe('Severity of the worst finding; null without findings.'),
    findings: z
      .strictObject({ info: count, low: count, medium: count, high: count, critical: count })
      .meta({ id: 'SeverityCounts' })
      .describe('Number of findings by severity, recovered ones included.'),
    recovered: count.describe('Findings that the task has recovered from.'),
    root_cause: z
      .strictObject({
        finding_id: z.uuid(),
        type: z.string(),
        step: z.int().nonnegative().nullable().describe('Index of the step, from 0.'),
        step_number: z
          .int()
          .positive()
          .nullable()
          .describe('Number of the step, from 1, as in sentences.'),
        trace_id: z.guid().nullable().describe('Trace of its first observation.'),
        observation_id: z.string().nullable().describe('Its first observation.'),
        evidence: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'RootCause' })
      .nullable()
      .describe('The earliest finding that the task has not recovered from; null without one.'),
    wasted_tokens: count.describe('Tokens of the calls that findings count as wasted.'),
    wasted_cost_usd: dollarsSchema,
    detected_at: z.iso.datetime(),
    values: z
      .strictObject({ checked: count, not_checked: count })
      .meta({ id: 'ValueCounts' })
      .nullable()
      .describe(
        'Values of the answers that need a source: how many were checked, and how many were not. Null if none could be checked.',
      ),
  })
  .meta({ id: 'Verdict' })

/** Shapes the verdict of a stored task for a reply; null before the first detection. */
export function taskVerdictFrom(row: TaskRow): z.input<typeof taskVerdictSchema> | null {
  const { verdict, worst_severity, wasted_tokens, wasted_cost_usd } = row
  if (verdict === null) return null
  const { summary, findings, recovered, root_cause, detected_at, values = null } = verdict
  return {
    summary,
    findings,
    recovered,
    detected_at,
    wasted_tokens,
    values,
    worst_severity: severities[worst_severity - 1] ?? null,
    root_cause: root_cause && {
      ...root_cause,
      step_number: toStepNumber(root_cause.step),
      trace_id: root_cause.trace_id ?? null,
      observation_id: root_cause.observation_id ?? null,
      evidence: { ...root_cause.evidence },
    },
    wasted_cost_usd: shownDollars(wasted_cost_usd),
  }
}
