import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import type { DeadLetter } from '../../../platform/queue/index.ts'

/** A message that was set apart, as people read it. */
export const deadLetterSchema = record('DeadLetter', {
  dead_letter_id: z.string().describe('Names the message, here and in receipts.'),
  kind: z.string().describe('`ingest`: records; `ledger`: counts of what was accepted.'),
  reason: z.string().describe('Why it could not be stored.'),
  attempts: z.int().nonnegative().describe('Deliveries that it had, tries or not.'),
  bytes: z.int().nonnegative().describe('Size of the message.'),
  buried_at: z.iso.datetime().describe('When it was set apart.'),
})

/** A dead letter as the API and the command line show it. */
export type ReadDeadLetter = z.infer<typeof deadLetterSchema>

/** Shapes a dead letter of the queue. */
export function letterOf(letter: DeadLetter): ReadDeadLetter {
  const { id, subject, reason, attempts, bytes, buried_at } = letter
  const [kind = ''] = subject.split('.')
  return { dead_letter_id: id, kind, reason, attempts, bytes, buried_at }
}
