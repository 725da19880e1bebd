import type { Observation } from '../../../../model/observation.ts'
import { compileRowBinary, type RowBinaryColumn } from '../../../../platform/columnar/index.ts'

const text = 'String'
const word = 'LowCardinality(String)'
const instant = "DateTime64(9, 'UTC')"
const count = 'UInt64'
const countOrNull = 'Nullable(UInt64)'

/**
 * The columns of table `observations` that an insert gives, with their types in ClickHouse. Those
 * that roll-ups are made of come first, so that a reader of encoded rows can stop after them.
 */
export const observationColumnTypes = {
  project_id: 'UUID',
  trace_id: 'UUID',
  observation_id: text,
  parent_observation_id: text,
  type: word,
  start_time: instant,
  end_time: instant,
  status: word,
  source: word,
  task_id: text,
  task_name: text,
  task_implicit: 'Bool',
  conversation_id: text,
  conversation_external_id: text,
  user_id: text,
  environment: word,
  release: word,
  provider: word,
  model_requested: word,
  model: word,
  input_uncached_tokens: countOrNull,
  cache_read_tokens: countOrNull,
  cache_write_tokens: countOrNull,
  output_visible_tokens: countOrNull,
  reasoning_tokens: countOrNull,
  usage_source: word,
  cost_usd: 'Nullable(Decimal(18, 9))',
  name: text,
  status_code: 'UInt32',
  outcome: word,
  error_type: word,
  error_message: text,
  contract_version: word,
  endpoint: word,
  service_name: word,
  agent_name: word,
  span_kind: word,
  level: word,
  content_state: word,
  streamed: 'Bool',
  finish_reason: word,
  usage_semantics: word,
  price_version: word,
  time_to_first_token_ms: 'Nullable(Float64)',
  request_bytes: count,
  response_bytes: count,
  mapped_from: word,
  input: text,
  output: text,
  tool_calls: 'Array(Tuple(id String, name String, arguments String))',
  tool_results: 'Array(Tuple(tool_call_id String, content String))',
  attributes: 'Map(LowCardinality(String), String)',
  metadata: 'Map(LowCardinality(String), String)',
  message_id: text,
} as const satisfies Record<keyof Observation, string>

export type ObservationColumn = keyof typeof observationColumnTypes

export const observationColumns: readonly ObservationColumn[] = Object.keys(
  observationColumnTypes,
) as ObservationColumn[]

/** Writes observations as RowBinary, columns in the order of `observationColumns`. */
export const encodeObservations = compileRowBinary(
  observationColumns.map(
    (name): RowBinaryColumn<Observation> => ({ name, type: observationColumnTypes[name] }),
  ),
)
