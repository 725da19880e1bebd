import { z } from 'zod'
import { shownDollars } from '../../kernel/dollars.ts'
import { dollarsSchema } from '../../model/named-schemas.ts'
import { severities } from '../detection/index.ts'
import type { TaskRow } from './store.ts'

const count = z.int().nonnegative()

/** What detection says of a task as a whole. */
export const verdictSchema = z
  .strictObject({
    summary: z.string().describe('One sentence, made of what was found.'),
    worst_severity: z
      .enum(severities)
      .nullable()
      .describe('Of its findings; null when it has none.'),
    findings: z
      .strictObject({ info: count, low: count, medium: count, high: count, critical: count })
      .meta({ id: 'SeverityCounts' })
      .describe('How many findings of each severity it has, recovered ones included.'),
    recovered: count.describe('Findings that the task got over.'),
    root_cause: z
      .strictObject({
        finding_id: z.uuid(),
        type: z.string(),
        step: z.int().nonnegative().nullable().describe('Counted from 0.'),
        evidence: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'RootCause' })
      .nullable()
      .describe('The earliest finding that it did not get over; null when there is none.'),
    wasted_tokens: count.describe('Of calls that a reader would call wasted.'),
    wasted_cost_usd: dollarsSchema,
    detected_at: z.iso.datetime(),
  })
  .meta({ id: 'Verdict' })

/** The verdict in a task's row. */
export function verdictOf(row: TaskRow): z.input<typeof verdictSchema> | null {
  const { verdict, worst_severity, wasted_tokens, wasted_cost_usd } = row
  if (verdict === null) return null
  const { summary, findings, recovered, root_cause, detected_at } = verdict
  return {
    ...{ summary, findings, recovered, detected_at, wasted_tokens },
    worst_severity: severities[worst_severity - 1] ?? null,
    root_cause: root_cause && { ...root_cause, evidence: { ...root_cause.evidence } },
    wasted_cost_usd: shownDollars(wasted_cost_usd),
  }
}
