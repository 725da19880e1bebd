import { isStorableInstant } from '../../../../kernel/time.ts'
import type { ObservationDraft, Text } from '../../../../model/ingest-records.ts'
import {
  levels,
  type Observation,
  observationTypes,
  spanKinds,
  type ToolCall,
  type ToolResult,
} from '../../../../model/observation.ts'
import { isResponseId } from '../../../../model/response-id.ts'
import type { OtlpSpan } from '../contract.ts'
import type { FieldName } from './contracts/contract-shape.ts'
import {
  type Conversation,
  type GroupStart,
  type MapperTools,
  type RequestContext,
  readSpan,
  type SpanReading,
} from './read-span.ts'
import { addAttribute, reportLosses } from './row-attributes.ts'
import { contentIn, noteIn, notes, numberIn, type SpanState, textIn } from './span-state.ts'
import { costOfSpan, tierOfSpan, usageColumns, usageOfSpan } from './span-usage.ts'
import { columnText, cutText, decoded, name_chars_max, stringOf } from './value-text.ts'

type Fields = Readonly<Record<FieldName, number>>

/** A mapped span; the state still holds its fields. */
export type MappedSpan = { draft: ObservationDraft; reading: SpanReading }

/** Maps one span to an observation. */
export function mapSpan(
  tools: MapperTools,
  context: RequestContext,
  start: GroupStart,
  span: OtlpSpan,
): MappedSpan {
  const { state, compiled } = tools
  const isTimed = isStorableInstant(span.start_time)
  const start_time = isTimed ? span.start_time : fallbackStart(span, context)
  const isEnded = span.end_time >= start_time && isStorableInstant(span.end_time)
  state.start_time = start_time
  const reading = readSpan(tools, start, span)
  if (!isTimed) noteIn(state, notes.start_time)
  if (!isEnded) noteIn(state, notes.end_time)
  const times = { start_time, end_time: isEnded ? span.end_time : start_time }
  const draft = observationOf(tools, { context, span, times, reading, scope: start.scope })
  reportCounts(reading, span, compiled.contract.limits)
  reportLosses(reading)
  return { draft, reading }
}

/**
 * Returns a start for a span without one: its end, else its arrival. The start is part of the
 * observation's identity, so a span that is sent again should get the same one.
 */
function fallbackStart(span: OtlpSpan, context: RequestContext): bigint {
  return isStorableInstant(span.end_time) ? span.end_time : context.received_at
}

type ObservationParts = {
  context: RequestContext
  span: OtlpSpan
  times: { start_time: bigint; end_time: bigint }
  reading: SpanReading
  scope: string
}

function observationOf(tools: MapperTools, parts: ObservationParts): ObservationDraft {
  const { state, options } = tools
  const { span, times, reading } = parts
  const f: Fields = tools.compiled.field
  const { project_id } = parts.context.origin
  const input = boundedContent(state, f.input, notes.input_cut, options.content_bytes_max)
  const output = boundedContent(state, f.output, notes.output_cut, options.content_bytes_max)
  const read = usageOfSpan(tools, input, output)
  const isAnswered = read.usage !== undefined || output.length > 0
  const type = typeOf(tools, span, { reading, isAnswered })
  if (read.usage?.is_implied) noteIn(state, notes.usage_semantics)
  if (read.inconsistency !== '') {
    addAttribute(reading, 'mapping.usage', read.inconsistency, tools.compiled.contract.limits)
  }
  const conversation = conversationOfSpan(tools, project_id, parts)
  const task_id = textIn(state, f.task_id)
  return {
    project_id,
    trace_id: span.trace_id,
    observation_id: span.span_id,
    parent_observation_id: span.parent_span_id,
    type,
    name: columnText(nameOf(span), name_chars_max),
    start_time: times.start_time,
    end_time: times.end_time,
    status: oneOf(statusWords, textIn(state, f.status), 'ok'),
    status_code: statusCodeOf(state, f),
    outcome: '',
    error_type: textIn(state, f.error_type),
    error_message: textIn(state, f.error_message),
    source: 'otlp',
    contract_version: tools.compiled.contract.version,
    provider: textIn(state, f.provider),
    model_requested: textIn(state, f.model_requested),
    model: textIn(state, f.model),
    endpoint: textIn(state, f.endpoint),
    task_id: task_id === '' ? span.trace_id : task_id,
    task_name: textIn(state, f.task_name),
    task_implicit: task_id === '',
    conversation_id: conversation.conversation_id,
    conversation_external_id: conversation.external_id,
    user_id: textIn(state, f.user_id),
    environment: textIn(state, f.environment),
    release: textIn(state, f.release),
    service_name: textIn(state, f.service_name),
    agent_name: textIn(state, f.agent_name),
    span_kind: spanKinds[span.kind] ?? '',
    level: oneOf(levels, textIn(state, f.level), ''),
    input,
    output,
    content_state: contentState(tools, input, output),
    tool_calls: toolCallsOf(tools, type, input),
    tool_results: toolResultsOf(tools, type, output),
    streamed: textIn(state, f.streamed) === 'true',
    finish_reason: textIn(state, f.finish_reason),
    ...usageColumns(read),
    service_tier: tierOfSpan(tools),
    response_id: textIn(state, f.response_id),
    counted_with: '',
    ...costOfSpan(tools, { type, read, start_time: times.start_time, span }),
    time_to_first_token_ms: numberIn(state, f.time_to_first_token_ms) ?? null,
    request_bytes: 0,
    response_bytes: 0,
    attributes: reading.attributes,
    metadata: reading.metadata,
    mapped_from: tools.mappedFrom(state),
  }
}

