import { setImmediate as nextTurn } from 'node:timers/promises'
import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { Clock } from '../../kernel/time.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { ConsumeOptions, Consumer, Delivery, Queue } from '../../platform/queue/index.ts'
import type { Kysely, TaskTables, Wakes } from '../../platform/relational/index.ts'
import { inSpan, type Logger, type Metrics } from '../../platform/telemetry/index.ts'
import { ledgerMeters } from '../ledger/index.ts'
import { countTokens } from '../records/exchanges/index.ts'
import { createPricing } from '../records/pricing/index.ts'
import type { LedgerStore, ObservationStore, RecordStore } from '../storage/index.ts'
import { ledgerBatches } from './ledger-batches.ts'
import { ingestMeters } from './meters.ts'
import { type ReadingContext, type ReadMessage, readMessage } from './read-messages.ts'
import { startRefreshing } from './roll-up/large-rollups.ts'
import type { RollUpPorts } from './roll-up/roll-up.ts'
import { BodyBuffers } from './row-batch.ts'
import type { IngestSettings } from './settings.ts'
import {
  createSettlement,
  recordSettlement,
  type SettlePorts,
  settleMessages,
} from './settle-messages.ts'
import { classifyFailure, retryOutages } from './store-failures.ts'
import type { ErasedRows } from './traces/erased-rows.ts'
import type { MarkKnownDue } from './traces/mark-event-tasks.ts'
import { type Refused, writeMessages } from './write-messages.ts'
import { type SecondStore, type WritePorts, writeRows } from './write-rows.ts'

/** The dependencies of ingest. */
export type IngestOptions = {
  queue: Queue
  store: ObservationStore
  records: Pick<RecordStore, 'insertRows'>
  ledger: Pick<LedgerStore, 'insertEntries'>
  db: Kysely<TaskTables>
  /** A second store for the rows of some projects. */
  second?: SecondStore
  /** Keeps erased rows erased that are sent again. */
  erased: ErasedRows
  /** Receives the settled entries of canonical batches before their messages are acknowledged. */
  settleRequests?: (entries: readonly LedgerEntry[]) => Promise<void>
  markDue: RollUpPorts['markDue']
  /** Marks tasks whose events came after their spans. */
  markKnownDue?: MarkKnownDue
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Announcements of large roll-ups that are due. Without them, it polls. */
  wakes?: Wakes | undefined
  settings: IngestSettings
}

/**
 * Starts consuming the queue. Rows are written as they are, exchanges as observations; then tasks
 * and conversations are rolled up and the ledger is written; only then is a message acknowledged. A
 * message that cannot be stored is dead-lettered with its reason; while a store is unavailable,
 * messages wait. A few batches run concurrently, so that one is read while another is stored.
 * Roll-ups of large tasks and conversations are refreshed in the background. `stop` waits for the
 * running batches; one that waits for a store returns to the queue.
 */
export async function startIngest(options: IngestOptions): Promise<Consumer> {
  const { queue, settings } = options
  const stopping = new AbortController()
  const worker: Worker = {
    ...options,
    settleRequests: options.settleRequests,
    second: options.second,
    meters: ingestMeters(options.metrics),
    items: ledgerMeters(options.metrics),
    reading: { ...settings, pricing: createPricing(settings.cost_source), countTokens },
    failedAttempts: new FailedAttempts(),
    bodies: new BodyBuffers(settings.batches_max),
    wait: new BatchWait(settings.batch_wait_ms),
    storeWorks: false,
  }
  const takeRows = (batch: readonly Delivery[], signal: AbortSignal) =>
    inSpan('ingest batch', { 'messaging.batch.message_count': batch.length }, () =>
      takeBatch(worker, batch, AbortSignal.any([signal, stopping.signal])),
    )
  const takeEntries = ledgerBatches(worker, stopping.signal)
  const rows = Array.from({ length: settings.batches_max }, () =>
    queue.consume(consumeOptions('ingest', worker), takeRows),
  )
  const entries = queue.consume(consumeOptions('ledger', worker), takeEntries)
  const consumers = await Promise.all([...rows, entries])
  const refreshing = startRefreshing({ ...worker, wakes: options.wakes })
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all([...consumers, refreshing].map((each) => each.stop()))
    },
  }
}

function consumeOptions(
  kind: string,
  { settings, wait }: Pick<Worker, 'settings' | 'wait'>,
): ConsumeOptions {
  return {
    kind,
    batch_messages_max: settings.batch_messages_max,
    batch_bytes_max: settings.batch_bytes_max,
    // A batch is acknowledged after it waited and was stored.
    batch_wait_ms: () => Math.min(wait.ms, settings.ack_wait_ms / 4),
    ack_wait_ms: settings.ack_wait_ms,
    attempts_max: settings.attempts_max,
    backoff_ms_min: settings.retry_delay_ms,
    backoff_ms_max: settings.retry_delay_ms_max,
  }
}

