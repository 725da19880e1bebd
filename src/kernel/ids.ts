import { randomBytes } from 'node:crypto'
import { v5 as uuidV5, v7 as uuidV7, validate } from 'uuid'

/** A new UUIDv7 (RFC 9562): ids sort by the time they were made. */
export function newId(): string {
  return uuidV7()
}

/** The UUIDv5 of a name in a name space that is a UUID: the same whenever it is asked for. */
export function derivedId(namespace: string, name: string): string {
  return uuidV5(name, namespace)
}

/** A new span id: 16 hex digits, never all zero (W3C Trace Context, level 2). */
export function newObservationId(): string {
  const id = randomBytes(8).toString('hex')
  return id === '0000000000000000' ? newObservationId() : id
}

export function isUuid(value: string): boolean {
  return validate(value)
}

/** A trace id in either spelling: 32 hex digits, or a UUID. */
export const anyTraceIdPattern =
  '^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$'
const hex32 = /^[0-9a-f]{32}$/i
/** https://www.w3.org/TR/trace-context-2/#traceparent-header */
export const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** How a trace id is spelled once it is read: the 16 bytes of W3C in the form of a UUID. */
export const traceIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Takes a trace id as UUID or as the 32 hex digits of W3C; answers the UUID, or undefined. W3C's
 * ids are any 16 bytes, so the version and variant that other UUIDs have are not asked for.
 */
export function traceIdFrom(value: string): string | undefined {
  if (traceIdPattern.test(value)) return value.toLowerCase()
  if (!hex32.test(value)) return undefined
  return value.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * The conversation a client means by X-Conversation-ID: the value itself when it is a UUID, else
 * UUIDv5 of it in the project's name space; then `external_id` keeps what the client sent.
 */
export function conversationIdFrom(
  projectId: string,
  value: string,
): { conversation_id: string; external_id: string | null } {
  if (isUuid(value)) return { conversation_id: value.toLowerCase(), external_id: null }
  return { conversation_id: uuidV5(value, projectId), external_id: value }
}
