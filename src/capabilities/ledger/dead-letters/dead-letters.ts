import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { cursorParameter, integerParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { asQueueFailure, type DeadLetterDeps } from './dead-letter-deps.ts'
import { deadLetterSchema, letterOf } from './read-dead-letter.ts'

/** Names the list in its cursors. */
const list = 'dead-letters'

/** GET /api/v2/observability/dead-letters: what could not be stored, those set apart first first. */
export function listDeadLetters({ queue }: DeadLetterDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/dead-letters',
    id: 'listDeadLetters',
    summary: 'Messages that could not be stored and were set apart',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'traces:read' },
    query: querySchema,
    reply: replySchema,
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor }, caller: { project_id } }) => {
      const after = cursor === undefined ? {} : { after: placeIn(cursor) }
      const rows = await asQueueFailure(queue.deadLetters(limit + 1, { project_id, ...after }))
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return {
        dead_letters: page.map(letterOf),
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
    description: 'Items of a page, 1 to 500.',
  }),
  cursor: cursorParameter,
})

const replySchema = record('DeadLetterList', {
  dead_letters: z.array(deadLetterSchema).describe('The page, in the order of burial.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null on the last.'),
})

function placeIn(cursor: string): string {
  const [position] = decodeCursor(list, cursor, 1)
  if (typeof position === 'string' && /^\d{1,20}(:\d{1,20})?$/.test(position)) return position
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list`,
  })
}
