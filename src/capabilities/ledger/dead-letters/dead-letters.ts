import { z } from 'zod'
import { cutPage, decodeCursor, encodeCursor, invalidCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { cursorParameter, integerParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type DeadLetter, type Queue, QueueUnavailable } from '../../../platform/queue/index.ts'

/** The name of the list in its cursors. */
const list = 'dead-letters'

/** GET /api/v2/observability/dead-letters: the dead letters of a project, oldest first. */
export function listDeadLetters({ queue }: DeadLetterDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/dead-letters',
    id: 'listDeadLetters',
    summary: 'List dead letters: messages that could not be stored',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'traces:read' },
    query: querySchema,
    reply: replySchema,
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor }, caller: { project_id } }) => {
      const after = cursor === undefined ? {} : { after: positionFrom(cursor) }
      const rows = await translateQueueError(queue.deadLetters(limit + 1, { project_id, ...after }))
      const { items: page, last } = cutPage(rows, limit)
      return {
        dead_letters: page.map(toDeadLetterRecord),
        next_cursor: last === undefined ? null : encodeCursor(list, [last.position]),
      }
    },
  })
}

const querySchema = z.strictObject({
  limit: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 50,
    description: 'Maximum items of a page, 1 to 500.',
  }),
  cursor: cursorParameter,
})

function positionFrom(cursor: string): string {
  const [position] = decodeCursor(list, cursor, 1)
  if (typeof position === 'string' && /^\d{1,20}(:\d{1,20})?$/.test(position)) return position
  throw invalidCursor(cursor)
}

/** A dead letter in the API and on the command line. */
const deadLetterSchema = record('DeadLetter', {
  dead_letter_id: z.string().describe('Id of the message, here and in receipts.'),
  kind: z.string().describe('`ingest`: records; `ledger`: counts of accepted items.'),
  reason: z.string().describe('Reason for which it could not be stored.'),
  attempts: z
    .int()
    .nonnegative()
    .describe('Deliveries of the message, including those during outages.'),
  bytes: z.int().nonnegative().describe('Size of the message.'),
  buried_at: z.iso.datetime().describe('Instant at which it was dead-lettered.'),
})

const replySchema = record('DeadLetterList', {
  dead_letters: z.array(deadLetterSchema).describe('The page, oldest dead letter first.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
})

export type ReadDeadLetter = z.infer<typeof deadLetterSchema>

/** Formats a dead letter of the queue. */
export function toDeadLetterRecord(letter: DeadLetter): ReadDeadLetter {
  const { id, subject, reason, attempts, bytes, buried_at } = letter
  const [kind = ''] = subject.split('.')
  return { dead_letter_id: id, kind, reason, attempts, bytes, buried_at }
}

/** The dependencies of the routes of dead letters. */
export type DeadLetterDeps = { queue: Pick<Queue, 'deadLetters' | 'replayDeadLetter'> }

/** Translates an unavailable queue into an error of the API. */
export async function translateQueueError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof QueueUnavailable)) throw cause
    throw problem('store_unavailable', {
      detail: 'The queue is unavailable. Try again shortly.',
      retry_after_s: 1,
      cause,
    })
  }
}
