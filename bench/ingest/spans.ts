import type {
  PlainAttribute,
  PlainSpan,
  PlainTraces,
  PlainValue,
} from '../../test/support/otlp-messages.ts'

/** The kind of spans in a request. */
export type SpanShape = 'gen_ai' | 'openinference' | 'plain' | 'agent_traces'

type Given = Record<string, string | number | boolean | PlainValue>

/** Spans per generated trace: an agent, three calls of a model, two of tools. */
export const traceSpans = 6

const content_bytes = 2_050
const start_ns = 1_790_000_000_000_000_000n

/**
 * A request with `spans` spans as one exporter sends them. Ids and texts differ from span to span
 * and, by `seed`, from request to request; `start_ns_from` and `step_ns` set their times.
 */
export function exportRequest(
  shape: SpanShape,
  about: { spans: number; seed: number; start_ns_from?: bigint; step_ns?: bigint },
): PlainTraces {
  const { spans, seed, start_ns_from = start_ns, step_ns = 1_000_000n } = about
  const resource = attributesOf({
    'service.name': 'shop-assistant',
    'service.version': '4.12.0',
    'deployment.environment.name': 'production',
    'telemetry.sdk.language': 'python',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '1.39.0',
    'host.name': 'shop-assistant-7c9d8b5f6d-x2x4k',
  })
  const make = makers[shape]
  const made = Array.from({ length: spans }, (_, index) =>
    make({ seed, index, start_ns_from, step_ns }),
  )
  const scope = { name: 'opentelemetry.instrumentation.openai_v2', version: '2.3b0' }
  return {
    resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope, spans: made }] }],
  }
}

type Place = { seed: number; index: number; start_ns_from: bigint; step_ns: bigint }

const makers: Record<SpanShape, (place: Place) => PlainSpan> = {
  gen_ai: (place) => ({ ...call(place), attributes: attributesOf(chat(place)) }),
  openinference: (place) => ({
    ...call(place),
    name: 'ChatCompletion',
    attributes: attributesOf(openInference(place)),
  }),
  plain: plainSpan,
  agent_traces: agentTrace,
}

/** The common fields of a span: ids, name and times. */
function call(place: Place): PlainSpan {
  const { seed, index, start_ns_from, step_ns } = place
  const trace = Math.floor(index / traceSpans)
  const within = index % traceSpans
  const start = start_ns_from + BigInt(index) * step_ns
  return {
    traceId: hex(seed, 16) + hex(trace + 1, 16),
    spanId: spanId(seed, index),
    ...(within > 0 && { parentSpanId: spanId(seed, index - within) }),
    name: 'chat gpt-5-mini',
    kind: 3,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 840_123_456n),
    status: { code: 1 },
    flags: 257,
  }
}

function chat({ seed, index }: Place): Given {
  const asked = text(seed, index, content_bytes * 0.7)
  const answered = text(seed, index + 7, content_bytes * 0.3)
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.response.model': 'gpt-5-mini-2025-08-07',
    'gen_ai.response.id': `chatcmpl-${hex(index, 14)}${seed}`,
    'gen_ai.request.temperature': 0.2,
    'gen_ai.request.max_tokens': 1024,
    'gen_ai.response.finish_reasons': { arrayValue: { values: [{ stringValue: 'stop' }] } },
    'gen_ai.usage.input_tokens': 1200 + (index % 100),
    'gen_ai.usage.output_tokens': 180,
    'gen_ai.usage.cache_read.input_tokens': 1024,
    'gen_ai.conversation.id': `conversation-${seed}-${Math.floor(index / 32)}`,
    'server.address': 'api.openai.com',
    'server.port': 443,
    'gen_ai.input.messages': messages('user', asked),
    'gen_ai.output.messages': messages('assistant', answered),
  }
}

function openInference({ seed, index }: Place): Given {
  const turn = (role: string, at: number, share: number): Given => ({
    [`llm.input_messages.${at}.message.role`]: role,
    [`llm.input_messages.${at}.message.content`]: text(seed, index + at, content_bytes * share),
  })
  return {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'gpt-5-mini-2025-08-07',
    'llm.provider': 'openai',
    'llm.system': 'openai',
    'llm.invocation_parameters': '{"model": "gpt-5-mini", "temperature": 0.2}',
    ...turn('system', 0, 0.3),
    ...turn('user', 1, 0.2),
    ...turn('assistant', 2, 0.1),
    ...turn('user', 3, 0.1),
    'llm.output_messages.0.message.role': 'assistant',
    'llm.output_messages.0.message.content': text(seed, index + 7, content_bytes * 0.2),
    'llm.token_count.prompt': 1200 + (index % 100),
    'llm.token_count.completion': 180,
    'llm.token_count.total': 1380 + (index % 100),
    'llm.token_count.prompt_details.cache_read': 1024,
    'session.id': `conversation-${seed}-${Math.floor(index / 32)}`,
    'user.id': `user-${index % 50}`,
  }
}

function plainSpan(place: Place): PlainSpan {
  return {
    ...call(place),
    name: 'POST /v1/orders/{order_id}',
    attributes: attributesOf({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.full': `https://shop.example/v1/orders/${place.seed}-${place.index}?expand=lines`,
      'server.address': 'shop.example',
      'server.port': 443,
      'network.protocol.version': '1.1',
      'user_agent.original': 'python-httpx/0.28.1',
      'thread.name': 'MainThread',
    }),
  }
}

function agentTrace(place: Place): PlainSpan {
  const within = place.index % traceSpans
  if (within === 1 || within === 3 || within === 5) {
    return { ...call(place), attributes: attributesOf(chat(place)) }
  }
  return { ...call(place), ...(within === 0 ? agent(place) : tool(place)) }
}

function agent({ seed, index }: Place): Pick<PlainSpan, 'name' | 'kind' | 'attributes'> {
  const attributes = attributesOf({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': 'openai',
    'gen_ai.agent.name': 'shop assistant',
    'gen_ai.conversation.id': `conversation-${seed}-${Math.floor(index / 32)}`,
    'gen_ai.input.messages': messages('user', text(seed, index, 300)),
    'gen_ai.output.messages': messages('assistant', text(seed, index + 7, 500)),
  })
  return { name: 'invoke_agent shop assistant', kind: 1, attributes }
}

function tool({ seed, index }: Place): Pick<PlainSpan, 'name' | 'kind' | 'attributes'> {
  const attributes = attributesOf({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'find_parcel',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': `call_${hex(seed * 1000 + index, 24)}`,
    'gen_ai.tool.call.arguments': `{"parcel":"${hex(index, 12)}"}`,
    'gen_ai.tool.call.result': JSON.stringify({ state: text(seed, index, 400) }),
  })
  return { name: 'execute_tool find_parcel', kind: 1, attributes }
}

function messages(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
}

const words =
  'Where is the parcel that was sent to Zürich on Monday, and who signed for it? The order holds "two" lamps.\nIt left the depot at nine, crossed the border, and waits at the counter until the shop has closed. '

/** Text that depends on the position: plain prose with a few quotes and umlauts. */
function text(seed: number, index: number, chars: number): string {
  const from = (seed * 31 + index * 17) % words.length
  const rest = words.slice(from) + words.repeat(Math.ceil(chars / words.length))
  return `${seed}/${index}: ${rest}`.slice(0, chars)
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function spanId(seed: number, index: number): string {
  return hex(seed, 8) + hex(index + 1, 8)
}

function attributesOf(given: Given): PlainAttribute[] {
  return Object.entries(given).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: Given[string]): PlainValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'object') return value
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
