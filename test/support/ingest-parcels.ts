import { randomBytes } from 'node:crypto'
import { traceIdFrom } from '../../src/kernel/ids.ts'
import {
  otlpJson,
  type PlainAttribute,
  type PlainSpan,
  type PlainTraces,
  tracesProtobuf,
} from './otlp-messages.ts'

/**
 * The transport of a parcel: OTLP over HTTP as protobuf or JSON, OTLP over gRPC, a canonical batch.
 */
export type ParcelWay = 'protobuf' | 'json' | 'grpc' | 'api'

/** Keys of records as in their tables. */
export type ParcelRecords = Record<'observations' | 'events' | 'links' | 'traces', string[]>

/** One request and its expected records. It is sent until it is accepted. */
export type Parcel = {
  way: ParcelWay
  /** Prefix of the name of each of its records. */
  marker: string
  body: Buffer
  records: ParcelRecords
  /** Its items as the ledger counts them, and the number of invalid records. */
  items: number
  bad: number
}

export type ParcelOptions = {
  way: ParcelWay
  /** Prefix of the marker and the task, which identifies the run. */
  run: string
  client: number
  number: number
  /** Whether nothing in it is valid. */
  all_bad?: boolean
  /** Bytes added to the content of the first record. */
  padding_bytes?: number
}

const parcelsOfTask = 8
/** One in this many parcels contains an invalid record. */
const badEvery = 4
const ns_per_ms = 1_000_000n

/** The key of an observation or a trace. */
export function recordKey(trace_id: string, id = ''): string {
  return `${trace_id} ${id}`
}

/**
 * Creates a request with two valid observations, an event and a link; sometimes with an invalid
 * record.
 */
export function parcelOf(options: ParcelOptions): Parcel {
  const { way, run, client, number, all_bad = false } = options
  const plan: Plan = {
    ...options,
    marker: `${run}-${way}-${client}/${number}`,
    task_id: `${run}-${way}-${client}-${Math.floor(number / parcelsOfTask)}`,
    conversation: `${run}-parcels-${client % 3}`,
    trace_hex: randomBytes(16).toString('hex'),
    linked_hex: randomBytes(16).toString('hex'),
    observation_ids: [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')],
    good: !all_bad,
    bad: all_bad ? 2 : number % badEvery === badEvery - 1 ? 1 : 0,
    start_ns: BigInt(Date.now()) * ns_per_ms,
  }
  return way === 'api' ? batchOf(plan) : exportOf(plan)
}

type Plan = ParcelOptions & {
  marker: string
  task_id: string
  conversation: string
  trace_hex: string
  linked_hex: string
  observation_ids: [string, string]
  good: boolean
  bad: number
  start_ns: bigint
}

function recordsOf({ good, trace_hex, linked_hex, observation_ids }: Plan): ParcelRecords {
  if (!good) return { observations: [], events: [], links: [], traces: [] }
  const trace_id = traceIdFrom(trace_hex) ?? ''
  const [first] = observation_ids
  return {
    observations: observation_ids.map((id) => recordKey(trace_id, id)),
    events: [recordKey(trace_id, first)],
    links: [recordKey(trace_id, traceIdFrom(linked_hex))],
    traces: [],
  }
}

function exportOf(plan: Plan): Parcel {
  const { way, run, marker, good, bad } = plan
  const spans = good ? goodSpans(plan) : []
  for (let at = 0; at < bad; at += 1) spans.push(badSpan(plan, at))
  const resource = { attributes: textAttributes({ 'service.name': run }) }
  const request: PlainTraces = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }
  return {
    ...{ way, marker, bad, items: spans.length, records: recordsOf(plan) },
    body: way === 'json' ? otlpJson(request) : tracesProtobuf(request),
  }
}

