import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  type StoredMsg,
} from '@nats-io/jetstream'
import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node'
import {
  type DeadLetter,
  type DeadLetterFilter,
  type Delivery,
  QueueUnavailable,
} from '../contract.ts'
import type { JetStreamConnection } from './jetstream-connection.ts'
import type { StreamMessage } from './jetstream-publisher.ts'
import { isApiError, type StreamNames } from './jetstream-streams.ts'

/** Header with the message id, when `Nats-Msg-Id` has another value. */
const messageIdHeader = 'Looptrace-Message-Id'

/** A received message. `stream_seq` is its sequence number in the stream. */
export type StreamDelivery = {
  msg: Msg
  id: string
  subject: string
  attempt: number
  stream_seq: number
  /** Milliseconds since 1970, by the clock of the server. */
  published_ms: number
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
 * Parses the numbers in a reply subject,
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<published ns>.<pending>`.
 * Newer servers may put `<domain>.<account>` before the stream (NATS ADR-15).
 */
function deliveryNumbers(reply: string): DeliveryNumbers | undefined {
  const tokens = reply.split('.')
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return undefined
  const at = tokens.length === 9 ? 4 : 6
  return {
    attempt: Number(tokens[at]),
    stream_seq: Number(tokens[at + 1]),
    published_ms: Number(tokens[at + 3]) / 1_000_000,
  }
}

type DeliveryNumbers = Pick<StreamDelivery, 'attempt' | 'stream_seq' | 'published_ms'>

/** Returns when a message was stored in the stream, by the clock of the server; now for others. */
export function publishedMs({ reply = '' }: Msg, now_ms: number): number {
  return deliveryNumbers(reply)?.published_ms ?? now_ms
}

const reasonHeader = 'Looptrace-Reason'
const attemptsHeader = 'Looptrace-Attempts'
const noMessageFound = 10_037
const maxHeaderTextBytes = 2_000
const letters_max = 1_000
const listWaitMs = 5_000

/**
 * Builds the dead letter of a delivery. Its dedupe id contains the delivery's sequence number in
 * the stream, so that a repetition after a crash before the acknowledgement changes nothing.
 */
export function deadLetterMessage(
  delivery: StreamDelivery,
  reason: string,
  names: StreamNames,
): StreamMessage {
  const { id, subject, attempt, stream_seq, msg } = delivery
  return {
    subject: names.deadSubject(subject, id),
    data: msg.data,
    dedupe_id: `${stream_seq}:${id}`,
    headers: {
      [messageIdHeader]: id,
      [reasonHeader]: headerText(reason),
      [attemptsHeader]: String(attempt),
    },
  }
}

/** Lists dead letters, oldest first, without payloads; at most 1,000. */
export async function listDeadLetters(
  nc: NatsConnection,
  manager: JetStreamManager,
  query: { names: StreamNames; limit: number; filter: DeadLetterFilter },
): Promise<DeadLetter[]> {
  const { dead, deadFilter, ownSubject } = query.names
  const info = await manager.consumers.add(dead, {
    ack_policy: AckPolicy.None,
    headers_only: true,
    mem_storage: true,
    inactive_threshold: nanos(2 * listWaitMs),
    filter_subject: deadFilter({ project_id: query.filter.project_id }),
    ...startOf(query.filter),
  })
  const consumer = await jetstream(nc).consumers.get(dead, info.name)
  const max_messages = Math.min(query.limit, letters_max, info.num_pending)
  const letters: DeadLetter[] = []
  if (max_messages > 0) {
    for await (const msg of await consumer.fetch({ max_messages, expires: listWaitMs })) {
      letters.push(letterOf(msg, ownSubject))
    }
  }
  await consumer.delete().catch(() => undefined)
  return letters
}

function letterOf(msg: JsMsg, ownSubject: StreamNames['ownSubject']): DeadLetter {
  const { headers, subject, time, seq } = msg
  return {
    id: headers?.get(messageIdHeader) ?? '',
    subject: ownSubject(subject),
    reason: decodeURIComponent(headers?.get(reasonHeader) ?? ''),
    attempts: Number(headers?.get(attemptsHeader)),
    buried_at: time.toISOString(),
    bytes: Number(headers?.get('Nats-Msg-Size')),
    position: String(seq),
  }
}

/** `@` begins a time, see `positionIn`. */
function startOf({ after }: DeadLetterFilter) {
  if (after?.startsWith('@') === true) {
    return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: after.slice(1) }
  }
  const seq = Number(after)
  if (after === undefined || !Number.isSafeInteger(seq))
    return { deliver_policy: DeliverPolicy.All }
  return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: seq + 1 }
}

/** Finds the last dead letter of a message id, with its sequence number in the stream. */
export async function findDeadLetter(
  manager: JetStreamManager,
  names: StreamNames,
  which: { id: string; project_id?: string | undefined },
): Promise<StoredMsg | undefined> {
  try {
    const query = { last_by_subj: names.deadFilter(which) }
    return (await manager.streams.getMessage(names.dead, query)) ?? undefined
  } catch (error) {
    if (isApiError(error, noMessageFound)) return undefined
    throw error
  }
}

/** Finds the oldest message of a subject that is not acknowledged. */
export async function findOldest(
  manager: JetStreamManager,
  names: StreamNames,
  subject: string,
): Promise<StoredMsg | undefined> {
  try {
    const query = { seq: 1, next_by_subj: names.subject(subject) }
    return (await manager.streams.getMessage(names.queue, query)) ?? undefined
  } catch (error) {
    if (isApiError(error, noMessageFound)) return undefined
    throw error
  }
}

/** Turns a dead letter into a message of the queue, with a new dedupe id. */
export function replayedMessage(letter: StoredMsg, names: StreamNames): StreamMessage {
  const id = letter.header.get(messageIdHeader)
  return {
    subject: names.subject(names.ownSubject(letter.subject)),
    data: letter.data,
    dedupe_id: `replay:${letter.seq}:${id}`,
    headers: { [messageIdHeader]: id },
  }
}

/** Percent-encodes text for a header, cut to the space that is reserved for headers. */
function headerText(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed())
  if (encoded.length <= maxHeaderTextBytes) return encoded
  return encodeURIComponent(text.slice(0, maxHeaderTextBytes / 10).toWellFormed())
}
