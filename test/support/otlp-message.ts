/** A span with the fields that a test needs. */
export type TestSpan = {
  /** 32 hex digits; a valid id by default. */
  trace_id?: string
  span_id?: string
  name?: string
  attributes?: Record<string, string>
}

const traceHex = '5b8efff798038103d269b633813fc60c'

/** An ExportTraceServiceRequest with these spans under one resource and scope, as JSON. */
export function tracesJson(spans: readonly TestSpan[], resource = serviceOf('shop')): string {
  const scopeSpans = [{ scope: { name: 'test' }, spans: spans.map(spanJson) }]
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })
}

/** The same as protobuf (opentelemetry-proto 1.11, trace.proto). */
export function tracesProtobuf(spans: readonly TestSpan[], service = 'shop'): Buffer {
  const resource = field(1, field(1, keyValue('service.name', service)))
  const scope = field(1, field(1, Buffer.from('test')))
  const scopeSpans = [scope, ...spans.map((span, at) => field(2, spanProtobuf(span, at)))]
  return field(1, Buffer.concat([resource, field(2, Buffer.concat(scopeSpans))]))
}

/** An ExportLogsServiceRequest with one GenAI event per name, as JSON. */
export function logsJson(eventNames: readonly string[]): string {
  const logRecords = eventNames.map((eventName) => ({
    timeUnixNano: '1790000000000000000',
    traceId: traceHex,
    spanId: spanHex(0),
    eventName,
    body: { stringValue: 'hello' },
    attributes: attributesOf({ 'gen_ai.system': 'openai' }),
  }))
  const scopeLogs = [{ scope: { name: 'test' }, logRecords }]
  return JSON.stringify({ resourceLogs: [{ resource: serviceOf('shop'), scopeLogs }] })
}

function serviceOf(name: string) {
  return { attributes: attributesOf({ 'service.name': name }) }
}

function attributesOf(attributes: Record<string, string>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }))
}

const start_ns = 1_790_000_000_000_000_000n
const end_ns = start_ns + 5_000_000n

function spanHex(at: number): string {
  return (at + 1).toString(16).padStart(16, '0')
}

function spanJson(span: TestSpan, at: number) {
  return {
    traceId: span.trace_id ?? traceHex,
    spanId: span.span_id ?? spanHex(at),
    name: span.name ?? `span ${at}`,
    kind: 1,
    startTimeUnixNano: String(start_ns),
    endTimeUnixNano: String(end_ns),
    attributes: attributesOf(span.attributes ?? {}),
  }
}

function spanProtobuf(span: TestSpan, at: number): Buffer {
  const attributes = Object.entries(span.attributes ?? {})
  return Buffer.concat([
    field(1, Buffer.from(span.trace_id ?? traceHex, 'hex')),
    field(2, Buffer.from(span.span_id ?? spanHex(at), 'hex')),
    field(5, Buffer.from(span.name ?? `span ${at}`)),
    Buffer.from([0x30, 1]),
    fixed64(7, start_ns),
    fixed64(8, end_ns),
    ...attributes.map(([key, value]) => field(9, keyValue(key, value))),
  ])
}

function keyValue(key: string, value: string): Buffer {
  return Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(value)))])
}

function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(9)
  bytes[0] = number * 8 + 1
  bytes.writeBigUInt64LE(value, 1)
  return bytes
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2]), varint(content.length), content])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}
