import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  type StoredMsg,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import type { DeadLetter, DeadLetterFilter } from '../contract.ts'
import { messageIdHeader, type StreamDelivery } from './jetstream-delivery.ts'
import type { StreamMessage } from './jetstream-publisher.ts'
import { isApiError, type StreamNames } from './jetstream-streams.ts'

const reasonHeader = 'Looptrace-Reason'
const attemptsHeader = 'Looptrace-Attempts'
const noMessageFound = 10_037
const headerText_bytes_max = 2_000
const letters_max = 1_000
const listWait_ms = 5_000

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
    inactive_threshold: nanos(2 * listWait_ms),
    filter_subject: deadFilter({ project_id: query.filter.project_id }),
    ...startOf(query.filter),
  })
  const consumer = await jetstream(nc).consumers.get(dead, info.name)
  const max_messages = Math.min(query.limit, letters_max, info.num_pending)
  const letters: DeadLetter[] = []
  if (max_messages > 0) {
    for await (const msg of await consumer.fetch({ max_messages, expires: listWait_ms })) {
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

function startOf({ after }: DeadLetterFilter) {
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
  if (encoded.length <= headerText_bytes_max) return encoded
  return encodeURIComponent(text.slice(0, headerText_bytes_max / 10).toWellFormed())
}
