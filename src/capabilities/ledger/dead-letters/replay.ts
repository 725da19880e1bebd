import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { DeadLetter, Queue } from '../../../platform/queue/index.ts'
import { type DeadLetterDeps, translateQueueError } from './dead-letters.ts'

/**
 * POST /api/v2/observability/dead-letters/{dead_letter_id}/replay: returns a message to the end of
 * the queue. If it fails again, it is dead-lettered under the same id.
 */
export function replayDeadLetter({ queue }: DeadLetterDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/dead-letters/{dead_letter_id}/replay',
    id: 'replayDeadLetter',
    summary: 'Replay a dead letter: return it to the queue',
    status: 202,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({
      dead_letter_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,200}$/)
        .describe('The `dead_letter_id` of the list.'),
    }),
    reply: replySchema,
    errors: ['dead_letter_not_found', 'store_unavailable'],
    handle: async ({ params: { dead_letter_id }, caller: { project_id } }) => {
      if (!(await translateQueueError(queue.replayDeadLetter(dead_letter_id, { project_id })))) {
        throw problem('dead_letter_not_found', {
          detail: `dead_letter_id: got "${dead_letter_id}", which is no dead letter of this project`,
        })
      }
      return { dead_letter_id, state: 'queued' as const }
    },
  })
}

const replySchema = record('ReplayedDeadLetter', {
  dead_letter_id: z.string(),
  state: z.literal('queued').describe('The message waits in the queue again.'),
})

/** Dead letters in one page of the queue's list. */
const page_max = 1_000

/** Yields all dead letters of the queue, page by page. */
export async function* everyDeadLetter(
  queue: Pick<Queue, 'deadLetters'>,
): AsyncGenerator<DeadLetter> {
  let page = await queue.deadLetters(page_max)
  while (page.length > 0) {
    yield* page
    const after = page.at(-1)?.position
    page = after === undefined ? [] : await queue.deadLetters(page_max, { after })
  }
}

/**
 * Replays every dead letter that was dead-lettered by `until_ms`, so messages that fail again are
 * not replayed twice. Yields each replayed one.
 */
export async function* replayAll(
  queue: Pick<Queue, 'deadLetters' | 'replayDeadLetter'>,
  until_ms: number,
): AsyncGenerator<DeadLetter> {
  for await (const letter of everyDeadLetter(queue)) {
    if (Date.parse(letter.buried_at) > until_ms) return
    if (await queue.replayDeadLetter(letter.id)) yield letter
  }
}
