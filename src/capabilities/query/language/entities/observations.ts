import { type Entity, type Field, fieldsOf } from '../field.ts'

const buckets = {
  input: ['input_uncached_tokens', 'cache_read_tokens', 'cache_write_tokens'],
  output: ['output_visible_tokens', 'reasoning_tokens'],
}

/** The sum of columns; null when none of them is known: 0 would be a claim. */
function sumOf(columns: readonly string[]) {
  const sum = columns.map((column) => `coalesce(${column}, 0)`).join(' + ')
  const sql = `CASE WHEN coalesce(${columns.join(', ')}) IS NULL THEN NULL ELSE ${sum} END`
  return { derived: { clickhouse: sql, postgres: sql }, sum_of: columns }
}

const sameSql = (sql: string) => ({ clickhouse: sql, postgres: sql })

const text = (name: string, about: string): Field => ({ name, type: 'text', about })
const tokens = (name: string, about: string): Field => ({
  name,
  type: 'integer',
  about,
  nullable: true,
})

const fields: readonly Field[] = [
  { name: 'trace_id', type: 'uuid', about: 'The trace.', indexed: true },
  {
    ...text('observation_id', 'The observation, unique in its trace.'),
    required: true,
  },
  text('parent_observation_id', 'Its parent; unknown for a root.'),
  text('type', 'generation, tool, agent, chain, retriever, embedding, and so on.'),
  text('name', 'What the client calls it.'),
  { name: 'start_time', type: 'time', about: 'When it began.' },
  { name: 'end_time', type: 'time', about: 'When it ended.' },
  {
    name: 'duration_ms',
    type: 'float',
    about: 'From start to end, in milliseconds.',
    derived: {
      clickhouse: '(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time)) / 1000000',
      postgres: '(end_time - start_time)::float8 / 1000000',
    },
  },
  text('status', 'ok, error or cancelled.'),
  {
    name: 'has_error',
    type: 'bool',
    about: 'Its status is error.',
    derived: sameSql("status = 'error'"),
  },
  {
    name: 'is_call',
    type: 'bool',
    about: 'A call of a model: what sums of tokens and cost are to be made of.',
    derived: sameSql("type IN ('generation', 'embedding')"),
  },
  { name: 'status_code', type: 'integer', about: 'The status of HTTP; 0 when there was none.' },
  text('outcome', 'How a proxied call ended.'),
  text('error_type', 'The kind of error.'),
  text('error_message', 'What the error says.'),
  text('source', 'The path in: proxy, otlp or api.'),
  text('contract_version', 'The version of the mapping that made it.'),
  text('provider', 'Who answered.'),
  text('model_requested', 'The model that was asked for.'),
  text('model', 'The model that answered.'),
  text('endpoint', 'The kind of call.'),
  { name: 'task_id', type: 'text', about: 'Its task.', indexed: true },
  text('task_name', 'What the client calls the task.'),
  { name: 'task_implicit', type: 'bool', about: 'The trace stands for the task.' },
  { name: 'conversation_id', type: 'text', about: 'Its conversation, a UUID.', indexed: true },
  text('conversation_external_id', 'The conversation as the client calls it.'),
  text('user_id', 'The user that it was done for.'),
  text('environment', 'Where it ran.'),
  text('release', 'What ran.'),
  text('service_name', 'The service that reported it.'),
  text('agent_name', 'The agent.'),
  text('span_kind', 'The kind of the OpenTelemetry span.'),
  text('level', 'How much it matters: debug, default, warning or error.'),
  { name: 'input', type: 'text', about: 'What went in.', content: true },
  { name: 'output', type: 'text', about: 'What came out.', content: true },
  text('content_state', 'full, truncated, dropped or expired.'),
  { name: 'tool_calls', type: 'json', about: 'Tools that the model asked for.', content: true },
  { name: 'tool_results', type: 'json', about: 'What the tools said.', content: true },
  { name: 'streamed', type: 'bool', about: 'The answer came as a stream.' },
  text('finish_reason', 'Why the model stopped.'),
  tokens('input_uncached_tokens', 'Input tokens that no cache held.'),
  tokens('cache_read_tokens', 'Input tokens read from a cache.'),
  tokens('cache_write_tokens', 'Input tokens written to a cache.'),
  tokens('output_visible_tokens', 'Output tokens without reasoning.'),
  tokens('reasoning_tokens', 'Output tokens of reasoning.'),
  { ...tokens('input_tokens', 'All input tokens.'), ...sumOf(buckets.input) },
  { ...tokens('output_tokens', 'All output tokens.'), ...sumOf(buckets.output) },
  { ...tokens('total_tokens', 'All tokens.'), ...sumOf([...buckets.input, ...buckets.output]) },
  text('usage_source', 'provider, estimated or none.'),
  text('usage_semantics', "Whether the provider's input count had cached tokens in it."),
  { name: 'cost_usd', type: 'decimal', about: 'What it cost.', nullable: true },
  text('price_version', 'The prices it was told by.'),
  {
    name: 'time_to_first_token_ms',
    type: 'float',
    about: 'How long the first token took, in milliseconds.',
    nullable: true,
  },
  { name: 'request_bytes', type: 'integer', about: 'Size of the request.' },
  { name: 'response_bytes', type: 'integer', about: 'Size of the response.' },
]

/** Timed operations: calls of models and tools, agents, plain spans. */
export const observations: Entity = {
  name: 'observations',
  about: 'Timed operations: calls of models and tools, agents, plain spans.',
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
