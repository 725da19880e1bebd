declare const parsed: unique symbol

/**
 * The id of a project, known to be a canonical UUID: lower-case hex digits and four hyphens, nothing
 * else. Only `parseProjectId` makes one. The columnar store builds its filters of it.
 */
export type ProjectId = string & { readonly [parsed]: true }

const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Parses the id of a project. Throws TypeError for anything but a canonical UUID. */
export function parseProjectId(text: string): ProjectId {
  if (canonicalUuid.test(text)) return text as ProjectId
  throw new TypeError('got a malformed project id, expected a UUID in lower case')
}
