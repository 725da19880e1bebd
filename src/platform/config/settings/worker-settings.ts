import { integer } from '../setting.ts'
import { gib, hours, mib, minutes, seconds } from './units.ts'

/** The worker's consumers. */
export const workerSettings = {
  ingest_batch_messages_max: integer({
    unit: 'messages',
    default: 512,
    min: 1,
    max: 10_000,
    reason: 'Messages taken at once.',
  }),
  ingest_batch_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: mib,
    max: 256 * mib,
    reason: 'Raw bytes of one batch; what it takes in memory is a few times this.',
  }),
  ingest_batch_wait_ms: integer({
    unit: 'ms',
    default: 250,
    min: 0,
    max: 10 * seconds,
    reason: 'How long a batch waits for more: few large inserts are cheap, but users wait too.',
  }),
  ingest_ack_wait_ms: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: hours,
    reason: 'A batch that a killed worker held comes again after this time.',
  }),
  ingest_attempts_max: integer({
    unit: 'deliveries',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    reason:
      'Deliveries before a message goes to the dead letters. High, because an outage of a store also costs deliveries; what can not be decoded is set apart at once.',
  }),
  ingest_suspect_attempts: integer({
    unit: 'tries',
    default: 5,
    min: 1,
    max: 1_000,
    reason:
      'Failed tries before a message that can not be stored goes to the dead letters; an outage of a store is no try.',
  }),
  ingest_batches_max: integer({
    unit: 'batches',
    default: 2,
    min: 1,
    max: 8,
    reason: 'Batches under way at once: while one is stored, another is read. Each takes memory.',
  }),
  ingest_insert_rows_max: integer({
    unit: 'rows',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    reason: 'Rows of one insert, about; above 10,000 inserts stop getting cheaper.',
  }),
  detection_busy_percent: integer({
    unit: 'percent',
    default: 25,
    min: 1,
    max: 100,
    reason: 'Of a worker’s time that looking at tasks takes at most; storing has the rest.',
  }),
  detection_cache_bytes_max: integer({
    unit: 'bytes',
    default: 48 * mib,
    min: mib,
    max: 4 * gib,
    reason:
      'Memory for histories of tasks that go on: what is not kept is read again with the next call.',
  }),
}
