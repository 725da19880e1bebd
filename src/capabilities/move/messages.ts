import { copyFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sleep } from '../../kernel/time.ts'
import { type Queue, type QueueLogger, withSpool } from '../../platform/queue/index.ts'
import { replayAll } from '../ledger/dead-letters/index.ts'

/** Copies the file of a queue that no process uses, with its journal. Returns false without a file. */
export async function copyQueueFile(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true })
  let exists = true
  for (const suffix of ['', '-wal']) {
    await copyFile(`${from}${suffix}`, `${to}${suffix}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      if (suffix === '') exists = false
    })
  }
  return exists
}

const check_ms = 100

/**
 * Moves all messages of `copy` into `queue`, also dead letters, which are tried again there. Messages
 * keep their ids, so a message that was moved twice is stored once. Closes both queues, and rejects
 * when the queue refuses a message permanently.
 */
export async function moveMessages(
  { copy, queue, logger }: { copy: Queue; queue: Queue; logger: QueueLogger },
  signal: AbortSignal,
): Promise<number> {
  for await (const _ of replayAll(copy, Number.POSITIVE_INFINITY));
  const { pending } = await copy.stats()
  const publisher = await withSpool({
    queue,
    spool: copy,
    kinds: ['ingest', 'ledger'],
    logger,
    replay_check_ms: check_ms,
  })
  try {
    for (;;) {
      signal.throwIfAborted()
      const { spooled, refused } = await publisher.stats()
      if (refused > 0) {
        throw new RangeError(`the queue refused ${refused} messages, which are too large for it`)
      }
      if (spooled === 0) return pending
      await sleep(check_ms, signal)
    }
  } finally {
    await publisher.close()
  }
}
