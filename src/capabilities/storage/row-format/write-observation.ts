import type { ObservationDraft } from '../../../model/ingest-records.ts'
import type { ToolCall, ToolResult } from '../../../model/observation.ts'
import type { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'

/** Writes the columns of `observationColumnTypes`, one after the other; a test holds the order. */
export function writeObservation(
  out: ByteWriter,
  row: ObservationDraft,
  message_id: Uint8Array,
): void {
  writeHead(out, row)
  writeFacts(out, row)
  out.text(row.input)
  out.text(row.output)
  writeToolCalls(out, row.tool_calls)
  writeToolResults(out, row.tool_results)
  out.pairs(row.attributes)
  out.pairs(row.metadata)
  out.text(message_id)
}

/** What roll-ups are made of: `readObservationHead` reads it. */
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
