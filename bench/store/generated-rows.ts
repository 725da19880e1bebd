/** Start and end of the generated month; it spans two calendar months. */
export const span = {
  from_ms: Date.UTC(2026, 8, 16),
  to_ms: Date.UTC(2026, 9, 16),
  days: 30,
} as const

/** Observations of each trace: an agent, three calls and two tools. */
export const traceRows = 6

/** Each project has its share by Zipf's law. */
export const projects = 20

/** The n-th largest project, from 0. */
export function projectOf(n: number): string {
  return `0198c0de-0000-7000-8000-${String(n + 1).padStart(12, '0')}`
}

/** The trace of a row, as ClickHouse generates it. */
const traceIdSql = (trace: string) => `reinterpretAsUUID(sipHash128(${trace}, 'trace'))`

/** The project of a trace, as SQL text. */
const projectSql = (trace: string) =>
  `[${zipf(projects, 1000).join(',')}][1 + cityHash64(${trace}, 'project') % 1000]`

const models = [
  ['openai', 'gpt-5-mini'],
  ['openai', 'gpt-5'],
  ['anthropic', 'claude-sonnet-5'],
  ['openai', 'gpt-5-nano'],
  ['anthropic', 'claude-haiku-5'],
  ['google', 'gemini-3-flash'],
  ['anthropic', 'claude-opus-5'],
  ['google', 'gemini-3-pro'],
  ['mistral', 'mistral-large-4'],
  ['deepseek', 'deepseek-v4'],
  ['openai', 'o5'],
  ['self-hosted', 'llama-5-70b'],
] as const

const errors = [
  ['rate_limit', 429, 'Rate limit reached for requests per minute; try again in 2.4 s.'],
  ['timeout', 504, 'The upstream did not answer within 60000 ms.'],
  ['server_error', 500, 'The server had an error while processing your request.'],
  ['context_length_exceeded', 400, 'This model has a context window of 128000 tokens.'],
  ['overloaded', 529, 'Overloaded.'],
] as const

const hash = (salt: string, of = 'number') => `cityHash64(${of}, '${salt}')`
const uniform = (salt: string) => `((${hash(salt)} % 1000000 + 0.5) / 1000000)`
const normal = (salt: string) =>
  `(sqrt(-2 * log(${uniform(`${salt} a`)})) * cos(6.283185307 * ${uniform(`${salt} b`)}))`
const texts = (list: readonly string[]) => `[${list.map((text) => `'${text}'`).join(', ')}]`
const cut = (salt: string, length: string) =>
  `substring(corpus, 1 + ${hash(salt)} % corpus_bytes, toUInt64(${length}))`
const onCalls = (sql: string, other = 'NULL') => `if(is_call, ${sql}, ${other})`

/** Common parts, then each column. Half of the rows are model calls of 3.5 KB each. */
const parts: Readonly<Record<string, string>> = {
  corpus: '(SELECT text FROM corpus)',
  corpus_bytes: 'length(corpus) - 20000',
  trace: `intDiv(number, ${traceRows})`,
  place: `number % ${traceRows}`,
  is_call: 'place % 2 = 1',
  project: projectSql('trace'),
  trace_ns: `{from_ns:Int64} + intDiv(trace * {step_ns:Int64}, 1) + ${hash('jitter', 'trace')} % {step_ns:Int64}`,
  start_ns: `trace_ns + place * 400000000 + ${hash('start')} % 400000000`,
  latency_ms: `exp(if(is_call, 6.6, if(place = 0, 8.2, 4)) + 0.8 * ${normal('latency')})`,
  model_at: `1 + ([${zipf(models.length, 100).join(',')}][1 + ${hash('model', 'trace')} % 100] + project) % ${models.length}`,
  failed: `${hash('failed')} % 100 < if(is_call, 3, 1)`,
  error_at: `1 + ${hash('error')} % 8 % ${errors.length}`,
  prompt_bytes: `250 + 1300 * exp(0.6 * ${normal('prompt')})`,
  answer_bytes: `100 + 450 * exp(0.7 * ${normal('answer')})`,
  cached: `${hash('cached')} % 10 < 4`,
  input_tokens: 'toUInt64(prompt_bytes / 4)',
  output_tokens: 'toUInt64(answer_bytes / 4)',
}

