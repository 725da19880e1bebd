import { countedCallSql } from '../../../../model/observation.ts'
import { type Entity, type Field, fieldsOf } from '../field.ts'
import { text } from './plain-fields.ts'

const buckets = {
  input: ['input_uncached_tokens', 'cache_read_tokens', 'cache_write_tokens'],
  output: ['output_visible_tokens', 'reasoning_tokens'],
}

/** Returns the sum of columns; null when all are unknown, since 0 would be a claim. */
function sumOf(columns: readonly string[]) {
  const sum = columns.map((column) => `coalesce(${column}, 0)`).join(' + ')
  const sql = `CASE WHEN coalesce(${columns.join(', ')}) IS NULL THEN NULL ELSE ${sum} END`
  return { derived: { clickhouse: sql, postgres: sql }, sum_of: columns }
}

const sameSql = (sql: string) => ({ clickhouse: sql, postgres: sql })

const tokens = (name: string, description: string): Field => ({
  name,
  type: 'integer',
  description,
  nullable: true,
})

const dollars = (name: string, description: string): Field => ({
  name,
  type: 'decimal',
  description,
  nullable: true,
})

const fields: readonly Field[] = [
  { name: 'trace_id', type: 'uuid', description: 'Trace id.', indexed: true },
  {
    ...text('observation_id', 'Observation id, unique in its trace.'),
    required: true,
  },
  text('parent_observation_id', 'Id of the parent observation; unknown for a root.'),
  text('type', 'generation, tool, agent, chain, retriever, embedding, and so on.'),
  text('name', 'Name given by the client.'),
  { name: 'start_time', type: 'time', description: 'Start time.' },
  { name: 'end_time', type: 'time', description: 'End time.' },
  {
    name: 'duration_ms',
    type: 'float',
    description: 'Duration in milliseconds.',
    derived: {
      clickhouse: '(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time)) / 1000000',
      postgres: '(end_time - start_time)::float8 / 1000000',
    },
  },
  text('status', 'ok, error or cancelled.'),
  {
    name: 'has_error',
    type: 'bool',
    description: 'The status is error.',
    derived: sameSql("status = 'error'"),
  },
  {
    name: 'is_call',
    type: 'bool',
    description: 'A model call that counts. Sum tokens and cost over calls only.',
    derived: sameSql(countedCallSql),
  },
  { name: 'status_code', type: 'integer', description: 'HTTP status; 0 without a response.' },
  text('outcome', 'Outcome of a proxied call.'),
  text('error_type', 'Type of the error.'),
  text('error_message', 'Message of the error.'),
  text('source', 'Ingest path: proxy, otlp or api.'),
  text('contract_version', 'Version of the mapping that made the record.'),
  text('provider', 'Provider that answered.'),
  text('model_requested', 'Model requested.'),
  text('model', 'Model that answered.'),
  text('endpoint', 'Kind of call.'),
  { name: 'task_id', type: 'text', description: 'Task id.', indexed: true },
  text('task_name', 'Name of the task.'),
  {
    name: 'task_implicit',
    type: 'bool',
    description: 'The client named no task, so the trace is the task.',
  },
  { name: 'conversation_id', type: 'text', description: 'Conversation id, a UUID.', indexed: true },
  text('conversation_external_id', 'Conversation id given by the client.'),
  text('user_id', 'User id.'),
  text('environment', 'Environment.'),
  text('release', 'Release.'),
  text('service_name', 'Service that reported the record.'),
  {
    ...text('cluster_name', 'Kubernetes cluster that reported the record: `k8s.cluster.name`.'),
    from_content: true,
    derived: {
      clickhouse: "attributes['resource.k8s.cluster.name']",
      postgres: "coalesce(attributes ->> 'resource.k8s.cluster.name', '')",
    },
  },
  text('agent_name', 'Agent name.'),
  text('span_kind', 'OpenTelemetry span kind.'),
  text('level', 'Severity: debug, default, warning or error.'),
  { name: 'input', type: 'text', description: 'Input.', content: true },
  { name: 'output', type: 'text', description: 'Output.', content: true },
  text(
    'content_state',
    'State of input and output: full, truncated, none (none was sent), dropped or expired.',
  ),
  {
    name: 'tool_calls',
    type: 'json',
    description: 'Tool calls requested by the model.',
    content: true,
  },
  { name: 'tool_results', type: 'json', description: 'Results of tool calls.', content: true },
  { name: 'streamed', type: 'bool', description: 'The answer was streamed.' },
  text('finish_reason', 'Finish reason of the model.'),
  tokens('input_uncached_tokens', 'Input tokens not read from or written to a cache.'),
  tokens('cache_read_tokens', 'Input tokens read from a cache.'),
  tokens('cache_write_tokens', 'Input tokens written to a cache.'),
  tokens('output_visible_tokens', 'Output tokens without reasoning.'),
  tokens('reasoning_tokens', 'Reasoning tokens.'),
  { ...tokens('input_tokens', 'All input tokens.'), ...sumOf(buckets.input) },
  { ...tokens('output_tokens', 'All output tokens.'), ...sumOf(buckets.output) },
  { ...tokens('total_tokens', 'All tokens.'), ...sumOf([...buckets.input, ...buckets.output]) },
  text('usage_source', 'provider, estimated or none.'),
  text('usage_semantics', "Whether the provider's input count included cached tokens."),
  dollars('cost_usd', 'Cost in US dollars.'),
  text('price_version', 'Version of the prices used, or `reported`.'),
  {
    name: 'price_partial',
    type: 'json',
    description: 'Parts of the call that were priced without a rate of their own.',
  },
  text('response_id', "The provider's name of its answer."),
  text('counted_with', 'Id of the record that counts the same call instead of this one.'),
  dollars('cost_computed_usd', 'Cost by our prices in US dollars, beside a reported one.'),
  dollars('cost_reported_usd', 'Cost that the provider or client reported, in US dollars.'),
  {
    name: 'usage_details',
    type: 'json',
    description: 'Parts of the tokens with prices of their own, such as `input_audio`.',
    // ClickHouse writes counts of 64 bits as text.
    derived: {
      clickhouse: 'mapApply((name, tokens) -> (name, toFloat64(tokens)), usage_details)',
      postgres: 'usage_details',
    },
  },
  text('service_tier', 'Service tier of the call, such as standard, flex, priority or batch.'),
  {
    name: 'time_to_first_token_ms',
    type: 'float',
    description: 'Time to the first token, in milliseconds.',
    nullable: true,
  },
  { name: 'request_bytes', type: 'integer', description: 'Size of the request in bytes.' },
  { name: 'response_bytes', type: 'integer', description: 'Size of the response in bytes.' },
]

/** Timed operations: calls of models and tools, agents, plain spans. */
export const observations: Entity = {
  name: 'observations',
  description: 'Timed operations: calls of models and tools, agents, plain spans.',
  time: 'start_time',
  identity: ['start_time', 'trace_id', 'observation_id'],
  maps: ['attributes', 'metadata'],
  error_field: 'has_error',
  fields: fieldsOf(fields),
  stores: {
    clickhouse: { table: 'observations', versioned: true, restored: 'restored_observations' },
    postgres: { table: 'hot_observations', versioned: false, times_in_ns: true },
  },
}
