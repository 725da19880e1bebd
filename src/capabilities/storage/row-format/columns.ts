import type {
  CorrelationDraft,
  EventDraft,
  LinkDraft,
  TraceDraft,
} from '../../../model/ingest-records.ts'
import type { Observation } from '../../../model/observation.ts'

/**
 * The version of these columns in row frames. To change columns: raise the number, and teach
 * `upgradeFrame` to add the new columns to rows of the version before, as long as a queue, spool or
 * dead letter may hold such rows. A new column needs a default in the store for its old rows.
 */
export const rowFormat = 2

const text = 'String'

const word = 'LowCardinality(String)'

const instant = "DateTime64(9, 'UTC')"

const count = 'UInt64'

const countOrNull = 'Nullable(UInt64)'

const dollars = 'Nullable(Decimal(18, 9))'

const pairs = 'Map(LowCardinality(String), String)'

/**
 * The inserted columns of table `observations`, with their ClickHouse types. The columns of
 * roll-ups come first, so that a reader of encoded rows can stop after them.
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
  cost_usd: dollars,
  price_partial: 'Array(LowCardinality(String))',
  response_id: text,
  counted_with: text,
  usage_details: 'Map(LowCardinality(String), UInt64)',
  service_tier: word,
  cost_computed_usd: dollars,
  cost_reported_usd: dollars,
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
  attributes: pairs,
  metadata: pairs,
  message_id: text,
} as const satisfies Record<keyof Observation, string>

/** The columns of roll-ups: those up to `counted_with`. */
export const observationHeadNames = (
  Object.keys(observationColumnTypes) as (keyof typeof observationColumnTypes)[]
).slice(0, Object.keys(observationColumnTypes).indexOf('counted_with') + 1)

/** The inserted columns of table `traces`. */
export const traceColumnTypes = {
  project_id: 'UUID',
  trace_id: 'UUID',
  time: instant,
  name: text,
  source: word,
  task_id: text,
  task_name: text,
  conversation_id: text,
  conversation_external_id: text,
  user_id: text,
  environment: word,
  release: word,
  input: text,
  output: text,
  metadata: pairs,
  message_id: text,
} as const satisfies Record<keyof TraceDraft | 'message_id', string>

/** The inserted columns of table `events`. */
const eventColumnTypes = {
  project_id: 'UUID',
  trace_id: 'UUID',
  observation_id: text,
  event_id: text,
  time: instant,
  name: word,
  level: word,
  source: word,
  body: text,
  attributes: pairs,
  message_id: text,
} as const satisfies Record<keyof EventDraft | 'message_id', string>

/** The inserted columns of table `links`. */
const linkColumnTypes = {
  project_id: 'UUID',
  trace_id: 'UUID',
  observation_id: text,
  link_id: text,
  time: instant,
  linked_trace_id: 'UUID',
  linked_observation_id: text,
  source: word,
  attributes: pairs,
  message_id: text,
} as const satisfies Record<keyof LinkDraft | 'message_id', string>

/** The inserted columns of table `correlations`. */
const correlationColumnTypes = {
  project_id: 'UUID',
  trace_id: 'UUID',
  observation_id: text,
  correlation_type: word,
  correlation_value: text,
  time: instant,
  source: word,
  metadata: pairs,
  message_id: text,
} as const satisfies Record<keyof CorrelationDraft | 'message_id', string>

/** The columns of each kind of `IngestRecords`, in order. */
export const columnTypesByKind = {
  traces: traceColumnTypes,
  observations: observationColumnTypes,
  events: eventColumnTypes,
  links: linkColumnTypes,
  correlations: correlationColumnTypes,
} as const
