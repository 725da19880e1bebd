import { traceIdFrom } from '../../../../kernel/ids.ts'
import { type Endpoint, isRecorded } from '../formats.ts'
import type { RequestHeaders } from './request-headers.ts'

/** The position of a call in the caller's trace. */
export type TraceParent = {
  trace_id: string
  parent_observation_id: string
  /** Two hex digits; the lowest bit says that the caller records the trace. */
  flags: string
}

const version00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const laterVersion = /^(?!ff|00)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/**
 * Parses a `traceparent` header (W3C Trace Context, level 2). Returns undefined for an invalid one;
 * the call then starts a new trace, as the recommendation asks.
 */
export function parseTraceparent(header: string): TraceParent | undefined {
  const match = version00.exec(header) ?? laterVersion.exec(header)
  const [, traceHex = '', parent = '', flags = ''] = match ?? []
  if (/^0*$/.test(traceHex) || /^0*$/.test(parent)) return undefined
  const trace_id = traceIdFrom(traceHex)
  return trace_id === undefined ? undefined : { trace_id, parent_observation_id: parent, flags }
}

/**
 * Adds the `traceparent` for the provider of a call, whose spans become children of its record. A call
 * that is not recorded passes that of the client.
 */
export function addTraceparent(call: {
  readonly endpoint: Endpoint
  /** True for the opening of a socket, which has no record of its own. */
  readonly isSocket: boolean
  readonly headers: Pick<RequestHeaders, 'forwarded' | 'traceparent'>
  readonly trace_id: string
  readonly observation_id: string
  readonly parent: TraceParent | undefined
}): void {
  const { forwarded, traceparent } = call.headers
  const isParent = isRecorded(call.endpoint) && !call.isSocket
  const sent = isParent ? childTraceparent(call, call.parent) : traceparent
  if (sent !== '') forwarded.push('traceparent', sent)
}

/**
 * Returns the `traceparent` for the provider: the observation of the call is the parent of the
 * provider's spans. `parent` is the position that the client named; a call without one starts a trace.
 */
export function childTraceparent(
  { trace_id, observation_id }: { trace_id: string; observation_id: string },
  parent: Pick<TraceParent, 'flags'> | undefined,
): string {
  const flags = parent?.flags ?? sampledFlags
  return `00-${trace_id.replaceAll('-', '')}-${observation_id}-${flags}`
}

const sampledFlags = '01'
