import type { Observation } from '../../../../model/observation.ts'
import type { FieldName } from './contracts/contract-shape.ts'

/** How a task that is the trace itself is shown. */
export const implicitTask = ' (the trace)'

/** The value of each field of a contract as the row has it; '' when it has none. */
export function shownValues(row: Observation): Record<FieldName, string> {
  const tool = row.type === 'tool' ? row.tool_calls[0] : undefined
  return {
    ...callValues(row),
    ...usageValues(row),
    ...endingValues(row),
    task_id: row.task_implicit ? `${row.task_id}${implicitTask}` : row.task_id,
    task_name: row.task_name,
    conversation_id: row.conversation_external_id || row.conversation_id,
    user_id: row.user_id,
    environment: row.environment,
    release: row.release,
    trace_name: '',
    trace_input: '',
    trace_output: '',
    input: row.input,
    output: row.output,
    tool_name: tool?.name ?? '',
    tool_call_id: tool?.id ?? '',
    tool_calls: row.tool_calls.length === 0 ? '' : JSON.stringify(row.tool_calls),
    tool_results: row.tool_results.length === 0 ? '' : JSON.stringify(row.tool_results),
  }
}

function callValues(row: Observation) {
  const { type, model, model_requested, provider, endpoint, agent_name, service_name } = row
  return { type, model, model_requested, provider, endpoint, agent_name, service_name }
}

function usageValues(row: Observation) {
  const input = sumOf(row.input_uncached_tokens, row.cache_read_tokens, row.cache_write_tokens)
  return {
    input_tokens: row.usage_semantics === 'exclusive' ? shown(row.input_uncached_tokens) : input,
    output_tokens: sumOf(row.output_visible_tokens, row.reasoning_tokens),
    cache_read_tokens: shown(row.cache_read_tokens),
    cache_write_tokens: shown(row.cache_write_tokens),
    reasoning_tokens: shown(row.reasoning_tokens),
    total_tokens: '',
    usage_semantics: row.usage_semantics,
    output_semantics: '',
    cost_usd: row.cost_usd ?? '',
  }
}

function endingValues(row: Observation) {
  return {
    finish_reason: row.finish_reason,
    streamed: `${row.streamed}`,
    time_to_first_token_ms: shown(row.time_to_first_token_ms),
    status: row.status,
    status_code: row.status_code === 0 ? '' : `${row.status_code}`,
    error_type: row.error_type,
    error_message: row.error_message,
    level: row.level,
  }
}

function shown(value: number | null): string {
  return value === null ? '' : `${value}`
}

function sumOf(...values: (number | null)[]): string {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? '' : `${known.reduce((sum, value) => sum + value, 0)}`
}
