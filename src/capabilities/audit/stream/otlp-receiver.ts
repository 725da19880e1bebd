import type { OutboundReply } from '../../../platform/outbound/index.ts'
import type { AuditedRead } from '../events/audited-read.ts'
import type { StreamedRecord, StreamReceiver } from './receiver.ts'

const media_type = 'application/x-protobuf'

/**
 * Returns a receiver of OTLP logs over HTTP, in protobuf.
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export function otlpReceiver(options: {
  /** The complete URL, with its path: `https://collector:4318/v1/logs`. */
  url: string
  headers: Readonly<Record<string, string>>
  /** Version of the service, for the resource. */
  version: string
}): StreamReceiver {
  const { url, headers, version } = options
  return {
    name: 'otlp',
    url,
    encode: encodeRecord,
    toMessage: (encoded) => ({
      body: encodeLogs(encoded.map(toBytes), version),
      headers: { 'content-type': media_type, 'user-agent': `looptrace/${version}`, ...headers },
    }),
    readRefused,
  }
}

function toBytes(encoded: string | Uint8Array): Uint8Array {
  return typeof encoded === 'string' ? Buffer.from(encoded) : encoded
}

/** A partial success must not be sent again: the receiver does not say which records it refused. */
function readRefused({ headers, body }: OutboundReply) {
  if (!String(headers['content-type'] ?? '').startsWith(media_type)) return undefined
  return readPartialSuccess(body)
}

/**
 * Log records of OTLP in protobuf, for the few fields that audit records need.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto
 */

/** Numbers of the fields of the messages. */
const fields = {
  request: { resource_logs: 1 },
  resourceLogs: { resource: 1, scope_logs: 2 },
  scopeLogs: { scope: 1, log_records: 2 },
  log: { time: 1, severity: 2, severity_text: 3, body: 5, attributes: 6, event_name: 12 },
  attribute: { key: 1, value: 2 },
  value: { text: 1, flag: 2, integer: 3 },
  reply: { partial_success: 1 },
  partial: { refused: 1, reason: 2 },
} as const

/** Severities by outcome, with the numbers of OpenTelemetry. */
const severities = {
  succeeded: { number: 9, text: 'INFO' },
  replayed: { number: 9, text: 'INFO' },
  refused: { number: 13, text: 'WARN' },
  failed: { number: 17, text: 'ERROR' },
} as const

type Value = string | number | boolean | null | undefined

/** Returns the log record of an audit record, followed by those of the reads that it seals. */
function encodeRecord(record: StreamedRecord): Uint8Array {
  const { outcome, action, reads = [] } = record
  const severity = severities[outcome]
  const log = encodeLog({
    at: record.recorded_at,
    severity,
    text: `${action} ${outcome}`,
    event_name: 'looptrace.audit.record',
    attributes: {
      'log.record.uid': `${record.chain_id}/${record.seq}`,
      'error.type': record.code,
      ...callAttributes(record),
      'looptrace.audit.chain_id': record.chain_id,
      'looptrace.audit.seq': record.seq,
      'looptrace.audit.hash': record.hash,
      'looptrace.audit.outcome': outcome,
      'looptrace.audit.suppressed': record.suppressed === 0 ? null : record.suppressed,
      'looptrace.audit.change': record.change === null ? null : JSON.stringify(record.change),
      'looptrace.audit.segment_count': record.segment_count,
      'looptrace.audit.left_out': record.left_out,
    },
  })
  return Buffer.concat([log, ...reads.map((read) => encodeRead(read, record))])
}

function encodeRead(read: AuditedRead, { chain_id, seq }: StreamedRecord): Uint8Array {
  return encodeLog({
    at: read.read_at,
    severity: severities.succeeded,
    text: `${read.action} read`,
    event_name: 'looptrace.audit.read',
    attributes: {
      'log.record.uid': `${chain_id}/${seq}/${read.request_id}/${read.action}`,
      ...callAttributes(read),
      'looptrace.audit.chain_id': chain_id,
      'looptrace.audit.segment_seq': seq,
    },
  })
}

type Call = Pick<
  AuditedRead,
  'action' | 'actor_kind' | 'via' | 'resource_type' | 'resource_id' | 'project_id' | 'request_id'
> &
  Pick<StreamedRecord, 'actor_id' | 'origin'>

