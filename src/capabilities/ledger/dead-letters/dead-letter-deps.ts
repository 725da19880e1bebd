import { problem } from '../../../kernel/problem.ts'
import { type Queue, QueueUnavailable } from '../../../platform/queue/index.ts'

/** What the routes of dead letters need. */
export type DeadLetterDeps = { queue: Pick<Queue, 'deadLetters' | 'replayDeadLetter'> }

/** Says in the words of the API that the queue is out of reach. */
export async function asQueueFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof QueueUnavailable)) throw cause
    throw problem('store_unavailable', {
      detail: 'The queue is out of reach; try again shortly.',
      retry_after_s: 1,
      cause,
    })
  }
}
