import { traceIdFrom } from '../../../../kernel/ids.ts'

/** Where a call stands in the caller's trace. */
export type TraceParent = { trace_id: string; parent_observation_id: string }

const version00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const laterVersion = /^(?!ff|00)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/

/**
 * Reads a `traceparent` header (W3C Trace Context, level 2). Undefined when it is not valid, and
 * then the call starts a trace of its own, as the recommendation asks.
 */
export function parseTraceparent(header: string): TraceParent | undefined {
  const match = version00.exec(header) ?? laterVersion.exec(header)
  const [, traceHex = '', parent = ''] = match ?? []
  if (/^0*$/.test(traceHex) || /^0*$/.test(parent)) return undefined
  const trace_id = traceIdFrom(traceHex)
  return trace_id === undefined ? undefined : { trace_id, parent_observation_id: parent }
}
