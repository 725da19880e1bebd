import type { BroadcastingQueue } from '../broadcast.ts'
import { JetStreamQueue, type JetStreamQueueOptions } from './jetstream-queue.ts'
import { PartitionedQueue } from './partitioned-queue.ts'

/**
 * Opens a queue on NATS JetStream. Resolves after at most `connect_timeout_ms`, connected or not:
 * it connects in the background and reconnects for ever. Without a connection, publish rejects at
 * once with QueueUnavailable. Throws TypeError for an invalid server address.
 */
export async function openJetStreamQueue(
  options: JetStreamQueueOptions,
): Promise<BroadcastingQueue> {
  const queue = new PartitionedQueue(options, async (partition) => {
    const opened = new JetStreamQueue(partition)
    await opened.start()
    return opened
  })
  await queue.start()
  return queue
}
