import type {
  CorrelationDraft,
  EventDraft,
  IngestRecords,
  LinkDraft,
  TraceDraft,
} from '../../../model/ingest-records.ts'
import type { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'
import { writeObservation } from './write-observation.ts'

/** The draft of each kind of record. */
export type DraftOf<Kind extends keyof IngestRecords> = IngestRecords[Kind][number]

/**
 * Writes one row of RowBinary: the draft and, last, the id of the message that takes it (ASCII).
 * Throws TypeError or RangeError when a value does not fit its column; a part may be written then.
 */
export type RowWriter<Kind extends keyof IngestRecords> = (
  out: ByteWriter,
  draft: DraftOf<Kind>,
  message_id: Uint8Array,
) => void

/** The writer of each kind of row. */
export const rowWriters: { readonly [Kind in keyof IngestRecords]: RowWriter<Kind> } = {
  observations: writeObservation,
  traces: writeTrace,
  events: writeEvent,
  links: writeLink,
  correlations: writeCorrelation,
}

function writeTrace(out: ByteWriter, row: TraceDraft, message_id: Uint8Array): void {
  out.uuid(row.project_id)
  out.uuid(row.trace_id)
  out.i64(row.time)
  out.string(row.name)
  out.string(row.source)
  out.string(row.task_id)
  out.string(row.task_name)
  out.string(row.conversation_id)
  out.string(row.conversation_external_id)
  out.string(row.user_id)
  out.string(row.environment)
  out.string(row.release)
  out.text(row.input)
  out.text(row.output)
  out.pairs(row.metadata)
  out.text(message_id)
}

function writeEvent(out: ByteWriter, row: EventDraft, message_id: Uint8Array): void {
  out.uuid(row.project_id)
  out.uuid(row.trace_id)
  out.string(row.observation_id)
  out.string(row.event_id)
  out.i64(row.time)
  out.string(row.name)
  out.string(row.level)
  out.string(row.source)
  out.text(row.body)
  out.pairs(row.attributes)
  out.text(message_id)
}

function writeLink(out: ByteWriter, row: LinkDraft, message_id: Uint8Array): void {
  out.uuid(row.project_id)
  out.uuid(row.trace_id)
  out.string(row.observation_id)
  out.string(row.link_id)
  out.i64(row.time)
  out.uuid(row.linked_trace_id)
  out.string(row.linked_observation_id)
  out.string(row.source)
  out.pairs(row.attributes)
  out.text(message_id)
}

function writeCorrelation(out: ByteWriter, row: CorrelationDraft, message_id: Uint8Array): void {
  out.uuid(row.project_id)
  out.uuid(row.trace_id)
  out.string(row.observation_id)
  out.string(row.correlation_type)
  out.string(row.correlation_value)
  out.i64(row.time)
  out.string(row.source)
  out.pairs(row.metadata)
  out.text(message_id)
}
