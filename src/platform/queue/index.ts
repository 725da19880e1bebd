export {
  type Broadcast,
  type BroadcastingQueue,
  createLocalBroadcast,
  type Listening,
} from './broadcast.ts'
export {
  type BatchHandler,
  type ConsumeOptions,
  type Consumer,
  type DeadLetter,
  type Delivery,
  MessageTooLarge,
  type OutgoingMessage,
  type Queue,
  QueueUnavailable,
} from './contract.ts'
export { type JetStreamQueueOptions, migrateJetStream } from './jetstream/jetstream-queue.ts'
export { openJetStreamQueue } from './jetstream/partitioned-queue.ts'
export { FramePool, publishWithRetries, type RetryLimits } from './publishing.ts'
export type { QueueLogger } from './run-batch.ts'
export { type SpooledPublisher, withSpool } from './spool.ts'
export { openSqliteQueue, type SqliteQueueOptions } from './sqlite/sqlite-queue.ts'
