import type { RecordKind } from '../../src/capabilities/storage/index.ts'
import {
  type DraftOf,
  type RowWriter,
  rowWriters,
} from '../../src/capabilities/storage/row-format/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type {
  CorrelationDraft,
  EventDraft,
  LinkDraft,
  TraceDraft,
} from '../../src/model/ingest-records.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { ByteWriter } from '../../src/platform/columnar/row-binary/index.ts'

/** Start of the records of tests: an instant in 2026, in nanoseconds. */
export const start = 1_790_000_000_000_000_000n
export const second = 1_000_000_000n

type OfProject<Draft> = Partial<Draft> & { project_id: string }

/** Each draft as a separate row, as an edge encodes it. */
export function rowsOf<Kind extends RecordKind>(
  kind: Kind,
  drafts: readonly DraftOf<Kind>[],
  message_id = 'm1',
): Uint8Array[] {
  const write: RowWriter<Kind> = rowWriters[kind]
  return drafts.map((draft) => {
    const out = new ByteWriter(Buffer.alloc(1024))
    write(out, draft, Buffer.from(message_id))
    return out.written()
  })
}

export function traceOf(given: OfProject<TraceDraft>): TraceDraft {
  return {
    trace_id: newId(),
    time: start,
    name: 'a trace',
    source: 'api',
    task_id: '',
    task_name: '',
    conversation_id: '',
    conversation_external_id: '',
    user_id: '',
    environment: '',
    release: '',
    input: '',
    output: '',
    metadata: [],
    ...given,
  }
}

export function eventOf(given: OfProject<EventDraft>): EventDraft {
  return {
    trace_id: newId(),
    observation_id: '00f067aa0ba902b7',
    event_id: '0',
    time: start,
    name: 'retried',
    level: '',
    source: 'otlp',
    body: '',
    attributes: [],
    ...given,
  }
}

export function linkOf(given: OfProject<LinkDraft>): LinkDraft {
  return {
    trace_id: newId(),
    observation_id: '00f067aa0ba902b7',
    link_id: '0',
    time: start,
    linked_trace_id: newId(),
    linked_observation_id: '',
    source: 'otlp',
    attributes: [],
    ...given,
  }
}

export function correlationOf(given: OfProject<CorrelationDraft>): CorrelationDraft {
  return {
    trace_id: newId(),
    observation_id: '',
    correlation_type: 'order',
    correlation_value: 'o-1',
    time: start,
    source: 'api',
    metadata: [],
    ...given,
  }
}

/** An entry of ten items; settled items are stored by default. */
export function entryOf(given: OfProject<LedgerEntry>): LedgerEntry {
  const settled = given.side === 'settled'
  return {
    ingest_request_id: newId(),
    message_id: 'm1',
    side: 'accepted',
    path: 'otlp',
    received_at_ms: Number(start / 1_000_000n),
    items: 10,
    stored: settled ? 10 : 0,
    rejected: {},
    lost: {},
    masked: 0,
    records: { traces: 0, observations: settled ? 10 : 0, events: 0, links: 0, correlations: 0 },
    attempts: settled ? 1 : 0,
    settled_at_ms: settled ? Number(start / 1_000_000n) + 500 : 0,
    error_reason: '',
    ...given,
  }
}
