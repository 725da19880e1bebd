import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import type { TaskRow } from './store.ts'

const count = z.int().nonnegative()

/** Votes of end users on a task. */
export const taskFeedbackSchema = record('TaskFeedback', {
  positive: count.describe('Users whose vote is positive.'),
  negative: count.describe('Users whose vote is negative.'),
  last_at: z.iso.datetime({ offset: false }).describe('Time of the latest item of any source.'),
})

/** Shapes the votes of a stored task for a reply; null without feedback. */
export function taskFeedbackFrom({
  feedback_positive: positive,
  feedback_negative: negative,
  feedback_last_at: last_at,
}: TaskRow): z.infer<typeof taskFeedbackSchema> | null {
  if (positive === null || negative === null || last_at === null) return null
  return { positive, negative, last_at }
}
