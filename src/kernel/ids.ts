import { v5 as uuidV5, v7 as uuidV7, validate } from 'uuid'

/** Creates a UUIDv7 (RFC 9562): ids sort by creation time. */
export function newId(): string {
  return uuidV7()
}

/** Derives the UUIDv5 of a name in a namespace UUID: the same inputs give the same id. */
export function derivedId(namespace: string, name: string): string {
  return uuidV5(name, namespace)
}

export function isUuid(value: string): boolean {
  return validate(value)
}

/** A trace id in any accepted form: 32 hex digits, or a UUID. */
export const anyTraceIdPattern =
  '^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$'
const hex32 = /^[0-9a-f]{32}$/i
/** https://www.w3.org/TR/trace-context-2/#traceparent-header */
export const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The stored form of a trace id: the 16 bytes of W3C in the form of a UUID. */
export const traceIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Parses a trace id, as a UUID or as the 32 hex digits of W3C. Returns the UUID, or undefined. W3C
 * ids are any 16 bytes, so the version and variant of the UUID are not checked.
 */
export function traceIdFrom(value: string): string | undefined {
  if (traceIdPattern.test(value)) return value.toLowerCase()
  if (!hex32.test(value)) return undefined
  return value.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * Returns the conversation id for an X-Conversation-ID: the value itself when it is a UUID,
 * otherwise a UUIDv5 in the namespace of the project, with the client's value as `external_id`.
 */
export function conversationIdFrom(
  projectId: string,
  value: string,
): { conversation_id: string; external_id: string | null } {
  if (isUuid(value)) return { conversation_id: value.toLowerCase(), external_id: null }
  return { conversation_id: derivedId(projectId, value), external_id: value }
}
