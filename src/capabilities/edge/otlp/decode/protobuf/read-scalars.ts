import { isUtf8 } from 'node:buffer'
import { maxCachedTextBytes } from './text-cache.ts'
import type { WireReader } from './wire-reader.ts'

/** Length from which a text stays bytes until it is read. */
const minKeptBytes = 64
const replacement = '\ufffd'

/** Reads the key of an attribute. */
export function readKey(wire: WireReader, field: string): string {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  if (end - start <= maxCachedTextBytes) {
    const text = wire.caches.keys.text(wire.bytes, wire.view, start, end)
    if (text !== undefined) return text
  }
  return decodedText(wire, start, end)
}

/** Reads text of any length as a string. */
export function readText(wire: WireReader, field: string): string {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  return textOf(wire, start, end)
}

/** Reads the text of a value; long text stays bytes. */
export function readValueText(wire: WireReader, field: string): string | Buffer {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  if (end - start < minKeptBytes) return textOf(wire, start, end)
  const bytes = wire.bytes.subarray(start, end)
  if (isUtf8(bytes)) return bytes
  wire.tally.warn('invalid_utf8')
  return Buffer.from(bytes.toString('utf8'))
}

function textOf(wire: WireReader, start: number, end: number): string {
  if (end - start <= maxCachedTextBytes) {
    const text = wire.caches.texts.text(wire.bytes, wire.view, start, end)
    if (text !== undefined) return text
  }
  return decodedText(wire, start, end)
}

/** Decodes UTF-8. Invalid bytes are replaced with a warning, rather than losing the span. */
function decodedText(wire: WireReader, start: number, end: number): string {
  const text = wire.bytes.toString('utf8', start, end)
  if (text.includes(replacement) && !isUtf8(wire.bytes.subarray(start, end))) {
    wire.tally.warn('invalid_utf8')
  }
  return text
}

/** The fault of an id that was not sent. */
export const missingId = 'is missing'

/**
 * Reads a trace id as a UUID. Returns '' and sets `wire.idFault` unless it is 16 bytes, not all
 * zero.
 */
export function readTraceId(wire: WireReader, field: string): string {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  const id = end - start === 16 ? wire.caches.ids.traceId(wire.bytes, wire.view, start) : ''
  if (id === '') wire.idFault = idFault(end - start, 16)
  return id
}

/**
 * Reads a span id as 16 hex digits. Returns '' and sets `wire.idFault` unless it is 8 bytes, not
 * all zero.
 */
export function readSpanId(wire: WireReader, field: string): string {
  const end = wire.until(field)
  const start = wire.position
  wire.position = end
  const id = end - start === 8 ? wire.caches.ids.spanId(wire.bytes, wire.view, start) : ''
  if (id === '') wire.idFault = idFault(end - start, 8)
  return id
}

/** Reads the id of a parent, empty for a root. An invalid one is dropped with a warning. */
export function readParentId(wire: WireReader, field: string): string {
  const id = readSpanId(wire, field)
  if (id === '' && wire.idFault !== missingId) wire.tally.warn('invalid_parent_id')
  return id
}

function idFault(bytes: number, expected: number): string {
  if (bytes === 0) return missingId
  return bytes === expected ? 'is all zero' : `has ${bytes} bytes, not ${expected}`
}
