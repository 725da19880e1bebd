import { AckPolicy, type JetStreamManager } from '@nats-io/jetstream'
import { createInbox, type Msg, type NatsConnection, nanos } from '@nats-io/transport-node'
import { sleep } from '../../../kernel/time.ts'
import type { BatchHandler, ConsumeOptions, Consumer, Delivery } from '../contract.ts'
import { batchWaitOf, type QueueLogger, runBatch, waitLeft } from '../run-batch.ts'
import type { JetStreamConnection } from './jetstream-connection.ts'
import {
  deliveryOf,
  giveBack,
  publishedMs,
  type SettlePorts,
  type StreamDelivery,
  streamDelivery,
} from './jetstream-delivery.ts'
import { isApiError, type StreamNames } from './jetstream-streams.ts'

/** Dependencies of a consumer. */
export type ConsumerPorts = SettlePorts & {
  connection: JetStreamConnection
  manager: (nc: NatsConnection) => Promise<JetStreamManager>
  names: StreamNames
  /** Maximum unsettled deliveries (in handlers or waiting for redelivery), over all processes. */
  in_flight_max: number
  logger: QueueLogger
  /** Aborts when the queue closes. */
  closing: AbortSignal
}

/** Delay after the server rejected a pull. */
const pullAgainMs = 1_000
const consumerExists = 10_148

/**
 * Starts a consumer on the durable of its kind, which all processes share. The server has no limit
 * of deliveries, because it would keep such messages undelivered. They are dead-lettered here.
 */
