import type { DeadLetter, Queue } from '../../../platform/queue/index.ts'

/** Dead letters of one question to the queue; its own bound. */
const page_max = 1_000

/** All dead letters of the queue, page by page. */
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
 * Puts every dead letter that was buried until `until_ms` back into the queue; those that fail
 * again meanwhile stay. Yields each one that was there.
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
