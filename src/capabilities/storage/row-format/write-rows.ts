import type {
  CorrelationDraft,
  EventDraft,
  IngestRecords,
  LinkDraft,
  ObservationDraft,
  TraceDraft,
} from '../../../model/ingest-records.ts'
import type { ToolCall, ToolResult } from '../../../model/observation.ts'
import type { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'

/** The draft of each kind of record. */
export type DraftOf<Kind extends keyof IngestRecords> = IngestRecords[Kind][number]

/**
 * Writes one row as RowBinary: the draft, then the id of its message (ASCII). Throws TypeError or
 * RangeError when a value does not fit its column; a part of the row may be written by then.
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

/** Writes the columns of `observationColumnTypes`, in order, which a test checks. */
function writeObservation(out: ByteWriter, row: ObservationDraft, message_id: Uint8Array): void {
  writeHead(out, row)
  writeUsage(out, row)
  writeFacts(out, row)
  out.text(row.input)
  out.text(row.output)
  writeToolCalls(out, row.tool_calls)
  writeToolResults(out, row.tool_results)
  out.pairs(row.attributes)
  out.pairs(row.metadata)
  out.text(message_id)
}

/** Writes the columns of roll-ups, which `readObservationHead` reads. */
function writeHead(out: ByteWriter, row: ObservationDraft): void {
  out.uuid(row.project_id)
  out.uuid(row.trace_id)
  out.string(row.observation_id)
  out.string(row.parent_observation_id)
  out.string(row.type)
  out.i64(row.start_time)
  out.i64(row.end_time)
  out.string(row.status)
  out.string(row.source)
  out.string(row.task_id)
  out.string(row.task_name)
  out.bool(row.task_implicit)
  out.string(row.conversation_id)
  out.string(row.conversation_external_id)
  out.string(row.user_id)
  out.string(row.environment)
  out.string(row.release)
  out.string(row.provider)
  out.string(row.model_requested)
  out.string(row.model)
  out.u53OrNull(row.input_uncached_tokens)
  out.u53OrNull(row.cache_read_tokens)
  out.u53OrNull(row.cache_write_tokens)
  out.u53OrNull(row.output_visible_tokens)
  out.u53OrNull(row.reasoning_tokens)
  out.string(row.usage_source)
  out.decimal9OrNull(row.cost_usd)
  out.varint(row.price_partial.length)
  for (const word of row.price_partial) out.string(word)
  out.string(row.response_id)
  out.string(row.counted_with)
}

function writeUsage(out: ByteWriter, row: ObservationDraft): void {
  const details = Object.entries(row.usage_details)
  out.varint(details.length)
  for (const [name, tokens] of details) {
    out.string(name)
    out.u53(tokens)
  }
  out.string(row.service_tier)
  out.decimal9OrNull(row.cost_computed_usd)
  out.decimal9OrNull(row.cost_reported_usd)
}

function writeFacts(out: ByteWriter, row: ObservationDraft): void {
  out.string(row.name)
  out.u32(row.status_code)
  out.string(row.outcome)
  out.string(row.error_type)
  out.string(row.error_message)
  out.string(row.contract_version)
  out.string(row.endpoint)
  out.string(row.service_name)
  out.string(row.agent_name)
  out.string(row.span_kind)
  out.string(row.level)
  out.string(row.content_state)
  out.bool(row.streamed)
  out.string(row.finish_reason)
  out.string(row.usage_semantics)
  out.string(row.price_version)
  out.f64OrNull(row.time_to_first_token_ms)
  out.u53(row.request_bytes)
  out.u53(row.response_bytes)
  out.string(row.mapped_from)
}

function writeToolCalls(out: ByteWriter, calls: readonly ToolCall[]): void {
  out.varint(calls.length)
  for (const call of calls) {
    out.string(call.id)
    out.string(call.name)
    out.string(call.arguments)
  }
}

function writeToolResults(out: ByteWriter, results: readonly ToolResult[]): void {
  out.varint(results.length)
  for (const result of results) {
    out.string(result.tool_call_id)
    out.string(result.content)
  }
}
