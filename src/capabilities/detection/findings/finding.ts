import { z } from 'zod'
import { shownDollars } from '../../../kernel/dollars.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import type { DetectionTables, Selectable } from '../../../platform/relational/index.ts'
import { findingKinds, severities } from '../contract.ts'

/** A stored finding; times are ISO 8601, money is decimal USD. */
export type Finding = Selectable<DetectionTables['findings']>

/** A detector that could not analyse a task completely, and the reason. */
export type NotChecked = { detector: string; reason: string }

/** Changes of an analysis, by `finding_id`. */
export type FindingChanges = {
  /** Found for the first time, or again after a withdrawal. */
  opened: readonly string[]
  updated: readonly string[]
  /** A later call shows that the task recovered. */
  recovered: readonly string[]
  /** Disproved by a late call. */
  withdrawn: readonly string[]
  unchanged: readonly string[]
}

export const findingStates = ['open', 'recovered', 'withdrawn'] as const

const step = z.int().nonnegative().nullable()

/** A finding as in every reply. */
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

/** Detectors that could not analyse a task completely. */
export const notCheckedSchema = z
  .array(record('NotChecked', { detector: z.string(), reason: z.string() }))
  .describe('What could not be checked and why: the content is off, or a bound was reached.')

/** Converts a stored finding to its reply. */
export function shownFinding(finding: Finding): ShownFinding {
  const { project_id: _project, trace_ids: _traces, wasted_cost_usd, places, ...shown } = finding
  return {
    ...shown,
    places: [...places],
    evidence: { ...finding.evidence },
    wasted_cost_usd: shownDollars(wasted_cost_usd),
  }
}
