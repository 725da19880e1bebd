import { sleep } from '../../../kernel/time.ts'
import type { BroadcastingQueue } from '../broadcast.ts'
import type {
  BatchHandler,
  ConsumeOptions,
  Consumer,
  DeadLetter,
  DeadLetterFilter,
  OutgoingMessage,
  QueueStats,
} from '../contract.ts'
import type { JetStreamQueue, JetStreamQueueOptions } from './jetstream-queue.ts'
import { mergeDeadLetters, positionIn } from './merge-dead-letters.ts'
import { partitionOf, partitionPrefix } from './partitions.ts'

type OpenPartition = (options: JetStreamQueueOptions) => Promise<JetStreamQueue>

/** Time between two looks for partitions that a process with another number has created. */
const discover_ms_default = 30_000
const discover_again_ms = 1_000

type RunningConsumer = {
  options: ConsumeOptions
  handler: BatchHandler
  parts: Consumer[]
}

/**
 * A queue of several JetStream queues. Messages of a project go to the partition of its hash, so
 * that the streams have leaders of their own. Consumers also drain partitions of a larger number
 * that was set before, or that other processes have already: the number may change at any time.
 */
export class PartitionedQueue implements BroadcastingQueue {
  readonly #options: JetStreamQueueOptions
  readonly #open: OpenPartition
  readonly #partitions: JetStreamQueue[] = []
  readonly #consumers = new Set<RunningConsumer>()
  readonly #closing = new AbortController()
  #discovering: Promise<void> | undefined

  constructor(options: JetStreamQueueOptions, open: OpenPartition) {
    this.#options = options
    this.#open = open
  }

  async start(): Promise<void> {
    await this.#grow(this.#own)
    await this.#discover().catch(() => undefined)
  }

  get broadcast() {
    return this.#first.broadcast
  }

  get message_bytes_max(): number {
    return this.#first.message_bytes_max
  }

  publish(message: OutgoingMessage): Promise<void> {
    const at = partitionOf(message.subject, this.#own)
    return (this.#partitions[at] ?? this.#first).publish(message)
  }

  async consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer> {
    const parts = await Promise.all(this.#partitions.map((one) => one.consume(options, handler)))
    const running = { options, handler, parts }
    this.#consumers.add(running)
    this.#discovering ??= this.#keepDiscovering()
    return {
      stop: async () => {
        this.#consumers.delete(running)
        await Promise.all(running.parts.map((part) => part.stop()))
      },
    }
  }

  async stats(): Promise<QueueStats> {
    const all = await Promise.all(this.#partitions.map((one) => one.stats()))
    const sum = (field: keyof QueueStats) => all.reduce((total, one) => total + one[field], 0)
    return {
      pending: sum('pending'),
      pending_bytes: sum('pending_bytes'),
      dead: sum('dead'),
      oldest_age_ms: Math.max(...all.map(({ oldest_age_ms }) => oldest_age_ms)),
    }
  }

  async oldestAgeMs(subject: string): Promise<number> {
    return Math.max(...(await Promise.all(this.#partitions.map((one) => one.oldestAgeMs(subject)))))
  }

  async ready(): Promise<boolean> {
    const own = this.#partitions.slice(0, this.#own)
    return (await Promise.all(own.map((one) => one.ready()))).every(Boolean)
  }

  async deadLetters(limit: number, filter: DeadLetterFilter = {}): Promise<DeadLetter[]> {
    const { after, ...others } = filter
    const lists = await Promise.all(
      this.#partitions.map((one, at) =>
        one.deadLetters(
          limit,
          after === undefined ? others : { ...others, after: positionIn(after, at) },
        ),
      ),
    )
    return mergeDeadLetters(lists, limit)
  }

  async replayDeadLetter(
    id: string,
    filter?: Pick<DeadLetterFilter, 'project_id'>,
  ): Promise<boolean> {
    for (const one of this.#partitions) if (await one.replayDeadLetter(id, filter)) return true
    return false
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#discovering
    await Promise.all(this.#partitions.map((one) => one.close()))
  }

  get #own(): number {
    return this.#options.partitions ?? 1
  }

  get #first(): JetStreamQueue {
    const [first] = this.#partitions
    if (first === undefined) throw new Error('the queue was not started')
    return first
  }

  /** Opens partitions up to a number. Streams beyond the own number are drained, never created. */
  async #grow(partitions: number): Promise<void> {
    const missing = Array.from(
      { length: Math.max(0, partitions - this.#partitions.length) },
      (_, at) => this.#partitions.length + at,
    )
    const opened = await Promise.all(missing.map((at) => this.#open(this.#optionsOf(at))))
    for (const partition of opened) {
      this.#partitions.push(partition)
      for (const running of this.#consumers) {
        running.parts.push(await partition.consume(running.options, running.handler))
      }
    }
  }

  #optionsOf(at: number): JetStreamQueueOptions {
    const stream_prefix = partitionPrefix(this.#options.stream_prefix, at)
    return { ...this.#options, stream_prefix, ...(at >= this.#own && { may_create: false }) }
  }

  async #discover(): Promise<void> {
    await this.#grow(await this.#first.countPartitions())
  }

  async #keepDiscovering(): Promise<void> {
    const { signal } = this.#closing
    const { discover_ms = discover_ms_default } = this.#options
    let wait_ms = discover_ms
    while (!signal.aborted) {
      await sleep(wait_ms, signal)
      if (signal.aborted) return
      wait_ms = await this.#discover().then(
        () => discover_ms,
        () => Math.min(discover_ms, discover_again_ms),
      )
    }
  }
}
