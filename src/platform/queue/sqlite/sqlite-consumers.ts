import { sleep } from '../../../kernel/time.ts'
import type { BatchHandler, ConsumeOptions, Consumer, Delivery } from '../contract.ts'
import { QueueUnavailable } from '../contract.ts'
import { type QueueLogger, runBatch } from '../run-batch.ts'
import type { ClaimedMessage } from './sqlite-calls.ts'
import type { SqliteThread } from './sqlite-thread-client.ts'

/** After a claim failed (a disk error, say), so long until the next. */
const claimAgain_ms = 1_000

/** The consumers of one queue file: each asks for a batch, hands it over, asks for the next. */
export class SqliteConsumers {
  readonly #thread: SqliteThread
  readonly #logger: QueueLogger
  readonly #close_wait_ms: number
  readonly #closing = new AbortController()
  readonly #consumers = new Set<Consumer>()
  #last = 0

  constructor(thread: SqliteThread, about: { logger: QueueLogger; close_wait_ms: number }) {
    this.#thread = thread
    this.#logger = about.logger
    this.#close_wait_ms = about.close_wait_ms
  }

  start(options: ConsumeOptions, handler: BatchHandler): Consumer {
    this.#last += 1
    const number = this.#last
    const stopping = new AbortController()
    const ended = this.#run({ number, options, handler, stopping: stopping.signal })
    const consumer: Consumer = {
      stop: async () => {
        stopping.abort()
        await this.#thread.call({ name: 'cancel_claims', consumer: number }).catch(ignoreClosed)
        await ended
        this.#consumers.delete(consumer)
      },
    }
    this.#consumers.add(consumer)
    return consumer
  }

  /** Tells running handlers to end, and waits for them a bounded while. */
  async stopAll(): Promise<void> {
    this.#closing.abort()
    const stopped = Promise.all([...this.#consumers].map((consumer) => consumer.stop()))
    const waiting = new AbortController()
    await Promise.race([stopped, sleep(this.#close_wait_ms, waiting.signal)])
    waiting.abort()
  }

  async #run(run: ConsumerRun): Promise<void> {
    const { options, handler, stopping } = run
    while (!stopping.aborted) {
      const deliveries = await this.#claim(run)
      if (deliveries.length === 0) continue
      const signal = this.#closing.signal
      await runBatch({ deliveries, handler, options, signal, logger: this.#logger })
    }
  }

  async #claim({ number, options, stopping }: ConsumerRun): Promise<Delivery[]> {
    const { kind, batch_messages_max, batch_bytes_max, batch_wait_ms } = options
    const { ack_wait_ms, attempts_max } = options
    const claim = {
      consumer: number,
      kind,
      messages_max: batch_messages_max,
      bytes_max: batch_bytes_max,
      batch_wait_ms,
      ack_wait_ms,
      attempts_max,
    }
    try {
      const messages = await this.#thread.call({ name: 'claim', claim })
      return messages.map((message) => deliveryOf(this.#thread, message))
    } catch (error) {
      if (!stopping.aborted) {
        this.#logger.error({ err: error, kind }, 'the queue file gave no batch')
        await sleep(claimAgain_ms, stopping)
      }
      return []
    }
  }
}

type ConsumerRun = {
  number: number
  options: ConsumeOptions
  handler: BatchHandler
  stopping: AbortSignal
}

function deliveryOf(thread: SqliteThread, message: ClaimedMessage): Delivery {
  const { seq, attempt, id, subject, data } = message
  return {
    id,
    subject,
    data,
    attempt,
    ack: async () => {
      await thread.call({ name: 'ack', seq })
    },
    retry: async (delay_ms) => {
      await thread.call({ name: 'retry', seq, attempt, delay_ms })
    },
    bury: async (reason) => {
      await thread.call({ name: 'bury', seq, attempt, reason })
    },
  }
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof QueueUnavailable)) throw error
}
