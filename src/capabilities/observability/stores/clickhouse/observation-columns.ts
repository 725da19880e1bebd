import type { Observation } from '../../../../model/observation.ts'
import { compileRowBinary, type RowBinaryColumn } from '../../../../platform/columnar/index.ts'

const text = 'String'
const word = 'LowCardinality(String)'
const instant = "DateTime64(9, 'UTC')"
const count = 'UInt64'
const countOrNull = 'Nullable(UInt64)'

/** The columns of table `observations` that an insert gives, with their types in ClickHouse. */
export const observationColumnTypes = {
  project_id: 'UUID',
  trace_id: 'UUID',
  observation_id: text,
  parent_observation_id: text,
  type: word,
  name: text,
  start_time: instant,
  end_time: instant,
  status: word,
  status_code: 'UInt32',
  outcome: word,
  error_type: word,
  error_message: text,
  source: word,
  contract_version: word,
  provider: word,
  model_requested: word,
  model: word,
  endpoint: word,
  task_id: text,
  task_name: text,
  task_implicit: 'Bool',
  conversation_id: text,
  conversation_external_id: text,
  user_id: text,
  environment: word,
  release: word,
  input: text,
  output: text,
  content_state: word,
  tool_calls: 'Array(Tuple(id String, name String, arguments String))',
  tool_results: 'Array(Tuple(tool_call_id String, content String))',
  streamed: 'Bool',
  finish_reason: word,
  input_uncached_tokens: countOrNull,
  cache_read_tokens: countOrNull,
  cache_write_tokens: countOrNull,
  output_visible_tokens: countOrNull,
  reasoning_tokens: countOrNull,
  usage_source: word,
  usage_semantics: word,
  cost_usd: 'Nullable(Decimal(18, 9))',
  price_version: word,
  time_to_first_token_ms: 'Nullable(Float64)',
  request_bytes: count,
  response_bytes: count,
  attributes: 'Map(LowCardinality(String), String)',
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