export function startConsumer(
  ports: ConsumerPorts,
  options: ConsumeOptions,
  handler: BatchHandler,
): Consumer {
  const stopping = new AbortController()
  const ended = run({ ports, options, handler, stopping: stopping.signal })
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

type ConsumerRun = {
  ports: ConsumerPorts
  options: ConsumeOptions
  handler: BatchHandler
  stopping: AbortSignal
}

async function run(consumerRun: ConsumerRun): Promise<void> {
  const { ports, options, stopping } = consumerRun
  while (!stopping.aborted) {
    await ports.connection.untilUp(stopping)
    if (stopping.aborted) return
    try {
      await consumeSession(consumerRun)
    } catch (error) {
      ports.logger.warn({ err: error, kind: options.kind }, 'a consumer failed; restarting it')
      await sleep(pullAgainMs, stopping)
    }
  }
}

/** Consumes over one connection, until it ends or the consumer is stopped. */
async function consumeSession({ ports, options, handler, stopping }: ConsumerRun): Promise<void> {
  const { nc, over } = ports.connection.session
  await ensureConsumer(await ports.manager(nc), ports, options)
  const pull = new JetStreamPull(nc, { stream: ports.names.queue, consumer: options.kind })
  const limits = {
    messages_max: options.batch_messages_max,
    bytes_max: options.batch_bytes_max,
  }
  const end = AbortSignal.any([over, stopping])
  const { logger, closing: signal } = ports
  try {
    while (!end.aborted) {
      const deliveries = await toDeliveries(
        await pull.next({ ...limits, batch_wait_ms: batchWaitOf(options) }, end),
        ports,
        options,
      )
      if (deliveries.length > 0) {
        await runBatch({ deliveries, handler, options, signal, logger })
      } else if (pull.broken !== undefined) {
        ports.connection.prepareAgain()
        throw new Error(`the server refused a pull: ${pull.broken}`)
      }
    }
  } finally {
    if (over.aborted) pull.abandon()
    else for (const msg of await pull.close()) giveBack(msg, nc, 0)
  }
}

/** Turns messages into deliveries, and dead-letters those without attempts left. */
async function toDeliveries(
  messages: readonly Msg[],
  ports: ConsumerPorts,
  { attempts_max }: ConsumeOptions,
): Promise<Delivery[]> {
  const all = messages
    .map((msg) => streamDelivery(msg, ports.names.ownSubject))
    .filter((delivery) => delivery !== undefined)
  const spent = all.filter(({ attempt }) => attempt > attempts_max)
  await Promise.all(spent.map((delivery) => deadLetterOrLog(delivery, ports)))
  return all
    .filter(({ attempt }) => attempt <= attempts_max)
    .map((delivery) => deliveryOf(delivery, ports))
}

async function deadLetterOrLog(delivery: StreamDelivery, ports: ConsumerPorts): Promise<void> {
  const { id, subject, attempt } = delivery
  try {
    await deliveryOf(delivery, ports).bury(`given up after ${attempt - 1} deliveries`)
  } catch (error) {
    ports.logger.error(
      { err: error, message_id: id, subject },
      'a message could not be dead-lettered',
    )
  }
}

async function ensureConsumer(
  manager: JetStreamManager,
  ports: ConsumerPorts,
  options: ConsumeOptions,
): Promise<void> {
  const { queue, kindFilter } = ports.names
  const config = {
    filter_subject: kindFilter(options.kind),
    ack_wait: nanos(options.ack_wait_ms),
    max_deliver: -1,
    max_ack_pending: ports.in_flight_max,
  }
  try {
    await manager.consumers.add(queue, {
      ...config,
      durable_name: options.kind,
      ack_policy: AckPolicy.Explicit,
    })
  } catch (error) {
    if (!isApiError(error, consumerExists)) throw error
    await manager.consumers.update(queue, options.kind, config)
  }
}

/** A request for messages. Without `no_wait`, the server waits for messages. */
type Pull = {
  messages: number
  bytes_max?: number
  wait_ms: number
  no_wait: boolean
}

/** Time after which a waiting pull expires at the server and is repeated. */
const pullExpiresMs = 30_000
/** Extra time for an answer before it counts as lost. */
const pullGraceMs = 5_000

/**
 * Pulls exactly one batch at a time, so that no message waits in this process while its
 * acknowledgement time runs. (The client library's own consumer prefetches.)
 */
class JetStreamPull {
  readonly #nc: NatsConnection
  readonly #requestSubject: string
  readonly #inbox = createInbox()
  readonly #subscription
  #arrived: Msg[] = []
  #pull = 0
  #ended = false
  #broken: string | undefined
  #wake: () => void = () => undefined

  constructor(nc: NatsConnection, source: { stream: string; consumer: string }) {
    this.#nc = nc
    this.#requestSubject = `$JS.API.CONSUMER.MSG.NEXT.${source.stream}.${source.consumer}`
    this.#subscription = nc.subscribe(`${this.#inbox}.*`, {
      callback: (_error, msg) => this.#receive(msg),
    })
  }

  /** Resolves with the next batch; empty after the timeout or when the signal aborts. */
  async next(
    limits: { messages_max: number; bytes_max: number; batch_wait_ms: number },
    signal: AbortSignal,
  ): Promise<Msg[]> {
    const { messages_max, bytes_max, batch_wait_ms } = limits
    await this.#ask({ messages: messages_max, bytes_max, wait_ms: 0, no_wait: true }, signal)
    if (this.#arrived.length >= messages_max) return this.#takeArrived()
    if (this.#arrived.length === 0) {
      await this.#ask({ messages: 1, wait_ms: pullExpiresMs, no_wait: false }, signal)
    }
    const left = {
      messages: messages_max - this.#arrived.length,
      bytes_max: bytes_max - this.#arrived.reduce((sum, { data }) => sum + data.length, 0),
    }
    if (this.#arrived.length > 0 && left.messages > 0 && left.bytes_max > 0) {
      const now_ms = Date.now()
      const [first] = this.#arrived
      const first_ms = first === undefined ? now_ms : publishedMs(first, now_ms)
      await sleep(waitLeft(batch_wait_ms, first_ms, now_ms), signal)
      await this.#ask({ ...left, wait_ms: 0, no_wait: true }, signal)
    }
    return this.#takeArrived()
  }

  /** Why the server rejected a pull, for example because the consumer was deleted. */
  get broken(): string | undefined {
    return this.#broken
  }

  /** Ends the subscription. Resolves with the messages that still arrived. */
  async close(): Promise<Msg[]> {
    await this.#subscription.drain().catch(() => undefined)
    return this.#takeArrived()
  }

  /** Ends the subscription after the connection is gone. */
  abandon(): void {
    this.#subscription.unsubscribe()
  }

  #takeArrived(): Msg[] {
    const arrived = this.#arrived
    this.#arrived = []
    return arrived
  }

  /** Sends a request and waits for all messages, a status, the timeout or the signal. */
  async #ask(pull: Pull, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    this.#pull += 1
    this.#ended = false
    const wanted = this.#arrived.length + pull.messages
    const request = {
      batch: pull.messages,
      ...(pull.no_wait ? { no_wait: true } : { expires: nanos(pull.wait_ms) }),
      ...(pull.bytes_max !== undefined && { max_bytes: pull.bytes_max }),
    }
    this.#nc.publish(this.#requestSubject, JSON.stringify(request), {
      reply: `${this.#inbox}.${this.#pull}`,
    })
    const timer = setTimeout(() => this.#end(), pull.wait_ms + pullGraceMs)
    const abort = () => this.#end()
    signal.addEventListener('abort', abort, { once: true })
    while (!this.#ended && this.#arrived.length < wanted) await this.#waitForMessage()
    signal.removeEventListener('abort', abort)
    clearTimeout(timer)
  }

  #end(): void {
    this.#ended = true
    this.#wake()
  }

  #receive(msg: Msg): void {
    const isStatus = msg.data.length === 0 && (msg.headers?.code ?? 0) >= 100
    if (isStatus) {
      this.#status(msg)
    } else {
      this.#arrived.push(msg)
      this.#wake()
    }
  }

  #status(msg: Msg): void {
    const { code = 0, description = '' } = msg.headers ?? {}
    const isEnd = [404, 408].includes(code) || /maxbytes|batch completed/i.test(description)
    if (!isEnd) this.#broken = `${code} ${description}`
    if (!isEnd || msg.subject.endsWith(`.${this.#pull}`)) this.#end()
  }

  #waitForMessage(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
