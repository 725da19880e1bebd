import { isStorableInstant } from '../../../../kernel/time.ts'
import type {
  OtlpAttributes,
  OtlpDataPoint,
  OtlpGroup,
  OtlpLogRecord,
  OtlpResource,
  OtlpSpan,
  OtlpValue,
} from '../contract.ts'
import { emptyEvent, emptyLogRecord, emptySpan } from '../decode/items.ts'
import { isMap, stringOf } from '../mapping/value-text.ts'
import { contentKeys, type LoggedCall, loggedCalls } from './agent-calls.ts'
import { agentEventName, agentOf, type CodingAgent, loggedAgentOf } from './coding-agents.ts'
import { type LogReading, readLog, sessionIn } from './log-reading.ts'
import { itemId, sessionTraceId } from './session-ids.ts'

/** The kind of record that a log record becomes. */
export type PlacedLog =
  /** An event of a trace, under this name. `content_keys` replace those of GenAI events. */
  | { kind: 'event'; name: string; record: OtlpLogRecord; content_keys?: ReadonlySet<string> }
  /** An observation, by the same mapping as that of spans. */
  | { kind: 'span'; span: OtlpSpan }
  | { kind: 'refused'; reason: 'not_a_genai_event' | 'no_trace_id' }

export type LogOrigin = {
  project_id: string
  received_at: bigint
  isGenAiEvent(name: string): boolean
}

type Around = Pick<OtlpGroup<unknown>, 'resource' | 'scope'>

/**
 * Decides what a log record becomes. A record with a trace id is an event of that trace, because its
 * program exports spans, which hold the call, except those of agents whose spans do not. Other
 * records belong to a trace of their session: one for each prompt, if they name the prompt. It
 * depends on this record alone, so records may come in any order, in any request, and more than
 * once.
 */
export function placeLog(record: OtlpLogRecord, around: Around, origin: LogOrigin): PlacedLog {
  const name = agentEventName(namesOf(record), around.scope.name)
  const agent = agentOf(name)
  if (agent !== undefined) return placeAgentLog(record, { name, agent, around, origin })
  const event_name = nameOf(record)
  if (!origin.isGenAiEvent(event_name)) return { kind: 'refused', reason: 'not_a_genai_event' }
  if (record.trace_id !== '') return { kind: 'event', name: event_name, record }
  const log = readLog(record, around.resource)
  if (log.session === '') return { kind: 'refused', reason: 'no_trace_id' }
  const logged = loggedAgentOf(around.scope.name)
  if (logged === undefined) return { kind: 'span', span: genAiSpan(log, event_name, origin) }
  const trace_id = traceOf(log, logged, origin)
  return { kind: 'event', name: event_name, record: { ...record, trace_id } }
}

function traceOf({ session, prompt }: LogReading, { prefix }: CodingAgent, origin: LogOrigin) {
  return sessionTraceId({ project_id: origin.project_id, client: prefix, session, prompt })
}

function agentEvent(record: OtlpLogRecord, name: string): PlacedLog {
  return { kind: 'event', name, record, content_keys: contentKeys }
}

/** Returns the name of a log record in any version of the protocol. */
function nameOf(record: OtlpLogRecord): string {
  return namesOf(record)[0] ?? ''
}

/** Lists where a name may be, without empty ones. A body is a name in releases of Claude Code. */
function namesOf({ event_name, attributes, body }: OtlpLogRecord): string[] {
  const at = attributes.keys.indexOf('event.name')
  const attribute = at === -1 ? '' : stringOf(attributes.values[at])
  const text = typeof body === 'string' && agentOf(body) !== undefined ? body : ''
  return [event_name, attribute, text].filter((name) => name !== '')
}

type AgentLog = { name: string; agent: CodingAgent; around: Around; origin: LogOrigin }

function placeAgentLog(
  record: OtlpLogRecord,
  { name, agent, around, origin }: AgentLog,
): PlacedLog {
  if (record.trace_id !== '' && !agent.logs_hold_calls) return agentEvent(record, name)
  const log = readLog(record, around.resource)
  if (log.session === '') return { kind: 'refused', reason: 'no_trace_id' }
  const trace_id = traceOf(log, agent, origin)
  const call = loggedCalls[name]?.(log)
  if (call === undefined) return agentEvent({ ...record, trace_id, span_id: '' }, name)
  return { kind: 'span', span: callSpan(log, call, { name, agent, trace_id, origin }) }
}

type SpanPlace = Pick<AgentLog, 'name' | 'agent' | 'origin'> & { trace_id: string }

