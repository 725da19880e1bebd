import type { PlainAttribute, PlainSpan, PlainTraces } from './otlp-messages.ts'

/** Options of the generated spans. Only their number is required. */
export type OtlpRequestOptions = {
  spans: number
  /** Mean size of a span in protobuf, in bytes. */
  span_bytes?: number
  /** Another seed gives other ids and content. */
  seed?: number
  /** Start of the first trace, in milliseconds since 1970. */
  start_ms?: number
}

const spansPerTrace = 6
/** Bytes of a span without its content. */
const overhead_bytes = 1_110
const start_ms_default = Date.UTC(2026, 0, 5)

/**
 * An export request as an instrumented agent sends it: traces of agent runs with generations and
 * tool calls below, in order of their ends. About 25 attributes per span.
 */
export function otlpRequest(options: OtlpRequestOptions): PlainTraces {
  const random = randomNumbers(options.seed ?? 1)
  const content_bytes = (options.span_bytes ?? 2_900) - overhead_bytes
  const spans: PlainSpan[] = []
  for (let i = 0; spans.length < options.spans; i++) {
    const start_ms = (options.start_ms ?? start_ms_default) + i * 37
    const trace = newTrace(random, start_ms, content_bytes)
    spans.push(...trace.slice(0, options.spans - spans.length))
  }
  return {
    resourceSpans: [
      {
        resource: { attributes: resourceAttributes() },
        scopeSpans: [
          { scope: { name: 'opentelemetry.instrumentation.openai_v2', version: '2.1b0' }, spans },
        ],
        schemaUrl: 'https://opentelemetry.io/schemas/1.37.0',
      },
    ],
  }
}

type Random = () => number

function newTrace(random: Random, start_ms: number, content_bytes: number): PlainSpan[] {
  const traceId = hex(random, 32)
  const root = hex(random, 16)
  const conversation = `conv_${hex(random, 24)}`
  const span = (i: number, name: string, attributes: PlainAttribute[]): PlainSpan => ({
    traceId,
    spanId: hex(random, 16),
    parentSpanId: root,
    flags: 257,
    name,
    kind: 3,
    startTimeUnixNano: nanos(start_ms + i * 800, i * 1_337),
    endTimeUnixNano: nanos(start_ms + i * 800 + 750, i * 7_331),
    attributes: [...attributes, ...sharedAttributes(conversation, i)],
    status: {},
  })
  const steps = [0, 2, 4].flatMap((i) => [
    span(i, 'chat gpt-5-mini', generationAttributes(random, content_bytes)),
    span(i + 1, 'execute_tool search_flights', toolAttributes(random, content_bytes)),
  ])
  const agent: PlainSpan = {
    ...span(0, 'invoke_agent travel-agent', agentAttributes(random, content_bytes)),
    spanId: root,
    kind: 1,
    endTimeUnixNano: nanos(start_ms + 5_000, 0),
    events: [{ timeUnixNano: nanos(start_ms + 4_000, 1), name: 'agent.finished' }],
  }
  delete agent.parentSpanId
  return [...steps.slice(0, spansPerTrace - 1), agent]
}

function generationAttributes(random: Random, content_bytes: number): PlainAttribute[] {
  const input = Math.floor(random() * 4_000) + 200
  return [
    text('gen_ai.operation.name', 'chat'),
    text('gen_ai.provider.name', 'openai'),
    text('gen_ai.request.model', 'gpt-5-mini'),
    text('gen_ai.response.model', 'gpt-5-mini-2025-08-07'),
    text('gen_ai.response.id', `chatcmpl-${hex(random, 28)}`),
    text('gen_ai.output.type', 'text'),
    double('gen_ai.request.temperature', 0.2),
    double('gen_ai.request.top_p', 0.95),
    int('gen_ai.request.max_tokens', 1_024),
    int('gen_ai.usage.input_tokens', input),
    int('gen_ai.usage.output_tokens', Math.floor(random() * 800)),
    int('gen_ai.usage.cache_read.input_tokens', Math.floor(input / 2)),
    { key: 'gen_ai.response.finish_reasons', value: { arrayValue: { values: [stop] } } },
    text('gen_ai.input.messages', messages(random, 'user', content_bytes * 0.75)),
    text('gen_ai.output.messages', messages(random, 'assistant', content_bytes * 0.25)),
  ]
}

const stop = { stringValue: 'stop' }

