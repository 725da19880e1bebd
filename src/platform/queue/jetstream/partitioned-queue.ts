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
import { JetStreamQueue, type JetStreamQueueOptions } from './jetstream-queue.ts'
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
class PartitionedQueue implements BroadcastingQueue {
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

/**
 * Merges the lists of partitions: oldest first, and in one millisecond by partition. The position of
 * a letter also names its partition and time, by which a page goes on in the others.
 */
export function mergeDeadLetters(
  lists: readonly (readonly DeadLetter[])[],
  limit: number,
): DeadLetter[] {
  const all = lists.flatMap((list, at) =>
    list.map((letter) => {
      const position = lists.length === 1 ? letter.position : toPosition(letter, at)
      return { ...letter, position }
    }),
  )
  // The sort is stable, so that letters of a partition keep their order.
  return all.toSorted((a, b) => compare(a.buried_at, b.buried_at)).slice(0, limit)
}

function toPosition({ position, buried_at }: DeadLetter, partition: number): string {
  return `${position}-${partition}-${Date.parse(buried_at)}`
}

/**
 * Returns the position in a partition after which a page goes on: a number, or `@` and the time from
 * which on letters are later in the list.
 */
export function positionIn(after: string, partition: number): string {
  const [position = '', own = '0', time = ''] = after.split('-')
  if (Number(own) === partition) return position
  // A position of a queue without partitions is one of the first.
  if (time === '') return '0'
  const later_ms = Number(time) + (partition < Number(own) ? 1 : 0)
  return Math.abs(later_ms) <= time_ms_max ? `@${new Date(later_ms).toISOString()}` : '0'
}

/** The last time of a Date. */
const time_ms_max = 8.64e15

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

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
