/**
 * A mapping contract: plain JSON, served as it is and executed as it is. Lists of sources are
 * ordered; the first source that is present and usable gives the field.
 */
export type MappingContract<SpanField extends SpanFieldName = SpanFieldName> = {
  /** Stored on every row that it made. */
  version: string
  direction: 'otlp_to_observability'
  /** What a span says of its whole trace. */
  trace_level: MappingLevel<TraceFieldName>
  /** What a span says of itself. */
  span_level: MappingLevel<SpanField> & {
    /** Attributes whose keys begin so are labels of the client's own; the rest of a key names one. */
    metadata_prefixes: readonly string[]
    /** Further attributes that hold what was said and so leave the attributes, used or not. */
    content_prefixes: readonly string[]
    /** Attributes of the resource that stay, as `resource.<key>`; those that end so are prefixes. */
    resource_attributes: readonly string[]
    /** Events of spans and log records that carry what was said; `*` stands for any text. */
    genai_events: readonly string[]
  }
  /** Value tables that sources name. */
  tables: Readonly<Record<string, ValueTable>>
  limits: MappingLimits
  w3c_propagation: { traceparent: string; tracestate: string; baggage: string }
}

/** A contract of any version: earlier ones lack the fields that were added later. */
export type AnyMappingContract = MappingContract<FirstSpanFieldName> | MappingContract

type MappingLevel<Name extends string> = { fields: Readonly<Record<Name, FieldRule>> }

/** How one field is found. */
export type FieldRule = {
  reads: ValueKind
  /** A longer text is cut; left out, `limits.text_chars_max`. */
  chars_max?: number
  sources: readonly Source[]
}

/**
 * What a field's value is: `text`; `content` (bytes and JSON as they came); `count` (a whole number
 * from 0 up); `dollars` (decimal text); `milliseconds`; `tool_calls`; `tool_results`.
 */
export type ValueKind =
  | 'text'
  | 'content'
  | 'count'
  | 'dollars'
  | 'milliseconds'
  | 'tool_calls'
  | 'tool_results'

/** Where a value comes from, and what is done with it, in this order: path, transform, table. */
export type Source = SourcePlace & {
  /** Only in spans of a scope with one of these names; `*` stands for any text. */
  in_scopes?: readonly string[]
  /** Not in spans of a scope with one of these names. */
  except_scopes?: readonly string[]
  /**
   * Only in spans of one of these types. The type is known once all attributes are read, so that this
   * and the next two are for sources from `attributes`, `indexed`, `span`, `event` and `events`.
   */
  of_types?: readonly string[]
  /** Not in spans of one of these types. */
  except_types?: readonly string[]
  /** Only in spans that have an event of this name. */
  with_event?: string
  /** Steps into JSON that the value is. */
  path?: readonly string[]
  transform?: TransformName
  /** The value table to look the text up in; a text without entry is not usable, unless `else`. */
  table?: string
  /** The value, where only the presence counts. */
  gives?: string
  /** Only when the value is one of these. */
  only?: readonly string[]
  /** A value that does not fit says nothing here, and is no fault. */
  silent?: true
  /** Texts that say nothing. */
  except?: readonly string[]
}

type SourcePlace =
  | { from: 'attribute'; key: string }
  /** Several attributes put together as the transform says; any of them makes it present. */
  | { from: 'attributes'; keys: readonly string[] }
  /** Attributes `<key>.N.<rest>`, gathered to a list; those whose last part is in `without` not. */
  | { from: 'indexed'; key: string; without?: readonly string[] }
  /** Any attribute whose key begins so. */
  | { from: 'prefix'; key: string }
  | { from: 'resource'; key: string }
  | { from: 'scope'; key: 'name' }
  | { from: 'span'; key: 'name' | 'status' | 'status_message' }
  /** An attribute of a span event; an empty key is the event itself, its value the time. */
  | { from: 'event'; event: string; key: string }
  /** All events whose names fit, gathered to a list of messages. */
  | { from: 'events'; event: string }
  /** Present when all these fields are. */
  | { from: 'fields'; present: readonly FieldName[] }
  | { from: 'request'; key: 'environment' | 'release' | 'trace_id' }
  | { from: 'constant' }

export const transformNames = [
  'seconds_to_ms',
  'ms_since_start',
  'first_of_list',
  'json_string',
  'sum_of_values',
  'system_then_messages',
  'messages',
  'tool_calls',
  'tool_results',
  'call_arguments',
  'call_result',
  'call_id',
] as const
export type TransformName = (typeof transformNames)[number]

/** Texts and what they mean. Keys are compared in lower case; `*` in a key stands for any text. */
export type ValueTable = {
  values: Readonly<Record<string, string>>
  /** What a text without entry means: itself, or its part before the first dot. */
  else?: 'as_is' | 'before_dot'
}

export type MappingLimits = {
  /** A longer value of an attribute is cut. */
  attribute_bytes_max: number
  attributes_max: number
  /** Of a field that reads text. */
  text_chars_max: number
  /** Longer JSON is not looked into for tool calls and single values. */
  json_bytes_max: number
  tool_calls_max: number
  /** A longer argument or result of a tool is cut. */
  tool_bytes_max: number
  /** N of indexed keys stays below. */
  index_end: number
  /** Keys, and parts of keys between dots, that are refused. */
  forbidden_keys: readonly string[]
  /**
   * Last parts of keys, in lower case, whose values are credentials; instrumentations copy request
   * headers into attributes.
   */
  credential_keys: readonly string[]
}

export const traceFieldNames = [
  'task_id',
  'task_name',
  'conversation_id',
  'user_id',
  'environment',
  'release',
  'trace_name',
  'trace_input',
  'trace_output',
] as const
export type TraceFieldName = (typeof traceFieldNames)[number]

export const spanFieldNames = [
  'type',
  'model',
  'model_requested',
  'provider',
  'endpoint',
  'input',
  'output',
  'tool_name',
  'tool_call_id',
  'tool_calls',
  'tool_results',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'total_tokens',
  'usage_semantics',
  'output_semantics',
  'cost_usd',
  'finish_reason',
  'streamed',
  'time_to_first_token_ms',
  'status',
  'status_code',
  'error_type',
  'error_message',
  'level',
  'agent_name',
  'service_name',
] as const
export type SpanFieldName = (typeof spanFieldNames)[number]
/** The fields of the first contract. */
export type FirstSpanFieldName = Exclude<SpanFieldName, 'total_tokens' | 'output_semantics'>
export type FieldName = TraceFieldName | SpanFieldName
