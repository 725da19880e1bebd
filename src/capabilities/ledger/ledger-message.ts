import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { OutgoingMessage } from '../../platform/queue/index.ts'
import type { WaitingEntries } from './waiting-entries.ts'

/** A message of the kind `ledger` and how many entries it holds. */
export type LedgerMessage = { outgoing: OutgoingMessage; entries: number }

/** A message ends after the entry that brings it here: a stream takes at least 1 MiB. */
const message_chars_max = 240 * 1024
/** Entries of a message at most: about what fills it. */
const messageEntries_max = 1_000

/** Takes entries of one project and makes their message; undefined when none wait. */
export function takeMessage(
  waiting: WaitingEntries,
  newId: () => string,
): LedgerMessage | undefined {
  const entries = waiting.take(messageEntries_max)
  const [first] = entries
  if (first === undefined) return undefined
  let text = `{"entries":[${entryText(first)}`
  let taken = 1
  for (; taken < entries.length && text.length < message_chars_max; taken += 1) {
    const entry = entries[taken]
    if (entry) text += `,${entryText(entry)}`
  }
  waiting.putBack(entries.slice(taken))
  const subject = `ledger.${first.project_id}`
  const outgoing = { id: newId(), subject, data: Buffer.from(`${text}]}`) }
  return { outgoing, entries: taken }
}

/**
 * An entry as JSON. A plain accepted one, of which there is one a call, is put together by hand,
 * which costs a third: its texts are ids and words of ours and need no escapes.
 */
function entryText(entry: LedgerEntry): string {
  if (entry.message_id === '' || !isPlain(entry)) return JSON.stringify(entry)
  const { project_id, ingest_request_id, message_id, path, received_at_ms, items, masked } = entry
  return `{"project_id":"${project_id}","ingest_request_id":"${ingest_request_id}","message_id":"${message_id}","side":"accepted","path":"${path}","received_at_ms":${received_at_ms},"items":${items},"stored":0,"rejected":{},"lost":{},"masked":${masked},${restOfPlain}`
}

const restOfPlain =
  '"records":{"traces":0,"observations":0,"events":0,"links":0,"correlations":0},"attempts":0,"settled_at_ms":0,"error_reason":""}'

/** A UUID has so many characters; whatever has others is written with care. */
const uuid_chars = 36

function isPlain({ rejected, lost, ingest_request_id, message_id, project_id }: LedgerEntry) {
  for (const _ in rejected) return false
  for (const _ in lost) return false
  return (
    ingest_request_id.length === uuid_chars &&
    message_id.length === uuid_chars &&
    project_id.length === uuid_chars
  )
}