function toolAttributes(random: Random, content_bytes: number): PlainAttribute[] {
  return [
    text('gen_ai.operation.name', 'execute_tool'),
    text('gen_ai.tool.name', 'search_flights'),
    text('gen_ai.tool.type', 'function'),
    text('gen_ai.tool.call.id', `call_${hex(random, 24)}`),
    text('gen_ai.tool.description', 'Searches flights between two cities on a day'),
    text('code.function.name', 'travel.tools.search_flights'),
    text('code.file.path', '/srv/travel/tools/search_flights.py'),
    int('code.line.number', 42),
    int('tool.results', Math.floor(random() * 40)),
    { key: 'tool.cached', value: { boolValue: random() < 0.5 } },
    text('tool.cache.key', hex(random, 32)),
    text('retry.policy', 'exponential'),
    int('retry.count', 0),
    text('gen_ai.tool.call.arguments', sentences(random, content_bytes * 0.2)),
    text('gen_ai.tool.call.result', sentences(random, content_bytes * 0.8)),
  ]
}

function agentAttributes(random: Random, content_bytes: number): PlainAttribute[] {
  return [
    text('gen_ai.operation.name', 'invoke_agent'),
    text('gen_ai.provider.name', 'openai'),
    text('gen_ai.agent.name', 'travel-agent'),
    text('gen_ai.agent.id', 'asst_5j66UpCpwteGg4YSxUnt7lPY'),
    text('gen_ai.request.model', 'gpt-5-mini'),
    int('gen_ai.aggregated_usage.input_tokens', Math.floor(random() * 9_000)),
    int('gen_ai.aggregated_usage.output_tokens', Math.floor(random() * 2_000)),
    text('gen_ai.system_instructions', sentences(random, content_bytes * 0.3)),
    text('gen_ai.input.messages', messages(random, 'user', content_bytes * 0.4)),
    text('gen_ai.output.messages', messages(random, 'assistant', content_bytes * 0.3)),
  ]
}

function sharedAttributes(conversation: string, i: number): PlainAttribute[] {
  return [
    text('gen_ai.conversation.id', conversation),
    text('session.id', conversation),
    text('user.id', 'user-4711'),
    text('looptrace.task.name', 'book-a-trip'),
    text('server.address', 'api.openai.com'),
    int('server.port', 443),
    text('thread.name', 'MainThread'),
    int('thread.id', 140_231),
    int('agent.step', i),
    text('feature.flag', 'planner-v2'),
  ]
}

function resourceAttributes(): PlainAttribute[] {
  return [
    text('service.name', 'travel-agent'),
    text('service.version', '3.4.1'),
    text('service.instance.id', '0b9c6ac2-2a5c-4a51-9e61-3c2f1f3f6b8e'),
    text('deployment.environment.name', 'production'),
    text('telemetry.sdk.language', 'python'),
    text('telemetry.sdk.name', 'opentelemetry'),
    text('telemetry.sdk.version', '1.38.0'),
    text('k8s.namespace.name', 'agents'),
    text('k8s.pod.name', 'travel-agent-7d4b9c6f5-x2x7k'),
  ]
}

function text(key: string, stringValue: string): PlainAttribute {
  return { key, value: { stringValue } }
}

function int(key: string, value: number): PlainAttribute {
  return { key, value: { intValue: String(value) } }
}

function double(key: string, doubleValue: number): PlainAttribute {
  return { key, value: { doubleValue } }
}

function messages(random: Random, role: string, bytes: number): string {
  return JSON.stringify([
    { role, parts: [{ type: 'text', content: sentences(random, bytes - 60) }] },
  ])
}

const words =
  'the flight from Lisbon to Berlin leaves at nine and costs less when booked with a café voucher before Friday'.split(
    ' ',
  )

/** Prose of about this many bytes. */
function sentences(random: Random, bytes: number): string {
  const picked: string[] = []
  for (let left = bytes; left > 0; ) {
    const word = words[Math.floor(random() * words.length)] ?? 'the'
    picked.push(word)
    left -= word.length + 1
  }
  return picked.join(' ')
}

function hex(random: Random, digits: number): string {
  let id = ''
  while (id.length < digits)
    id += Math.floor(random() * 0x1000_0000)
      .toString(16)
      .padStart(7, '1')
  return id.slice(0, digits)
}

/** Nanoseconds since 1970 as text. */
function nanos(ms: number, ns: number): string {
  return String(BigInt(ms) * 1_000_000n + BigInt(ns))
}

/** Pseudo-random numbers from 0 to 1 for a seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
