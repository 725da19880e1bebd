import { z } from 'zod'
import { shownDollars } from '../../../kernel/dollars.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import type { DetectionTables, Selectable } from '../../../platform/relational/index.ts'
import { findingKinds, severities } from '../contract.ts'

/** A finding as it is stored; instants are ISO 8601, money is decimal USD. */
export type Finding = Selectable<DetectionTables['findings']>

/** What a detector could not look at in a task, and why. */
export type NotChecked = { detector: string; reason: string }

/** What a detection changed, by `finding_id`. */
export type FindingChanges = {
  /** Found for the first time, or again after it was withdrawn. */
  opened: readonly string[]
  updated: readonly string[]
  /** A later call shows that the task got over it. */
  recovered: readonly string[]
  /** A call that came late shows that it never was so. */
  withdrawn: readonly string[]
  unchanged: readonly string[]
}

export const findingStates = ['open', 'recovered', 'withdrawn'] as const

const step = z.int().nonnegative().nullable()

/** What a finding looks like in every reply. */
export const findingSchema = z
  .strictObject({
    finding_id: z.uuid().describe('The same for the same trouble, however often it is found.'),
    task_id: z.string(),
    kind: z.enum(findingKinds).meta({ id: 'FindingKind' }),
    type: z.string().describe('Such as `repeat_call`; docs/internals/detection.md has them all.'),
    severity: z.enum(severities).meta({ id: 'Severity' }),
    state: z
      .enum(findingStates)
      .meta({ id: 'FindingState' })
      .describe(
        '`recovered`: a later call got over it. `withdrawn`: a late call shows it was none.',
      ),
    summary: z.string().describe('One sentence, made of the evidence.'),
    start_step: step.describe('Counted from 0; null when it has no step.'),
    end_step: step,
    period: step.describe('Steps of one lap of a loop.'),
    repeats: step.describe('How often it came.'),
    places: z
      .array(record('ObservationPlace', { trace_id: z.string(), observation_id: z.string() }))
      .describe('The observations that it rests on, in order; at most 100.'),
    wasted_tokens: z.int().nonnegative(),
    wasted_cost_usd: dollarsSchema,
    recovered: z.boolean(),
    confidence: z.number().min(0).max(1),
    evidence: z.record(z.string(), z.unknown()).describe('What it rests on; texts are cut.'),
    judge: z.string().nullable().describe('The model that judged it; null when none was asked.'),
    detector: z.string(),
    detector_version: z.int().nonnegative(),
    started_at: z.iso.datetime().describe('Start of the first observation that it rests on.'),
    first_detected_at: z.iso.datetime(),
    updated_at: z.iso.datetime().describe('When it last changed.'),
  })
  .meta({ id: 'Finding' })
export type ShownFinding = z.input<typeof findingSchema>

/** What could not be looked at. */
export const notCheckedSchema = z
  .array(record('NotChecked', { detector: z.string(), reason: z.string() }))
  .describe('What could not be checked and why: the content is off, or a bound was reached.')

/** Shapes a stored finding. */
export function shownFinding(finding: Finding): ShownFinding {
  const { project_id: _project, trace_ids: _traces, wasted_cost_usd, places, ...shown } = finding
  return {
    ...shown,
    places: [...places],
    evidence: { ...finding.evidence },
    wasted_cost_usd: shownDollars(wasted_cost_usd),
  }
}