const columns: Readonly<Record<string, string>> = {
  project_id: `toUUID(concat('0198c0de-0000-7000-8000-', leftPad(toString(project + 1), 12, '0')))`,
  trace_id: traceIdSql('trace'),
  observation_id: `leftPad(lower(hex(${hash('observation')})), 16, '0')`,
  parent_observation_id: `if(place = 0, '', leftPad(lower(hex(${hash('observation', 'number - place')})), 16, '0'))`,
  type: `if(is_call, 'generation', if(place = 0, 'agent', 'tool'))`,
  name: `if(is_call, 'chat', concat(if(place = 0, 'agent_', 'tool_'), toString(${hash('name')} % 8)))`,
  start_time: "fromUnixTimestamp64Nano(start_ns, 'UTC')",
  end_time: "fromUnixTimestamp64Nano(start_ns + toInt64(latency_ms * 1000000), 'UTC')",
  status: `if(failed, 'error', if(${hash('cancelled')} % 200 = 0, 'cancelled', 'ok'))`,
  status_code: `if(is_call, if(failed, ${texts(errors.map(([, code]) => String(code)))}[error_at], '200'), '0')::UInt32`,
  outcome: `if(is_call, if(failed, 'error', 'completed'), '')`,
  error_type: `if(failed, ${texts(errors.map(([type]) => type))}[error_at], '')`,
  error_message: `if(failed, ${texts(errors.map(([, , text]) => text))}[error_at], '')`,
  source: `if(project % 3 = 0, 'proxy', 'otlp')`,
  contract_version: `if(project % 3 = 0, '', 'phase9-otlp-v1')`,
  provider: onCalls(`${texts(models.map(([provider]) => provider))}[model_at]`, `''`),
  model_requested: onCalls(`${texts(models.map(([, model]) => model))}[model_at]`, `''`),
  model: onCalls(`${texts(models.map(([, model]) => model))}[model_at]`, `''`),
  endpoint: onCalls(`'chat.completions'`, `''`),
  task_id: `concat('task-', lower(hex(${hash('task', 'intDiv(trace, 3)')})))`,
  task_name: `concat('task ', toString(${hash('task name', 'trace')} % 12))`,
  task_implicit: 'false',
  conversation_id: `if(trace % 5 < 3, toString(reinterpretAsUUID(sipHash128(intDiv(trace, 4), 'conversation'))), '')`,
  conversation_external_id: `''`,
  user_id: `concat('user-', toString(${hash('user', 'trace')} % 5000))`,
  environment: `if(${hash('environment', 'trace')} % 10 = 0, 'staging', 'production')`,
  release: `concat('v1.', toString(intDiv(start_ns, 259200000000000) % 100))`,
  service_name: `concat('service-', toString(project % 7))`,
  agent_name: `concat('agent-', toString(${hash('task name', 'trace')} % 12))`,
  span_kind: `if(is_call, 'CLIENT', 'INTERNAL')`,
  level: `if(failed, 'error', 'default')`,
  input: `multiIf(
    is_call, concat('[{"role":"system","content":"', substring(corpus, 1 + project * 1000, 500), '"},{"role":"user","content":"', ${cut('prompt', 'prompt_bytes')}, '"}]'),
    place = 0, ${cut('question', '200')},
    concat('{"query":"', ${cut('arguments', '60')}, '"}'))`,
  output: `multiIf(is_call, ${cut('answer', 'answer_bytes')}, place = 0, ${cut('answer', '300')}, ${cut('result', 'answer_bytes')})`,
  content_state: `'full'`,
  tool_calls: `if(is_call AND place < 5, [(concat('call_', lower(hex(${hash('call')}))), concat('tool_', toString(${hash('name', 'number + 1')} % 8)), concat('{"query":"', ${cut('arguments', '60')}, '"}'))], [])`,
  tool_results: `[]`,
  streamed: `is_call AND ${hash('streamed')} % 2 = 0`,
  finish_reason: onCalls(`if(failed, '', if(place < 5, 'tool_calls', 'stop'))`, `''`),
  input_uncached_tokens: onCalls('if(cached, intDiv(input_tokens, 4), input_tokens)'),
  cache_read_tokens: onCalls('if(cached, input_tokens - intDiv(input_tokens, 4), 0)'),
  cache_write_tokens: 'NULL',
  output_visible_tokens: onCalls('output_tokens'),
  reasoning_tokens: onCalls(`if(model_at % 2 = 0, ${hash('reasoning')} % 800, NULL)`),
  usage_source: onCalls(`'provider'`, `''`),
  usage_semantics: onCalls(`'input_includes_cached'`, `''`),
  cost_usd: onCalls(
    'if(model_at = 12, NULL, toDecimal64((input_tokens * 0.0000006 + output_tokens * 0.0000024) * model_at, 9))',
  ),
  price_version: onCalls(`'2026-09'`, `''`),
  time_to_first_token_ms: onCalls(`if(${hash('streamed')} % 2 = 0, latency_ms * 0.2, NULL)`),
  request_bytes: onCalls('toUInt64(prompt_bytes + 800)', '0'),
  response_bytes: onCalls('toUInt64(answer_bytes + 300)', '0'),
  attributes: `map('http.response.status_code', if(is_call, '200', ''), 'server.address', if(is_call, 'api.example.com', ''), 'k8s.pod.name', concat('agent-', toString(project), '-', lower(hex(${hash('pod', 'intDiv(trace, 4000)')}))), 'gen_ai.request.temperature', toString(${hash('temperature', 'trace')} % 11 / 10), 'thread.id', toString(${hash('thread')} % 64))`,
  metadata: `map('tenant', concat('tenant-', toString(${hash('tenant', 'trace')} % 50)))`,
  mapped_from: `''`,
  message_id: `concat({message:String}, toString(reinterpretAsUUID(sipHash128(intDiv(number, 60), 'message'))))`,
}

/**
 * Generates the rows `from` to `from + count` and inserts them into `observations`: parameters are
 * `from`, `count`, `from_ns`, `step_ns` (between traces) and `message`. Row n is always the same,
 * except for its message, so any row can be sent again.
 */
export function insertGenerated(condition = '1'): string {
  const given = Object.entries(parts).map(([name, sql]) => `${sql} AS ${name}`)
  return `INSERT INTO observations (${Object.keys(columns).join(', ')})
WITH ${given.join(',\n')}
SELECT ${Object.values(columns).join(',\n')}
FROM numbers({from:UInt64}, {count:UInt64}) WHERE ${condition}`
}

/** Distributes this many places to ranks, each with its share by Zipf's law. */
function zipf(ranks: number, places: number): number[] {
  const weights = Array.from({ length: ranks }, (_, rank) => 1 / (rank + 1))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  let reached = 0
  const ends = weights.map((weight) => {
    reached += weight
    return (reached / whole) * places
  })
  return Array.from({ length: places }, (_, place) => ends.findIndex((end) => place < end))
}
