import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { type Job, jobFields, shownJob } from '../../../jobs/index.ts'
import { retentionRulesSchema } from '../policy/rules.ts'
import { late_ms_min } from '../schedule/daily-slots.ts'
import { bucketSchema, dateOf, type ShownBucket } from './bucket-schema.ts'
import type { RunBucket } from './bucket-store.ts'
import { dryRunKind } from './retention-kind.ts'

const count = z.int().nonnegative()

/** The fields of a run of retention or a dry run. */
export const runFields = {
  ...jobFields,
  dry_run: z.boolean().describe('True: a dry run, which counts rows and deletes none.'),
  rules: retentionRulesSchema
    .nullable()
    .describe('The rules of a dry run. null: a run reads the policy before each of its steps.'),
  scheduled_for: z.iso
    .datetime()
    .nullable()
    .describe('The slot of a daily run; null for a requested run.'),
  is_late: z
    .boolean()
    .describe(
      'True: the daily run was created more than 10 minutes after its slot, because no worker ran or another run was under way.',
    ),
  progress: z
    .strictObject({
      steps: count.describe('Days and kinds that are done.'),
      day: z.iso.date().describe('The day that was done last.'),
    })
    .meta({ id: 'RetentionProgress' })
    .nullable(),
  result: z
    .strictObject({
      as_of: z.iso.datetime().describe('The instant that ages were measured at.'),
      buckets: count,
      deleted_rows: count,
      deleted_bytes: count,
      masked_rows: count,
      held_rows: count,
      kept_rows: count.describe(
        'Due rows that stay because no archive has them, and rows from the future.',
      ),
      archives_requested: count.describe(
        'Days that are being archived, for the next run to delete.',
      ),
      is_partial: z
        .boolean()
        .optional()
        .describe('Of a dry run. True: more is due, which the sums leave out.'),
    })
    .meta({ id: 'RetentionResult' })
    .nullable()
    .describe('null until it has succeeded. Of a dry run: what a run would do.'),
}

export const runSchema = record('RetentionRun', runFields)

/** Shapes a run. */
export function shownRun(job: Job): z.input<typeof runSchema> {
  const { kind, params, progress, result } = job
  return {
    ...shownJob(job),
    dry_run: kind === dryRunKind,
    rules: retentionRulesSchema.safeParse(params['rules']).data ?? null,
    ...slotOf(job),
    progress:
      progress === null
        ? null
        : { steps: Number(progress['steps']), day: dateOf(Number(progress['day'])) },
    result: result as z.input<typeof runSchema>['result'],
  }
}

function slotOf({ params, created_at }: Job) {
  const { scheduled_for } = params
  if (typeof scheduled_for !== 'string') return { scheduled_for: null, is_late: false }
  const late_ms = Date.parse(created_at) - Date.parse(scheduled_for)
  return { scheduled_for, is_late: late_ms > late_ms_min }
}

/** Shapes a bucket. */
export function shownBucket(bucket: RunBucket): ShownBucket {
  const { day, environment, action, row_count: rows, bytes, held_rows } = bucket
  const { kind, reason } = bucketSchema
    .pick({ kind: true, reason: true })
    .parse({ kind: bucket.kind, reason: bucket.reason })
  return { day: dateOf(day), kind, environment, action, reason, rows, bytes, held_rows }
}
