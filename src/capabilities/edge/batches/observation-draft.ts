import type { ObservationDraft } from '../../../model/ingest-records.ts'
import type { ToolCall, ToolResult } from '../../../model/observation.ts'
import type { ObservationRecord, TraceRecord } from '../../records/schema/index.ts'
import { conversationOf, type DraftContext, pairsOf, shown, textOf } from './draft-context.ts'
import { usageColumns } from './usage-columns.ts'

/** Version of this mapping; it stands in every row that it made. */
const contract_version = 'canonical-2026-02-23'

/** A valid record as it is stored. Who it belongs to it inherits from its trace's record. */
export function observationDraft(
  record: ObservationRecord,
  context: DraftContext,
): ObservationDraft {
  const { start_time } = record
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: record.observation_id,
    parent_observation_id: shown(record.parent_observation_id),
    type: record.type ?? 'span',
    name: shown(record.name),
    start_time,
    end_time: record.end_time ?? start_time,
    status: statusOf(record),
    status_code: record.status_code ?? 0,
    outcome: shown(record.outcome),
    error_type: shown(record.error_type),
    error_message: shown(record.error_message),
    source: 'api',
    contract_version,
    provider: shown(record.provider),
    model_requested: shown(record.model_requested),
    model: shown(record.model),
    endpoint: shown(record.endpoint),
    ...ownerColumns(record, context.traces.get(record.trace_id), context),
    service_name: shown(record.service_name),
    agent_name: shown(record.agent_name),
    span_kind: shown(record.span_kind),
    level: shown(record.level),
    input: textOf(record.input),
    output: textOf(record.output),
    content_state: record.content_state ?? 'full',
    tool_calls: toolCallsOf(record),
    tool_results: toolResultsOf(record),
    streamed: record.streamed ?? false,
    finish_reason: shown(record.finish_reason),
    ...usageColumns(record, context),
    time_to_first_token_ms: record.time_to_first_token_ms ?? null,
    request_bytes: record.request_bytes ?? 0,
    response_bytes: record.response_bytes ?? 0,
    attributes: pairsOf(record.attributes),
    metadata: pairsOf(record.metadata),
    mapped_from: '',
  }
}

function statusOf(record: ObservationRecord): ObservationDraft['status'] {
  return record.status ?? (tellsOfError(record) ? 'error' : 'ok')
}

function tellsOfError({ error_type, error_message, status_code }: ObservationRecord): boolean {
  return Boolean(error_type || error_message) || (status_code ?? 0) >= 400
}

function ownerColumns(
  record: ObservationRecord,
  trace: TraceRecord | undefined,
  context: DraftContext,
) {
  // A task's name goes with its id: that of another task would be a wrong one.
  const ownTask = record.task_id || undefined
  const task_id = ownTask ?? (trace?.task_id || undefined)
  const named = record.conversation_id || trace?.conversation_id || ''
  const { conversation_id, external_id } = conversationOf(context, named)
  return {
    task_id: task_id ?? record.trace_id,
    task_name: record.task_name || (ownTask === undefined ? trace?.task_name : '') || '',
    task_implicit: task_id === undefined,
    conversation_id,
    conversation_external_id: external_id ?? '',
    user_id: record.user_id || trace?.user_id || '',
    environment: record.environment || trace?.environment || '',
    release: record.release || trace?.release || '',
  }
}

const noCalls: ToolCall[] = []
const noResults: ToolResult[] = []

function toolCallsOf({ tool_calls }: ObservationRecord): ToolCall[] {
  if (tool_calls == null || tool_calls.length === 0) return noCalls
  return tool_calls.map((call) => ({
    id: call.id,
    name: call.name,
    arguments: textOf(call.arguments),
  }))
}

function toolResultsOf({ tool_results }: ObservationRecord): ToolResult[] {
  if (tool_results == null || tool_results.length === 0) return noResults
  return tool_results.map((result) => ({
    tool_call_id: result.tool_call_id,
    content: textOf(result.content),
  }))
}
