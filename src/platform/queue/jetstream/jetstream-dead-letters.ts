import { type JetStreamManager, jetstream, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeadLetter } from '../contract.ts'
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
 * The dead letter of a delivery. Its dedupe id is made of the delivery's number in the stream, so
 * that a second burial (after a crash between the burial and the acknowledgement) changes nothing.
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

/** Lists dead letters as they were buried, without their payloads; at most 1,000. */
export async function listDeadLetters(
  nc: NatsConnection,
  manager: JetStreamManager,
  about: { names: StreamNames; limit: number },
): Promise<DeadLetter[]> {
  const { state } = await manager.streams.info(about.names.dead)
  const max_messages = Math.min(about.limit, letters_max, state.messages)
  if (max_messages === 0) return []
  const consumer = await jetstream(nc).consumers.get(about.names.dead, { headers_only: true })
  const letters: DeadLetter[] = []
  for await (const msg of await consumer.fetch({ max_messages, expires: listWait_ms })) {
    const { headers, subject, time } = msg
    letters.push({
      id: headers?.get(messageIdHeader) ?? '',
      subject: about.names.ownSubject(subject),
      reason: decodeURIComponent(headers?.get(reasonHeader) ?? ''),
      attempts: Number(headers?.get(attemptsHeader)),
      buried_at: time.toISOString(),
      bytes: Number(headers?.get('Nats-Msg-Size')),
    })
  }
  await consumer.delete().catch(() => undefined)
  return letters
}

/** The last dead letter of a message id, with its number in the stream, or undefined. */
export async function findDeadLetter(
  manager: JetStreamManager,
  names: StreamNames,
  id: string,
): Promise<StoredMsg | undefined> {
  try {
    const query = { last_by_subj: names.deadFilter(id) }
    return (await manager.streams.getMessage(names.dead, query)) ?? undefined
  } catch (error) {
    if (isApiError(error, noMessageFound)) return undefined
    throw error
  }
}

/** A dead letter as a message of the queue again, under a dedupe id that was not used before. */
export function replayedMessage(letter: StoredMsg, names: StreamNames): StreamMessage {
  const id = letter.header.get(messageIdHeader)
  return {
    subject: names.subject(names.ownSubject(letter.subject)),
    data: letter.data,
    dedupe_id: `replay:${letter.seq}:${id}`,
    headers: { [messageIdHeader]: id },
  }
}

/** Text for a header, percent-encoded; cut where it would not fit into the reserve for headers. */
function headerText(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed())
  if (encoded.length <= headerText_bytes_max) return encoded
  return encodeURIComponent(text.slice(0, headerText_bytes_max / 10).toWellFormed())
}
