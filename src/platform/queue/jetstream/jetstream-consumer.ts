import { AckPolicy, type JetStreamManager } from '@nats-io/jetstream'
import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node'
import { sleep } from '../../../kernel/time.ts'
import type { BatchHandler, ConsumeOptions, Consumer, Delivery } from '../contract.ts'
import { type QueueLogger, runBatch } from '../run-batch.ts'
import type { JetStreamConnection } from './jetstream-connection.ts'
import {
  deliveryOf,
  giveBack,
  type SettlePorts,
  type StreamDelivery,
  streamDelivery,
} from './jetstream-delivery.ts'
import { JetStreamPull } from './jetstream-pull.ts'
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
const pullAgain_ms = 1_000
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
      await sleep(pullAgain_ms, stopping)
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
    batch_wait_ms: options.batch_wait_ms,
  }
  const end = AbortSignal.any([over, stopping])
  const { logger, closing: signal } = ports
  try {
    while (!end.aborted) {
      const deliveries = await toDeliveries(await pull.next(limits, end), ports, options)
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