/**
 * Returns the type. Logfire reports a streamed call twice: by a span that ends when the stream begins,
 * and by a log at its end, which has the answer and the usage. The log is the call.
 */
function typeOf(
  { state, compiled }: MapperTools,
  { attributes: { keys, values } }: OtlpSpan,
  { reading, isAnswered }: { reading: SpanReading; isAnswered: boolean },
): Observation['type'] {
  const type = oneOf(observationTypes, textIn(state, compiled.field.type), 'span')
  if (type !== 'generation' || isAnswered) return type
  const at = keys.indexOf('logfire.span_type')
  if (at === -1 || stringOf(values[at]) !== 'span') return type
  if (textIn(state, compiled.field.status) === 'error') return type
  addAttribute(reading, 'mapping.type', 'a log of its stream is the call', compiled.contract.limits)
  return 'span'
}

const renderedName = 'logfire.msg'

/** Returns the name; Logfire names spans by a template, and sends the rendered text beside it. */
function nameOf({ name, attributes: { keys, values } }: OtlpSpan): string {
  if (!name.includes('{')) return name
  const at = keys.indexOf(renderedName)
  const rendered = at === -1 ? '' : stringOf(values[at])
  return rendered === '' ? name : rendered
}

const statusWords = ['ok', 'error', 'cancelled'] as const

function oneOf<Word extends string>(words: readonly Word[], text: string, other: Word): Word {
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === text) return word
  }
  return other
}

function statusCodeOf(state: SpanState, f: Fields): number {
  const code = numberIn(state, f.status_code) ?? 0
  return code <= 65_535 ? code : 0
}

function boundedContent(state: SpanState, field: number, note: number, bytes_max: number): Text {
  const content = contentIn(state, field)
  const kept = cutText(content, bytes_max)
  if (kept !== content) noteIn(state, note)
  return kept
}

function contentState(
  { state }: MapperTools,
  input: Text,
  output: Text,
): Observation['content_state'] {
  const noted = state.words[state.words.length - 1] ?? 0
  if ((noted & (notes.input_cut | notes.output_cut)) !== 0) return 'truncated'
  return input.length + output.length === 0 ? 'none' : 'full'
}

const none: readonly never[] = []

/**
 * Returns the calls that a model requested. A tool's own span has exactly the one call that it
 * names.
 */
function toolCallsOf(
  { state, compiled }: MapperTools,
  type: Observation['type'],
  input: Text,
): ToolCall[] {
  const f = compiled.field
  const id = textIn(state, f.tool_call_id)
  const name = textIn(state, f.tool_name)
  if (type === 'tool' && (id !== '' || name !== '')) {
    return [{ id, name, arguments: shortContent(compiled.contract.limits.tool_bytes_max, input) }]
  }
  const found = state.values[f.tool_calls]
  return (Array.isArray(found) ? found : none) as ToolCall[]
}

function toolResultsOf(
  { state, compiled }: MapperTools,
  type: Observation['type'],
  output: Text,
): ToolResult[] {
  const f = compiled.field
  if (type === 'tool' && output.length > 0) {
    const tool_call_id = textIn(state, f.tool_call_id)
    const { tool_bytes_max } = compiled.contract.limits
    return [{ tool_call_id, content: shortContent(tool_bytes_max, output) }]
  }
  const found = state.values[f.tool_results]
  return (Array.isArray(found) ? found : none) as ToolResult[]
}

function shortContent(bytes_max: number, content: Text): string {
  return decoded(cutText(content, bytes_max))
}

function reportCounts(
  reading: SpanReading,
  span: OtlpSpan,
  limits: Parameters<typeof addAttribute>[3],
): void {
  if (span.dropped_attributes_count > 0) {
    addAttribute(reading, 'otel.dropped_attributes_count', span.dropped_attributes_count, limits)
  }
  if (span.dropped_events_count > 0) {
    addAttribute(reading, 'otel.dropped_events_count', span.dropped_events_count, limits)
  }
  if (span.dropped_links_count > 0) {
    addAttribute(reading, 'otel.dropped_links_count', span.dropped_links_count, limits)
  }
}

/** A span, the name of its scope and its attributes so far. */
type SpanParts = { span: OtlpSpan; scope: string; reading: SpanReading }

/**
 * Returns the conversation of a span. Clients of the Responses API report the response that a call follows
 * as its conversation; that id is kept as an attribute, and names no conversation.
 */
function conversationOfSpan(
  tools: MapperTools,
  project_id: string,
  parts: SpanParts,
): Conversation {
  const { compiled, state } = tools
  const given = textIn(state, compiled.field.conversation_id)
  const response_id = textIn(state, compiled.field.response_id)
  if (!isFollowedResponse(given, response_id, parts)) return tools.conversationOf(project_id, given)
  addAttribute(parts.reading, 'request.previous_response_id', given, compiled.contract.limits)
  return tools.conversationOf(project_id, '')
}

/** Agent Framework also reports it of calls that failed, which have no response. */
const agentFramework = 'agent_framework'
const reportedKey = 'gen_ai.conversation.id'

function isFollowedResponse(
  given: string,
  response_id: string,
  { span: { attributes }, scope }: SpanParts,
): boolean {
  if (!isResponseId(given)) return false
  if (stringOf(attributes.values[attributes.keys.indexOf(reportedKey)]) !== given) return false
  return scope === agentFramework || isResponseId(response_id)
}