/** Makes the span of a call. The log record is written at the end of the call. */
function callSpan(log: LogReading, call: LoggedCall, place: SpanPlace): OtlpSpan {
  const { name, agent, trace_id, origin } = place
  const { record } = log
  const span = emptySpan()
  const end = log.time === 0n ? origin.received_at : log.time
  const took = BigInt(Math.round(call.duration_ms)) * 1_000_000n
  span.trace_id = trace_id
  span.span_id = itemId([trace_id, name, `${log.time}`], record.attributes)
  span.name = call.name
  span.end_time = end
  span.start_time = took < end ? end - took : end
  span.dropped_attributes_count = record.dropped_attributes_count
  const given = call.attributes
  if ('gen_ai.operation.name' in given) given['gen_ai.provider.name'] = agent.provider
  given['gen_ai.conversation.id'] = log.session
  given['gen_ai.agent.name'] = agent.name
  given['looptrace.task.name'] = agent.name
  if (call.error !== undefined) {
    span.status_code = 2
    span.status_message = call.error
  }
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && value !== '') add(span.attributes, key, value)
  }
  addRest(span.attributes, record.attributes, (key) => contentKeys.has(key) || key in given)
  return span
}

/** Makes the span of a GenAI event that names no trace. Per-call events hold attributes of spans. */
function genAiSpan(
  log: LogReading,
  name: string,
  { project_id, received_at }: LogOrigin,
): OtlpSpan {
  const { record, session, prompt } = log
  const span = emptySpan()
  span.trace_id = sessionTraceId({ project_id, client: 'gen_ai', session, prompt })
  const body = stringOf(record.body)
  span.span_id = itemId([span.trace_id, name, `${log.time}`, body], record.attributes)
  span.name = name
  span.start_time = log.time === 0n ? received_at : log.time
  span.end_time = span.start_time
  span.dropped_attributes_count = record.dropped_attributes_count
  const attributes = withBody(record)
  if (name === operationDetails) span.attributes = attributes
  else {
    addRest(span.attributes, record.attributes, (key) => key.includes('content'))
    span.events.push({ ...emptyEvent(), name, time: span.start_time, attributes })
  }
  add(span.attributes, 'gen_ai.conversation.id', session)
  return span
}

/** The event of a whole call: its attributes are those of the call's span. */
const operationDetails = 'gen_ai.client.inference.operation.details'

/** Returns the attributes of a record with those of a body that is a map, or with its text. */
function withBody({ attributes, body }: OtlpLogRecord): OtlpAttributes {
  const all: OtlpAttributes = { keys: [...attributes.keys], values: [...attributes.values] }
  if (isMap(body)) addRest(all, body.map, (key) => attributes.keys.includes(key))
  else if (body !== null && body !== '') add(all, 'content', body)
  return all
}

function add({ keys, values }: OtlpAttributes, key: string, value: OtlpValue): void {
  keys.push(key)
  values.push(value)
}

function addRest(
  into: OtlpAttributes,
  { keys, values }: OtlpAttributes,
  isLeftOut: (key: string) => boolean,
): void {
  for (const [at, key] of keys.entries()) {
    if (!isLeftOut(key)) add(into, key, values[at] ?? null)
  }
}

/** The project and the time of a request, in nanoseconds since 1970. */
type PointOrigin = { project_id: string; received_at: bigint }

const temporalities = ['', 'delta', 'cumulative']

/**
 * Returns a data point of a coding agent as a log record with the name of its metric, in the trace
 * of its session, or without a session in that of its day; undefined for the metrics of other
 * programs. The value stays a signal of its own: costs and tokens of calls are counted from spans
 * and log records.
 */
export function recordOfPoint(
  point: OtlpDataPoint,
  resource: OtlpResource,
  { project_id, received_at }: PointOrigin,
): OtlpLogRecord | undefined {
  const { metric, value, count, attributes } = point
  const agent = agentOf(metric.name)
  if (agent === undefined) return undefined
  const record = emptyLogRecord()
  record.event_name = metric.name
  record.time = isStorableInstant(point.time) ? point.time : point.start_time
  const session = sessionIn(attributes, resource)
  const day = isStorableInstant(record.time) ? record.time : received_at
  const place = session === '' ? { session, prompt: dayOf(day) } : { session, prompt: '' }
  record.trace_id = sessionTraceId({ project_id, client: agent.prefix, ...place })
  const facts = {
    'metric.value': value,
    'metric.count': count,
    'metric.unit': metric.unit,
    'metric.temporality': temporalities[metric.temporality] ?? '',
    'metric.start_time_ns': point.start_time === 0n ? '' : `${point.start_time}`,
  }
  const { keys, values } = record.attributes
  for (const [key, fact] of Object.entries(facts)) {
    if (fact === null || fact === '') continue
    keys.push(key)
    values.push(fact)
  }
  keys.push(...attributes.keys)
  values.push(...attributes.values)
  return record
}

/** Names the day (UTC) of points without a session, so that their trace ends. */
function dayOf(time: bigint): string {
  return `metrics of ${new Date(Number(time / 1_000_000n)).toISOString().slice(0, 10)}`
}
