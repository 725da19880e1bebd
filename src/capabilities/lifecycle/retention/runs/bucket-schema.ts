import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { day_ms } from '../policy/rules.ts'
import { keepReasons } from './inspect.ts'

const count = z.int().nonnegative()

/** Rows of one day, kind and environment, and what a run does or did with them. */
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
    .describe('Empty: rows without one, or a kind that no rule tells environments of apart.'),
  action: z
    .enum(['mask', 'delete', 'keep'])
    .describe('keep: rows that are due stay, or rows from the future.'),
  reason: z
    .enum(keepReasons)
    .nullable()
    .describe('Why rows stay; null when none do. `held_rows` says how many a hold keeps.'),
  rows: count.describe(
    'A record that was sent again counts once; of what is kept it may count twice.',
  ),
  bytes: count.describe('On disk, about.'),
  held_rows: count.describe('Rows that are due and that a legal hold keeps.'),
})

export type ShownBucket = z.infer<typeof bucketSchema>

/** A day that counts from 1970, as a date. */
export function dateOf(day: number): string {
  return new Date(day * day_ms).toISOString().slice(0, 10)
}
