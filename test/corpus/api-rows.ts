import type { DraftContext } from '../../src/capabilities/edge/batches/draft-context.ts'
import { observationDraft } from '../../src/capabilities/edge/batches/observation-draft.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import { observationRecord } from '../../src/capabilities/records/schema/2026-02-23/observation-record.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { storedFrom } from '../support/otlp-spans.ts'
import type { RecordedCall, RecordedRun, RecordedTool } from './recorded-run.ts'
import { hexFrom, traceIdOf } from './run-ids.ts'

/**
 * The rows of a run that a client reports itself, as canonical records: its calls with requests and
 * answers, and the tools that were run. It does not report its declared tools.
 */
export function apiRows(run: RecordedRun): Observation[] {
  const context: DraftContext = {
    project_id: run.project_id,
    received_at: 1_790_000_100_000_000_000n,
    pricing: createPricing(),
    traces: new Map(),
    conversations: new Map(),
    drafts: { traces: [], observations: [], events: [], links: [], correlations: [] },
  }
  return [...run.calls.map((call) => callRecord(run, call)), ...run.tools.map(toolRecordOf(run))]
    .map((record) => observationDraft(observationRecord.parse(record), context))
    .map(storedFrom)
}

function ownerOf({ name, task_id, task_name, conversation_id }: RecordedRun) {
  return { trace_id: traceIdOf(name, 'all'), task_id, task_name, conversation_id }
}

function callRecord(run: RecordedRun, call: RecordedCall): object {
  const { answer, error } = call
  return {
    ...ownerOf(run),
    observation_id: hexFrom(16, 'call', run.name, call.index),
    type: 'generation',
    name: `chat ${run.model}`,
    ...timesOf(call),
    provider: run.provider,
    model_requested: run.model,
    streamed: call.streamed,
    input: call.messages,
    ...(answer !== undefined && {
      ...{ output: answer, model: run.model, finish_reason: call.finish_reason },
      ...{ input_tokens: call.input_tokens, output_tokens: call.output_tokens },
    }),
    ...(error !== undefined && {
      status: 'error',
      status_code: error.status ?? 0,
      outcome: error.outcome ?? 'provider_error',
      error_type: error.type ?? 'error',
      error_message: error.message ?? '',
    }),
  }
}

function toolRecordOf(run: RecordedRun) {
  return (tool: RecordedTool): object => ({
    ...ownerOf(run),
    observation_id: hexFrom(16, 'tool', run.name, tool.index),
    type: 'tool',
    name: tool.name,
    ...timesOf(tool),
    input: tool.arguments,
    output: tool.result,
    status: tool.failed ? 'error' : 'ok',
    tool_results: [{ tool_call_id: tool.tool_call_id, content: tool.result }],
  })
}

function timesOf({ start_time, end_time }: { start_time: bigint; end_time: bigint }) {
  return { start_time: isoFromNs(start_time), end_time: isoFromNs(end_time) }
}
