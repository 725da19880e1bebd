import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { sleep } from '../../../kernel/time.ts'
import type { BroadcastingQueue } from '../broadcast.ts'
import {
  type BatchHandler,
  type ConsumeOptions,
  type Consumer,
  type DeadLetter,
  type DeadLetterFilter,
  type OutgoingMessage,
  type QueueStats,
  QueueUnavailable,
} from '../contract.ts'
import { assertMessage, assertProjectId, PublishesInProgress } from '../publishing.ts'
import { JetStreamConnection, type JetStreamConnectionOptions } from './jetstream-connection.ts'
import { startConsumer } from './jetstream-consumer.ts'
import {
  deadLetterMessage,
  findDeadLetter,
  findOldest,
  listDeadLetters,
  replayedMessage,
} from './jetstream-delivery.ts'
import { JetStreamPublisher } from './jetstream-publisher.ts'
import {
  createStreams,
  defaultStreamPrefix,
  type JetStreamStreamOptions,
  migrateStreams,
  type StreamChange,
  type StreamNames,
  streamNames,
} from './jetstream-streams.ts'
import { NatsBroadcast } from './nats-broadcast.ts'
import { countPartitions, partitionPrefix } from './partitions.ts'

/** Options of the JetStream driver. */
export type JetStreamQueueOptions = JetStreamConnectionOptions &
  JetStreamStreamOptions & {
    /** False: missing streams are not created, for a command that only reads. Default true. */
    may_create?: boolean
    /** Maximum unacknowledged publishes. Further publishes wait. Default 256. */
    publish_window?: number
    /** Maximum size of payloads in flight or waiting. Above it, publish rejects. Default 64 MiB. */
    publish_bytes_max?: number
    /** Timeout of a publish or an acknowledgement. Default 5 seconds. */
    ack_timeout_ms?: number
    /** Maximum unsettled deliveries per kind, over all processes. Default 10,000. */
    in_flight_max?: number
    /** Maximum wait of `close` for running handlers. Default 5 seconds. */
    close_wait_ms?: number
    /** Partitions by a hash of the project, 1–64, with `max_bytes` each. Default 1. */
    partitions?: number
    /** Time between two looks for partitions of other processes. Default 30 seconds. */
    discover_ms?: number
  }

/** Time of one question whether the streams are there. It is asked again until it is answered. */
const probe_timeout_ms = 1_000
/** Time of one change of a stream; copies of a large one take a while. */
const migrate_timeout_ms = 30_000
/** Part of the server's maximum payload that is reserved for headers. */
const headerReserveBytes = 4_096
/** NATS' default, until the first connection. */
const max_payload_default = 1_048_576
/** Time for which the queue is not ready after the stream was full. */
const fullRestMs = 1_000

/**
 * Creates the streams that are missing, and changes the settings of the others; the only writer of
 * settings. Returns the settings that differ. Rejects with QueueUnavailable.
 */
export async function migrateJetStream(
  options: JetStreamConnectionOptions & JetStreamStreamOptions & { partitions?: number },
  { may_shrink }: { may_shrink: boolean },
): Promise<StreamChange[]> {
  const connection = new JetStreamConnection(options, {
    connected: async () => undefined,
    disconnected: () => undefined,
  })
  try {
    await connection.start()
    const { nc } = connection.session
    const manager = await jetstreamManager(nc, { checkAPI: false, timeout: migrate_timeout_ms })
    const changes: StreamChange[] = []
    for (let at = 0; at < (options.partitions ?? 1); at += 1) {
      const stream_prefix = partitionPrefix(options.stream_prefix, at)
      changes.push(
        ...(await migrateStreams(manager, { ...options, stream_prefix }, { may_shrink })),
      )
    }
    return changes
  } catch (cause) {
    if (cause instanceof QueueUnavailable || cause instanceof TypeError) throw cause
    throw new QueueUnavailable('JetStream did not answer', { cause })
  } finally {
    await connection.close()
  }
}

/** The queue of one partition. */
export class JetStreamQueue implements BroadcastingQueue {
  readonly broadcast: NatsBroadcast
  readonly #options: JetStreamQueueOptions
  readonly #names: StreamNames
  readonly #connection: JetStreamConnection
  readonly #publisher: JetStreamPublisher
  readonly #underWay: PublishesInProgress
  readonly #consumers = new Set<Consumer>()
  readonly #closing = new AbortController()
  readonly #ack_timeout_ms: number
  #fullUntilMs = 0

