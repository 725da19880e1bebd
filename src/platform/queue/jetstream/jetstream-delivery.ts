import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type { Delivery } from '../contract.ts'
import { QueueUnavailable } from '../contract.ts'
import type { JetStreamConnection } from './jetstream-connection.ts'

/** Header with the message id, when `Nats-Msg-Id` has another value. */
export const messageIdHeader = 'Looptrace-Message-Id'

/** A received message. `stream_seq` is its sequence number in the stream. */
export type StreamDelivery = {
  msg: Msg
  id: string
  subject: string
  attempt: number
  stream_seq: number
}

/** Parses a message of the stream. Returns undefined for any other message. */
export function streamDelivery(
  msg: Msg,
  ownSubject: (streamSubject: string) => string,
): StreamDelivery | undefined {
  const numbers = deliveryNumbers(msg.reply ?? '')
  if (numbers === undefined) return undefined
  return { msg, ...numbers, id: messageIdOf(msg), subject: ownSubject(msg.subject) }
}

/** Connection for settling deliveries, and the function that dead-letters one. */
export type SettlePorts = {
  connection: JetStreamConnection
  ack_timeout_ms: number
  bury: (delivery: StreamDelivery, reason: string) => Promise<void>
}

/** Creates a delivery that settles over the connection. */
export function deliveryOf(delivery: StreamDelivery, ports: SettlePorts): Delivery {
  const { id, subject, attempt, msg } = delivery
  return {
    id,
    subject,
    attempt,
    data: msg.data,
    ack: () => confirmAck(msg, ports),
    retry: async (delay_ms) => giveBack(msg, ports.connection.session.nc, delay_ms),
    bury: async (reason) => {
      await ports.bury(delivery, reason)
      await confirmAck(msg, ports)
    },
  }
}

/**
 * Returns a message, without confirmation: if that is lost, it is redelivered after its ack wait.
 */
export function giveBack(msg: Msg, nc: NatsConnection, delay_ms: number): void {
  const delay = Math.round(delay_ms * 1_000_000)
  const answer = delay > 0 ? `-NAK ${JSON.stringify({ delay })}` : '-NAK'
  if (msg.reply) nc.publish(msg.reply, answer)
}

/** Acknowledges a message and waits for the confirmation. Rejects with QueueUnavailable. */
async function confirmAck(msg: Msg, ports: SettlePorts): Promise<void> {
  const { nc } = ports.connection.session
  try {
    await nc.request(msg.reply ?? '', '+ACK', { timeout: ports.ack_timeout_ms })
  } catch (cause) {
    throw new QueueUnavailable('JetStream did not confirm an acknowledgement', { cause })
  }
}

function messageIdOf({ headers }: Msg): string {
  return headers?.get(messageIdHeader) || headers?.get('Nats-Msg-Id') || ''
}

/**
 * Parses the numbers in a reply subject, `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.…`.
 * Newer servers may put `<domain>.<account>` before the stream (NATS ADR-15).
 */
function deliveryNumbers(reply: string): { attempt: number; stream_seq: number } | undefined {
  const tokens = reply.split('.')
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return undefined
  const at = tokens.length === 9 ? 4 : 6
  return { attempt: Number(tokens[at]), stream_seq: Number(tokens[at + 1]) }
}