function goodSpans(plan: Plan): PlainSpan[] {
  const { marker, run, linked_hex, padding_bytes = 0 } = plan
  const [first, second] = plan.observation_ids
  const mine = textAttributes({ run })
  const chat = spanOf(plan, first, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4.1-mini',
    'gen_ai.response.model': 'gpt-4.1-mini-2025-04-14',
    'gen_ai.input.messages': messages('user', marker + paddingOf(padding_bytes)),
    'gen_ai.output.messages': messages('assistant', marker),
  })
  chat.attributes?.push(count('gen_ai.usage.input_tokens', 120))
  chat.attributes?.push(count('gen_ai.usage.output_tokens', 30))
  chat.events = [{ timeUnixNano: chat.startTimeUnixNano, name: 'said', attributes: mine }]
  chat.links = [{ traceId: linked_hex, spanId: second, attributes: mine }]
  const tool = spanOf(plan, second, { 'gen_ai.operation.name': 'execute_tool' })
  return [chat, { ...tool, parentSpanId: first }]
}

/** A trace id of zeros is invalid. */
function badSpan(plan: Plan, at: number): PlainSpan {
  return { ...spanOf(plan, `${'0'.repeat(15)}${at + 1}`, {}), traceId: '0'.repeat(32) }
}

function spanOf(plan: Plan, spanId: string, attributes: Record<string, string>): PlainSpan {
  const { marker, trace_hex, start_ns, task_id, conversation } = plan
  return {
    traceId: trace_hex,
    spanId,
    name: marker,
    kind: 3,
    startTimeUnixNano: String(start_ns),
    endTimeUnixNano: String(start_ns + 5n * ns_per_ms),
    attributes: textAttributes({
      ...attributes,
      'looptrace.task.id': task_id,
      'gen_ai.conversation.id': conversation,
    }),
  }
}

/** Incompressible text. */
function paddingOf(bytes: number): string {
  return randomBytes(Math.ceil((bytes * 3) / 4)).toString('base64')
}

function messages(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
}

function textAttributes(attributes: Record<string, string>): PlainAttribute[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }))
}

function count(key: string, value: number): PlainAttribute {
  return { key, value: { intValue: String(value) } }
}

function batchOf(plan: Plan): Parcel {
  const { way, run, marker, good, bad, trace_hex, linked_hex } = plan
  const [first] = plan.observation_ids
  const trace_id = traceIdFrom(trace_hex) ?? ''
  const time = new Date(Number(plan.start_ns / ns_per_ms)).toISOString()
  const beside = { trace_id: trace_hex, observation_id: first, time, attributes: { run } }
  const broken = { trace_id: trace_hex, observation_id: 'no start' }
  const lists = {
    observations: [...(good ? goodObservations(plan, time) : []), ...Array(bad).fill(broken)],
    events: good ? [{ ...beside, name: 'said' }] : [],
    links: good ? [{ ...beside, linked_trace_id: linked_hex }] : [],
    traces: good ? [{ trace_id: trace_hex, time, name: marker, metadata: { run } }] : [],
  }
  const items = Object.values(lists).reduce((sum, list) => sum + list.length, 0)
  const records = recordsOf(plan)
  return {
    ...{ way, marker, bad, items },
    records: { ...records, traces: good ? [recordKey(trace_id)] : [] },
    body: Buffer.from(JSON.stringify({ idempotency_key: marker, ...lists })),
  }
}

function goodObservations(plan: Plan, start_time: string): object[] {
  const { marker, task_id, conversation, padding_bytes = 0 } = plan
  const [first, second] = plan.observation_ids
  const both = {
    trace_id: plan.trace_hex,
    name: marker,
    start_time,
    task_id,
    conversation_id: conversation,
  }
  const generation = {
    ...{ type: 'generation', provider: 'openai', model: 'gpt-4.1-mini' },
    ...{ input_tokens: 120, output_tokens: 30, input: marker + paddingOf(padding_bytes) },
  }
  return [
    { ...both, ...generation, observation_id: first, output: marker },
    { ...both, observation_id: second, parent_observation_id: first, type: 'tool' },
  ]
}
