/**
 * A mapping contract: plain JSON, served and executed as it is. Sources are ordered; the first one
 * that is present and usable gives the field.
 */
export type MappingContract = {
  /** Stored on every row of the contract. */
  version: string
  direction: 'otlp_to_observability'
  /** Fields of the whole trace, read from any of its spans. */
  trace_level: MappingLevel<TraceFieldName>
  /** Fields of the span itself. */
  span_level: MappingLevel<SpanFieldName> & {
    /** Prefixes of keys that are labels of the client; the rest of a key is the label's name. */
    metadata_prefixes: readonly string[]
    /**
     * Prefixes of further keys with content, which are removed from the attributes, used or not.
     */
    content_prefixes: readonly string[]
    /** Resource attributes that are kept as `resource.<key>`; `*` at the end makes a prefix. */
    resource_attributes: readonly string[]
    /** Events of spans and log records with content; `*` matches any text. */
    genai_events: readonly string[]
  }
  /** Value tables that sources refer to. */
  tables: Readonly<Record<string, ValueTable>>
  limits: MappingLimits
  w3c_propagation: { traceparent: string; tracestate: string; baggage: string }
}

type MappingLevel<Name extends string> = { fields: Readonly<Record<Name, FieldRule>> }

/** How a field is found. */
export type FieldRule = {
  reads: ValueKind
  /** Maximum characters, by default `limits.text_chars_max`; a longer text is cut. */
  chars_max?: number
  sources: readonly Source[]
}

/**
 * The type of a field's value: `text`; `content` (bytes and JSON as they came); `count` (a whole
 * number from 0 up); `dollars` (decimal text); `milliseconds`; `tool_calls`; `tool_results`.
 */
export type ValueKind =
  | 'text'
  | 'content'
  | 'count'
  | 'dollars'
  | 'milliseconds'
  | 'tool_calls'
  | 'tool_results'

/** The location of a value, and the steps applied to it: path, then transform, then table. */
export type Source = SourcePlace & {
  /** Only in spans of a scope with one of these names; `*` matches any text. */
  in_scopes?: readonly string[]
  /** Not in spans of a scope with one of these names. */
  except_scopes?: readonly string[]
  /**
   * Only in spans of one of these types. The type is known only after all attributes are read, so
   * this and the next two work for sources from `attributes`, `indexed`, `span`, `event` and
   * `events`.
   */
  of_types?: readonly string[]
  /** Not in spans of one of these types. */
  except_types?: readonly string[]
  /** Only in spans with an event of this name. */
  with_event?: string
  /** Steps into the JSON of the value. */
  path?: readonly string[]
  transform?: TransformName
  /**
   * The table in which the text is looked up. A text without an entry is unusable, unless the table
   * has `else`.
   */
  table?: string
  /** The field's value when the source is present, regardless of the source's own value. */
  gives?: string
  /** Only when the value is one of these. */
  only?: readonly string[]
  /** A value that does not match is ignored and not recorded as unusable. */
  silent?: true
  /** Values that are ignored. */
  except?: readonly string[]
}

type SourcePlace =
  | { from: 'attribute'; key: string }
  /** Several attributes, combined by the transform; any of them makes the source present. */
  | { from: 'attributes'; keys: readonly string[] }
  /**
   * Attributes `<key>.N.<rest>`, gathered to a list, except those whose last part is in `without`.
   */
  | { from: 'indexed'; key: string; without?: readonly string[] }
  /** Any attribute with this prefix. */
  | { from: 'prefix'; key: string }
  | { from: 'resource'; key: string }
  | { from: 'scope'; key: 'name' }
  | { from: 'span'; key: 'name' | 'status' | 'status_message' }
  /** An attribute of a span event; with an empty key the event itself, whose value is its time. */
  | { from: 'event'; event: string; key: string }
  /** All events with a matching name, gathered to a list of messages. */
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

/** Texts and their meanings. Keys are compared in lower case; `*` in a key matches any text. */
export type ValueTable = {
  values: Readonly<Record<string, string>>
  /** The meaning of a text without an entry: itself, or its part before the first dot. */
  else?: 'as_is' | 'before_dot'
}

export type MappingLimits = {
  /** Maximum bytes of an attribute's value; a longer one is cut. */
  attribute_bytes_max: number
  attributes_max: number
  /** Maximum characters of a text field. */
  text_chars_max: number
  /** Maximum bytes of JSON that is searched for tool calls and single values. */
  json_bytes_max: number
  tool_calls_max: number
  /** Maximum bytes of a tool's arguments or result; longer ones are cut. */
  tool_bytes_max: number
  /** Upper bound of N in indexed keys, exclusive. */
  index_end: number
  /** Keys, and dot-separated parts of keys, that are refused. */
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
  'input_audio_tokens',
  'cache_read_audio_tokens',
  'output_audio_tokens',
  'input_image_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'details_semantics',
  'service_tier',
  'response_id',
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
export type FieldName = TraceFieldName | SpanFieldName