  constructor(options: JetStreamQueueOptions) {
    this.#options = options
    const prefix = options.stream_prefix ?? defaultStreamPrefix
    this.#names = streamNames(prefix)
    this.broadcast = new NatsBroadcast(prefix, () => this.#connection.isUp)
    this.#ack_timeout_ms = options.ack_timeout_ms ?? 5_000
    this.#underWay = new PublishesInProgress(options.publish_bytes_max ?? 64 * 1_048_576)
    this.#publisher = new JetStreamPublisher({
      window: options.publish_window ?? 256,
      ack_timeout_ms: this.#ack_timeout_ms,
      streamMissing: () => this.#connection.prepareAgain(),
      unanswered: () => this.#connection.suspect(),
    })
    this.#connection = new JetStreamConnection(options, {
      connected: async (nc) => {
        this.#publisher.listen(nc)
        if (options.may_create !== false) {
          await createStreams(await this.#manager(nc, probe_timeout_ms), options)
        }
        this.broadcast.connected(nc)
      },
      disconnected: (error) => this.#publisher.rejectAll(error),
    })
  }

  async start(): Promise<void> {
    await this.#connection.start()
  }

  get message_bytes_max(): number {
    return (this.#connection.max_payload ?? max_payload_default) - headerReserveBytes
  }

  async publish(message: OutgoingMessage): Promise<void> {
    assertMessage(message, this.message_bytes_max)
    if (this.#closing.signal.aborted) {
      throw new QueueUnavailable('the queue is closed', { reason: 'closed' })
    }
    const { id, subject, data } = message
    const streamMessage = { subject: this.#names.subject(subject), data, dedupe_id: id }
    try {
      await this.#underWay.run(data.length, () =>
        this.#publisher.publish(() => this.#connection.session.nc, streamMessage),
      )
    } catch (error) {
      if (error instanceof QueueUnavailable && error.reason === 'full') {
        this.#fullUntilMs = performance.now() + fullRestMs
      }
      throw error
    }
  }

  async consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer> {
    const consumer = startConsumer(
      {
        connection: this.#connection,
        manager: (nc) => this.#manager(nc),
        names: this.#names,
        in_flight_max: this.#options.in_flight_max ?? 10_000,
        ack_timeout_ms: this.#ack_timeout_ms,
        logger: this.#options.logger,
        closing: this.#closing.signal,
        bury: (delivery, reason) =>
          this.#publisher.publish(
            () => this.#connection.session.nc,
            deadLetterMessage(delivery, reason, this.#names),
          ),
      },
      options,
      handler,
    )
    this.#consumers.add(consumer)
    return {
      stop: async () => {
        await consumer.stop()
        this.#consumers.delete(consumer)
      },
    }
  }

  /** Counts the partitions that exist, by the names of streams. */
  countPartitions(): Promise<number> {
    return this.#callApi(async (manager) => {
      const names: string[] = []
      for await (const name of manager.streams.names()) names.push(name)
      return countPartitions(names, this.#options.stream_prefix)
    })
  }

  async stats(): Promise<QueueStats> {
    const { queue, dead } = this.#names
    const [waiting, buried] = await this.#callApi(({ streams }) =>
      Promise.all([streams.info(queue), streams.info(dead)]),
    )
    const { messages, bytes, first_ts } = waiting.state
    const oldest_age_ms = messages === 0 ? 0 : Math.max(0, Date.now() - Date.parse(first_ts))
    return { pending: messages, pending_bytes: bytes, dead: buried.state.messages, oldest_age_ms }
  }

  oldestAgeMs(subject: string): Promise<number> {
    return this.#callApi(async (manager) => {
      const oldest = await findOldest(manager, this.#names, subject)
      return oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.time.getTime())
    })
  }

  async ready(): Promise<boolean> {
    return this.#connection.isUp && performance.now() >= this.#fullUntilMs
  }

  async deadLetters(limit: number, filter: DeadLetterFilter = {}): Promise<DeadLetter[]> {
    assertProjectId(filter.project_id)
    const query = { names: this.#names, limit, filter }
    return this.#callApi((manager, nc) => listDeadLetters(nc, manager, query))
  }

  async replayDeadLetter(
    id: string,
    { project_id }: Pick<DeadLetterFilter, 'project_id'> = {},
  ): Promise<boolean> {
    assertProjectId(project_id)
    return this.#callApi(async (manager, nc) => {
      const letter = await findDeadLetter(manager, this.#names, { id, project_id })
      if (letter === undefined) return false
      await this.#publisher.publish(() => nc, replayedMessage(letter, this.#names))
      await manager.streams.deleteMessage(this.#names.dead, letter.seq)
      return true
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#underWay.ended()
    const waited = new AbortController()
    const stopped = Promise.all([...this.#consumers].map((consumer) => consumer.stop()))
    await Promise.race([stopped, sleep(this.#options.close_wait_ms ?? 5_000, waited.signal)])
    waited.abort()
    await this.#connection.close()
  }

  #manager(nc: NatsConnection, timeout = this.#ack_timeout_ms): Promise<JetStreamManager> {
    return jetstreamManager(nc, { checkAPI: false, timeout })
  }

  /** Calls the JetStream API. Any error means that it is unavailable. */
  async #callApi<T>(
    ask: (manager: JetStreamManager, nc: NatsConnection) => Promise<T>,
  ): Promise<T> {
    const { nc } = this.#connection.session
    try {
      return await ask(await this.#manager(nc), nc)
    } catch (cause) {
      if (cause instanceof QueueUnavailable) throw cause
      throw new QueueUnavailable('JetStream did not answer', { cause })
    }
  }
}
