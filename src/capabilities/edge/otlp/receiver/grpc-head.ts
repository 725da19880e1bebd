import type { IncomingHttpHeaders } from 'node:http2'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { OtlpSignal } from '../decode/answer/export-response.ts'
import { quoted } from './http-head.ts'

/** What a call is, by its headers. */
export type GrpcHead = {
  signal: OtlpSignal
  /** The encoding of its message, where that says it is packed. */
  packing: 'identity' | 'gzip'
}

const signals: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'traces'],
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'logs'],
])

/** True for what a client of gRPC sends; any other is answered with a status of HTTP. */
export function isGrpc(headers: IncomingHttpHeaders): boolean {
  return headers[':method'] === 'POST' && contentType.test(headers['content-type'] ?? '')
}

const contentType = /^application\/grpc(?:\+proto)? *(?:;|$)/i

/**
 * Throws `method_not_allowed` or `unsupported_media_type` for what is no gRPC, `route_not_found`
 * for a method that is not served, `unsupported_media_type` for an encoding that is not read.
 */
export function grpcHeadOf(headers: IncomingHttpHeaders): GrpcHead {
  if (!isGrpc(headers)) throw noGrpc(headers)
  const path = headers[':path'] ?? ''
  const signal = signals.get(path)
  if (signal === undefined) {
    const detail = `${quoted(path)} is not served: TraceService/Export and LogsService/Export are`
    throw problem('route_not_found', { detail })
  }
  const packing = headers['grpc-encoding'] ?? 'identity'
  if (packing !== 'identity' && packing !== 'gzip') {
    const detail = `grpc-encoding ${quoted(String(packing))}: expected gzip, identity or none`
    throw problem('unsupported_media_type', { detail })
  }
  return { signal, packing }
}

function noGrpc({
  ':method': method = '',
  'content-type': type = '',
}: IncomingHttpHeaders): Problem {
  if (method !== 'POST') {
    return problem('method_not_allowed', { detail: `expected POST, got ${quoted(method)}` })
  }
  const detail = `content type ${quoted(type)}: expected application/grpc`
  return problem('unsupported_media_type', { detail })
}

/**
 * Milliseconds that the client waits (`grpc-timeout`: at most eight digits and a unit), no finer
 * than a tenth of a second; undefined when it does not say, or not in these words.
 */
export function timeoutOf_ms({ 'grpc-timeout': text }: IncomingHttpHeaders): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(text ?? '')) ?? []
  const unit_ms = unitsOf_ms[unit]
  if (unit_ms === undefined) return undefined
  const timeout_ms = Math.ceil((Number(digits) * unit_ms) / timeoutStep_ms) * timeoutStep_ms
  return timeout_ms > timer_ms_max ? undefined : timeout_ms
}

/** Timers of one duration share a list; those of clients would all differ by a little. */
const timeoutStep_ms = 100
/** Node's timers hold no more; nobody waits for that. */
const timer_ms_max = 2 ** 31 - 1

const unitsOf_ms: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000001,
}
