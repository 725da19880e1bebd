import {
  everyDeadLetter,
  replayAll,
  toDeadLetterRecord,
} from '../capabilities/ledger/dead-letters/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { DeadLetter, Queue } from '../platform/queue/index.ts'
import { openClusterQueue, openFileQueue } from './queues.ts'
import { oneShotContext, print } from './running.ts'

type Config = RoleConfig<'all'>

/**
 * Prints every dead letter, one JSON object per line. With a queue in a file, the service must be
 * stopped, because it locks the file.
 */
export function listDeadLetters(config: Config): Promise<number> {
  return withQueue(config, async (queue) => {
    for await (const letter of everyDeadLetter(queue)) print(toLine(letter))
    return 0
  })
}

/** Puts one dead letter back into the queue. Exit status 1 when no dead letter has the id. */
export function replayDeadLetter(config: Config, dead_letter_id: string): Promise<number> {
  return withQueue(config, async (queue) => {
    const replayed = await queue.replayDeadLetter(dead_letter_id)
    print(replayed ? { dead_letter_id, state: 'queued' } : { dead_letter_id, error: 'not found' })
    return replayed ? 0 : 1
  })
}

/** Puts all dead letters back into the queue, and prints each. */
export function replayDeadLetters(config: Config): Promise<number> {
  return withQueue(config, async (queue) => {
    for await (const letter of replayAll(queue, Date.now())) {
      print({ ...toLine(letter), state: 'queued' })
    }
    return 0
  })
}

async function withQueue(config: Config, work: (queue: Queue) => Promise<number>): Promise<number> {
  await using parts = new AsyncDisposableStack()
  const context = oneShotContext('dead-letters', config, parts)
  const queue = await (config.nats_url === undefined
    ? openFileQueue(context, config)
    : openClusterQueue(context, config, { may_create: false }))
  return await work(queue)
}

function toLine(letter: DeadLetter): object {
  const [, project_id = ''] = letter.subject.split('.')
  return { project_id, ...toDeadLetterRecord(letter) }
}
