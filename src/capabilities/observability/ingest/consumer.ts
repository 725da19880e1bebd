import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../kernel/time.ts'
import type { Observation } from '../../../model/observation.ts'
import type { Consumer, Delivery, Queue } from '../../../platform/queue/index.ts'
import type { Kysely, TaskTables } from '../../../platform/relational/index.ts'
import { inSpan, type Logger, type Metrics } from '../../../platform/telemetry/index.ts'
import { countTokens, type MappingContext } from '../exchanges/index.ts'
import { createPricing } from '../pricing/index.ts'
import type { ObservationStore } from '../stores/index.ts'
import { failureKind } from './failure-kind.ts'
import { type IngestMeters, ingestMeters } from './meters.ts'
import { type ReadMessage, readMessage } from './read-messages.ts'
import { rollUp } from './roll-up/roll-up.ts'
import { touchedBy } from './roll-up/touched.ts'
import type { IngestSettings } from './settings.ts'
import { settleMessages } from './settle-messages.ts'
import { whileStoresAreAway } from './while-stores-are-away.ts'
import { type Refused, writeMessages } from './write-messages.ts'

/** What the recording works on. */
export type IngestOptions = {
  queue: Queue
  store: ObservationStore
  db: Kysely<TaskTables>
  clock: Clock
  logger: Logger
  metrics: Metrics
  settings: IngestSettings
}

/**
 * Starts writing what the queue brings: exchanges become observations, and their tasks and
 * conversations are rolled up; then, and only then, a message is acknowledged. What can not be
 * stored is set apart with its reason; while a store is away, messages wait. `stop` lets the
 * running batch end (one that waits for a store goes back to the queue) and resolves.
 */
export async function startIngest(options: IngestOptions): Promise<Consumer> {
  const { queue, settings } = options
  const stopping = new AbortController()
  const worker: Worker = {
    ...options,
    meters: ingestMeters(options.metrics),
    mapping: { ...settings, pricing: createPricing(), countTokens },
    storeWorks: false,
  }
  const consumer = await queue.consume(
    {
      kind: 'ingest',
      batch_messages_max: settings.batch_messages_max,
      batch_bytes_max: settings.batch_bytes_max,
      batch_wait_ms: settings.batch_wait_ms,
      ack_wait_ms: settings.ack_wait_ms,
      attempts_max: settings.attempts_max,
      backoff_ms_min: settings.retry_delay_ms,
      backoff_ms_max: settings.retry_delay_ms_max,
    },
    (batch, signal) =>
      inSpan('ingest batch', { 'messaging.batch.message_count': batch.length }, () =>
        takeBatch(worker, batch, AbortSignal.any([signal, stopping.signal])),
      ),
  )
  return {
    stop: async () => {
      stopping.abort()
      await consumer.stop()
    },
  }
}

type Worker = IngestOptions & {
  meters: IngestMeters
  mapping: MappingContext & { frame_bytes_max: number }
  /** Whether rows went in since a write failed for a reason that nobody can name. */
  storeWorks: boolean
}

async function takeBatch(
  worker: Worker,
  batch: readonly Delivery[],
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const part of partsOf(worker, batch)) {
      const refused = await writeHolding(worker, part, signal)
      await settleMessages(worker, part, refused)
    }
    worker.meters.batches.inc({ result: 'stored' })
  } catch (error) {
    worker.meters.batches.inc({ result: 'given_back' })
    if (failureKind(error) === 'unknown') worker.storeWorks = false
    throw error
  }
}

/** Reads messages until there is enough for one insert, so that no batch can fill the memory. */
async function* partsOf(
  { settings, mapping }: Worker,
  batch: readonly Delivery[],
): AsyncGenerator<ReadMessage[]> {
  let part: ReadMessage[] = []
  let rows = 0
  let bytes = 0
  for (const delivery of batch) {
    const message = readMessage(delivery, mapping)
    part.push(message)
    rows += message.rows.length
    bytes += message.content_bytes
    if (rows >= settings.insert_rows_max || bytes >= settings.insert_bytes_max) {
      yield part
      part = []
      rows = 0
      bytes = 0
    }
    // Reading takes the processor: whoever else lives in this process gets a turn in between.
    await nextTurn()
  }
  if (part.length > 0) yield part
}

async function writeHolding(
  worker: Worker,
  part: readonly ReadMessage[],
  signal: AbortSignal,
): Promise<Refused[]> {
  const attempt = Math.max(...part.map(({ delivery }) => delivery.attempt))
  const isolates = attempt >= worker.settings.suspect_attempts
  return whileStoresAreAway(worker, signal, () =>
    writeMessages(part, (rows, token) => writeRows(worker, rows, token), {
      isolates,
      storeWorks: worker.storeWorks,
    }),
  )
}

async function writeRows(
  worker: Worker,
  rows: readonly Observation[],
  token: string,
): Promise<void> {
  const { db, store, clock, meters } = worker
  await store.insert(rows, { token })
  await rollUp({ db, store }, touchedBy(rows))
  worker.storeWorks = true
  meters.rows.inc(rows.length)
  const now_ms = clock.now_ms()
  for (const { end_time } of rows) {
    meters.lag.observe(Math.max(0, now_ms - Number(end_time / nsPerMs)) / 1000)
  }
}

const nsPerMs = 1_000_000n
