import type { WireReader } from './wire-reader.ts'

/** What an id that was not sent has wrong. */
export const missingId = 'is missing'

/** Reads a trace id as a UUID; '' with `wire.idFault` when it is not 16 bytes, not all zero. */
export function readTraceId(wire: WireReader, field: string): string {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  const id = end - start === 16 ? wire.caches.ids.traceId(wire.bytes, wire.view, start) : ''
  if (id === '') wire.idFault = idFault(end - start, 16)
  return id
}

/** Reads a span id as 16 hex digits; '' with `wire.idFault` when not 8 bytes, not all zero. */
export function readSpanId(wire: WireReader, field: string): string {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  const id = end - start === 8 ? wire.caches.ids.spanId(wire.bytes, wire.view, start) : ''
  if (id === '') wire.idFault = idFault(end - start, 8)
  return id
}

/** Reads the id of a parent. Empty bytes are a root's; what is no id is dropped with a warning. */
export function readParentId(wire: WireReader, field: string): string {
  const id = readSpanId(wire, field)
  if (id === '' && wire.idFault !== missingId) wire.tally.warn('invalid_parent_id')
  return id
}

function idFault(bytes: number, expected: number): string {
  if (bytes === 0) return missingId
  return bytes === expected ? 'is all zero' : `has ${bytes} bytes, not ${expected}`
}
