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

/** States of a finding. */
export const findingStates = ['open', 'recovered', 'withdrawn'] as const

const step = z.int().nonnegative().nullable()

/** A finding as in every reply. */
export const findingSchema = z
  .strictObject({
    finding_id: z.uuid().describe('Stays the same when the finding is found again.'),
    task_id: z.string(),
    kind: z.enum(findingKinds).meta({ id: 'FindingKind' }),
    type: z
      .string()
      .describe('Such as `repeat_call`; docs/internals/detection.md lists all types.'),
    severity: z.enum(severities).meta({ id: 'Severity' }),
    state: z
      .enum(findingStates)
      .meta({ id: 'FindingState' })
      .describe('`recovered`: a later call resolved it. `withdrawn`: a late call disproved it.'),
    summary: z.string().describe('One sentence, based on the evidence.'),
    start_step: step.describe('Step at which it starts, counted from 0; null without a step.'),
    step_number: z
      .int()
      .positive()
      .nullable()
      .describe('The same step, counted from 1, as in sentences.'),
    end_step: step,
    period: step.describe('Steps of one iteration of a loop.'),
    repeats: step.describe('Number of occurrences.'),
    places: z
      .array(record('ObservationPlace', { trace_id: z.string(), observation_id: z.string() }))
      .describe('Observations of the finding, in order; at most 100.'),
    wasted_tokens: z.int().nonnegative(),
    wasted_cost_usd: dollarsSchema,
    recovered: z.boolean(),
    confidence: z.number().min(0).max(1),
    evidence: z
      .record(z.string(), z.unknown())
      .describe('Evidence of the finding; long texts are cut.'),
    judge: z.string().nullable().describe('Model that judged it; null for a finding of a rule.'),
    detector: z.string(),
    detector_version: z.int().nonnegative(),
    started_at: z.iso.datetime().describe('Start of its first observation.'),
    first_detected_at: z.iso.datetime(),
    updated_at: z.iso.datetime().describe('Time of its last change.'),
  })
  .meta({ id: 'Finding' })
/** A finding in a reply. */
export type ShownFinding = z.input<typeof findingSchema>

/** Detectors that could not analyse a task completely. */
export const notCheckedSchema = z
  .array(record('NotChecked', { detector: z.string(), reason: z.string() }))
  .describe(
    'Detectors that could not check everything, and why: content is off, or a limit was reached.',
  )

/** Converts a stored finding to its reply. */
export function shownFinding(finding: Finding): ShownFinding {
  const { project_id: _project, trace_ids: _traces, wasted_cost_usd, places, ...shown } = finding
  return {
    ...shown,
    step_number: toStepNumber(shown.start_step),
    places: [...places],
    evidence: { ...finding.evidence },
    wasted_cost_usd: shownDollars(wasted_cost_usd),
  }
}

/** Returns the number of a step as people count, from 1; null without a step. */
export function toStepNumber(step: number | null): number | null {
  return step === null ? null : step + 1
}