/** Attributes of a call, by the names of OpenTelemetry's registry where it has one. */
function callAttributes(call: Call): Record<string, Value> {
  return {
    'user.id': call.actor_kind === 'user' ? call.actor_id : null,
    'client.address': call.origin?.address,
    'user_agent.original': call.origin?.user_agent,
    'looptrace.audit.action': call.action,
    'looptrace.audit.actor.kind': call.actor_kind,
    'looptrace.audit.actor.id': call.actor_id,
    'looptrace.audit.via': call.via,
    'looptrace.audit.resource.type': call.resource_type,
    'looptrace.audit.resource.id': call.resource_id,
    'looptrace.audit.request_id': call.request_id === '' ? null : call.request_id,
    'looptrace.project.id': call.project_id,
  }
}

type Log = {
  /** ISO 8601. */
  at: string
  severity: { number: number; text: string }
  text: string
  event_name: string
  attributes: Readonly<Record<string, Value>>
}

/** Returns the field of a ScopeLogs message that has one log record. */
function encodeLog({ at, severity, text, event_name, attributes }: Log): Buffer {
  const { log, scopeLogs } = fields
  const time_ns = BigInt(Date.parse(at)) * 1_000_000n
  return message(scopeLogs.log_records, [
    fixed64(log.time, time_ns),
    varintField(log.severity, severity.number),
    bytesField(log.severity_text, severity.text),
    message(log.body, [bytesField(fields.value.text, text)]),
    ...encodeAttributes(log.attributes, attributes),
    bytesField(log.event_name, event_name),
  ])
}

/** Returns an ExportLogsServiceRequest of encoded records. */
function encodeLogs(records: readonly Uint8Array[], version: string): Uint8Array {
  const attributes = { 'service.name': 'looptrace', 'service.version': version }
  const resource = encodeAttributes(1, attributes)
  const scope = [bytesField(1, 'looptrace.audit'), bytesField(2, version)]
  return message(fields.request.resource_logs, [
    message(fields.resourceLogs.resource, resource),
    message(fields.resourceLogs.scope_logs, [message(fields.scopeLogs.scope, scope), ...records]),
  ])
}

function encodeAttributes(field: number, attributes: Readonly<Record<string, Value>>): Buffer[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === null || value === undefined) return []
    const { attribute } = fields
    const encoded = message(attribute.value, [encodeValue(value)])
    return [message(field, [bytesField(attribute.key, key), encoded])]
  })
}

function encodeValue(value: string | number | boolean): Buffer {
  if (typeof value === 'string') return bytesField(fields.value.text, value)
  if (typeof value === 'boolean') return varintField(fields.value.flag, value ? 1 : 0)
  return varintField(fields.value.integer, value)
}

/** Wire types of protobuf. */
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

function message(field: number, parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([varint(field * 8 + wire.bytes), varint(length), ...parts])
}

function bytesField(field: number, text: string): Buffer {
  return message(field, [Buffer.from(text)])
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8 + wire.varint), varint(value)])
}

function fixed64(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return Buffer.concat([varint(field * 8 + wire.fixed64), bytes])
}

/** Encodes a whole number from 0 to 2⁵³. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}

const maxReasonLength = 200

/**
 * Reads the partial success of an ExportLogsServiceResponse: the number of refused records, and the
 * reason. Undefined if all were accepted, or if the bytes are not such a message.
 */
function readPartialSuccess(reply: Uint8Array): { records: number; reason: string } | undefined {
  const partial = readFields(reply)?.get(fields.reply.partial_success)
  const read = partial instanceof Uint8Array ? readFields(partial) : undefined
  const records = read?.get(fields.partial.refused)
  const reason = read?.get(fields.partial.reason)
  if (typeof records !== 'number' || records === 0) return undefined
  const text = reason instanceof Uint8Array ? Buffer.from(reason).toString() : ''
  return { records, reason: text.slice(0, maxReasonLength) }
}

/** Reads the last value of each field; undefined for bytes that are not a message. */
function readFields(bytes: Uint8Array): Map<number, number | Uint8Array> | undefined {
  const found = new Map<number, number | Uint8Array>()
  let at = 0
  const readVarint = () => {
    let value = 0
    for (let scale = 1; at < bytes.length; scale *= 0x80) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    return Number.NaN
  }
  while (at < bytes.length) {
    const tag = readVarint()
    const field = Math.floor(tag / 8)
    const type = tag % 8
    if (type === wire.varint) found.set(field, readVarint())
    else if (type === wire.fixed64) at += 8
    else if (type === wire.fixed32) at += 4
    else if (type === wire.bytes) {
      const length = readVarint()
      found.set(field, bytes.subarray(at, at + length))
      at += length
    } else return undefined
    if (!(at <= bytes.length)) return undefined
  }
  return found
}
