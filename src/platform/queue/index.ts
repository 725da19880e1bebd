export {
  type BatchHandler,
  type ConsumeOptions,
  type Consumer,
  type DeadLetter,
  type Delivery,
  MessageTooLarge,
  type OutgoingMessage,
  type Queue,
  type QueueStats,
  QueueUnavailable,
  type UnavailableReason,
} from './contract.ts'
export { type JetStreamQueueOptions, openJetStreamQueue } from './jetstream-queue.ts'
export type { NatsCredentials } from './jetstream-servers.ts'
export type { QueueLogger } from './run-batch.ts'
export { type SpooledPublisher, type SpoolOptions, type SpoolStats, withSpool } from './spool.ts'
export { openSqliteQueue, type SqliteQueueOptions } from './sqlite-queue.ts'
