import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { type Job, jobFields, shownJob } from '../../../jobs/index.ts'
import { dryRunKind } from '../contract.ts'
import { day_ms, retentionRulesSchema } from '../retention-policy/rules.ts'
import { late_ms_min } from '../schedule/slots.ts'
import type { RunBucket } from './bucket-store.ts'
import { keepReasons } from './inspect.ts'

const count = z.int().nonnegative()

/** Rows of one day, kind and environment, and the action of a run on them. */
export const bucketSchema = record('RetentionBucket', {
  day: z.iso.date().describe('The UTC day of the rows’ own time.'),
  kind: z.enum([
    'observations',
    'traces',
    'events',
    'links',
    'correlations',
    'tasks',
    'conversations',
  ]),
  environment: z
    .string()
    .describe('Empty for rows without one, and for kinds whose rules do not depend on it.'),
  action: z
    .enum(['mask', 'delete', 'keep'])
    .describe('`keep`: due rows that stay, and rows from the future.'),
  reason: z
    .enum(keepReasons)
    .nullable()
    .describe('Why rows stay; null when all are deleted. `held_rows` counts rows under a hold.'),
  rows: count.describe(
    'Number of rows. A record that was sent again counts once, or up to twice among kept rows.',
  ),
  bytes: count.describe('Approximate bytes on disk.'),
  held_rows: count.describe('Due rows under a legal hold.'),
})

type ShownBucket = z.infer<typeof bucketSchema>

/** Returns the date of a day counted from 1970. */
function dateOf(day: number): string {
  return new Date(day * day_ms).toISOString().slice(0, 10)
}

/** The fields of a run of retention or a dry run. */
export const runFields = {
  ...jobFields,
  dry_run: z.boolean().describe('True: a dry run, which counts rows without deleting them.'),
  rules: retentionRulesSchema
    .nullable()
    .describe('Rules of a dry run; null for a run, which reads the policy before each step.'),
  scheduled_for: z.iso
    .datetime()
    .nullable()
    .describe('Scheduled time of a daily run; null for a requested run.'),
  is_late: z
    .boolean()
    .describe(
      'True: the daily run was created more than 10 minutes after its scheduled time, because no worker ran or another run was under way.',
    ),
  progress: z
    .strictObject({
      steps: count.describe('Finished steps, each of one day and kind.'),
      day: z.iso.date().describe('Day of the last finished step.'),
    })
    .meta({ id: 'RetentionProgress' })
    .nullable(),
  result: z
    .strictObject({
      as_of: z.iso.datetime().describe('Instant at which ages were measured.'),
      buckets: count,
      deleted_rows: count,
      deleted_bytes: count,
      masked_rows: count,
      held_rows: count,
      kept_rows: count.describe(
        'Due rows that stay because no archive contains them, and rows from the future.',
      ),
      archives_requested: count.describe(
        'Days for which archives were requested; the next run deletes them.',
      ),
      is_partial: z
        .boolean()
        .optional()
        .describe('Only for a dry run. True: the sums leave out some due rows.'),
    })
    .meta({ id: 'RetentionResult' })
    .nullable()
    .describe('null until the run has succeeded. For a dry run: the effect of a run.'),
}

export const runSchema = record('RetentionRun', runFields)

/** Shapes a run for a reply. */
export function toRetentionRun(job: Job): z.input<typeof runSchema> {
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

/** Shapes a bucket for a reply. */
export function toRetentionBucket(bucket: RunBucket): ShownBucket {
  const { day, environment, action, row_count: rows, bytes, held_rows } = bucket
  const { kind, reason } = bucketSchema
    .pick({ kind: true, reason: true })
    .parse({ kind: bucket.kind, reason: bucket.reason })
  return { day: dateOf(day), kind, environment, action, reason, rows, bytes, held_rows }
}