type Worker = WritePorts &
  SettlePorts & {
    settings: IngestSettings
    reading: ReadingContext
    /** The wait of the next batch, of rows and of entries of the ledger. */
    wait: BatchWait
    failedAttempts: FailedAttempts
    /** True when rows were written since the last unclassified failure. */
    storeWorks: boolean
  }

async function takeBatch(
  worker: Worker,
  batch: readonly Delivery[],
  signal: AbortSignal,
): Promise<void> {
  try {
    let rows = 0
    for await (const part of partsOf(worker, batch)) {
      await takePart(worker, part, signal)
      rows += part.reduce((sum, message) => sum + message.rows.kinds.length, 0)
    }
    worker.wait.note(rows)
    worker.meters.batches.inc({ result: 'stored' })
  } catch (error) {
    worker.meters.batches.inc({ result: 'given_back' })
    if (classifyFailure(error) === 'unknown') worker.storeWorks = false
    throw error
  }
}

/** Yields messages in parts of one insert each, which bounds memory. */
async function* partsOf(
  { settings, reading }: Worker,
  batch: readonly Delivery[],
): AsyncGenerator<ReadMessage[]> {
  let part: ReadMessage[] = []
  let rows = 0
  let bytes = 0
  for (const delivery of batch) {
    const message = readMessage(delivery, reading)
    part.push(message)
    rows += message.rows.kinds.length
    bytes += message.rows.bytes.length
    if (rows >= settings.insert_rows_max || bytes >= settings.insert_bytes_max) {
      yield part
      part = []
      rows = 0
      bytes = 0
    }
    // Reading occupies the processor, so other work of this process runs in between.
    await nextTurn()
  }
  if (part.length > 0) yield part
}

async function takePart(
  worker: Worker,
  part: readonly ReadMessage[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const refused = await writePart(worker, part, signal)
    const settlement = createSettlement(part, refused, worker.clock)
    await retryOutages(worker, signal, () => recordSettlement(worker, settlement))
    await settleMessages(worker, settlement)
    for (const { delivery } of part) worker.failedAttempts.forget(delivery.id)
  } catch (error) {
    if (classifyFailure(error) !== 'outage') {
      for (const { delivery } of part) worker.failedAttempts.add(delivery.id)
    }
    throw error
  }
}

async function writePart(
  worker: Worker,
  part: readonly ReadMessage[],
  signal: AbortSignal,
): Promise<Refused[]> {
  const attempts = Math.max(
    ...part.map(({ delivery }) => worker.failedAttempts.count(delivery.id) + 1),
  )
  const isolates = attempts >= worker.settings.suspect_attempts
  const inserted = new Map<string, number>()
  return retryOutages(worker, signal, () =>
    writeMessages(
      part,
      async (batch) => {
        await writeRows(worker, batch, inserted)
        worker.storeWorks = true
      },
      {
        isolates,
        storeWorks: worker.storeWorks,
        takeBody: (size_bytes) => worker.bodies.take(size_bytes),
      },
    ),
  )
}

/** Messages whose failures are remembered; beyond it the oldest ones are forgotten. */
const messages_max = 10_000

/**
 * Counts failed attempts by message, in this process. The queue's delivery count is not a substitute:
 * outages of a store use up deliveries too.
 */
class FailedAttempts {
  readonly #failed = new BoundedCache<string, number>(messages_max)

  /** Returns how often writing this message has failed. */
  count(message_id: string): number {
    return this.#failed.get(message_id) ?? 0
  }

  add(message_id: string): void {
    this.#failed.set(message_id, this.count(message_id) + 1)
  }

  forget(message_id: string): void {
    this.#failed.delete(message_id)
  }
}

/** Rows of a batch from which the next one waits the longest. */
const rows_full = 1_000
/** A busy worker waits up to this many times as long as an idle one. */
const factor_max = 2

/** How long a batch waits for more messages: longer under load, because few large inserts cost least. */
export class BatchWait {
  readonly #idle_ms: number
  #rows = 0

  /** `idle_ms` is the wait of a worker without load. */
  constructor(idle_ms: number) {
    this.#idle_ms = idle_ms
  }

  /** The wait of the next batch: it grows with the rows of the last one, up to twice as long. */
  get ms(): number {
    return this.#idle_ms * (1 + (factor_max - 1) * Math.min(1, this.#rows / rows_full))
  }

  /** Notes the rows of a batch. */
  note(rows: number): void {
    this.#rows = rows
  }
}
