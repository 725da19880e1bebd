import { z } from 'zod'

declare const parsed: unique symbol

/**
 * The id of a project, known to be a canonical UUID: lower-case hex digits and four hyphens, nothing
 * else. Only `parseProjectId` and `projectIdSchema` make one, so text of a client never becomes one
 * unchecked. The columnar store builds its filters of it.
 */
export type ProjectId = string & { readonly [parsed]: true }

const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A canonical UUID, parsed as a ProjectId. */
export const projectIdSchema = z
  .string()
  .regex(canonicalUuid, 'expected a UUID in lower case')
  .transform((text) => text as ProjectId)

/** Parses the id of a project. Throws TypeError for anything but a canonical UUID. */
export function parseProjectId(text: string): ProjectId {
  if (typeof text === 'string' && canonicalUuid.test(text)) return text as ProjectId
  throw new TypeError('got a malformed project id, expected a UUID in lower case')
}
