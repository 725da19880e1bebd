import { type JsonObject, objectFrom } from '../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../model/exchange.ts'
import { sessionInUserId } from './agent-session.ts'

/** Fields that agents send about the machine or the person, which records leave out. */
const personalFields = new Set(['client_metadata'])

/**
 * Returns a request without what agents send about a person or a machine: of `metadata.user_id` of
 * Messages only the session stays.
 */
export function withoutPersonalValues(
  body: JsonObject,
  endpoint: ExchangeFacts['endpoint'],
): JsonObject {
  const metadata = endpoint.startsWith('messages') ? objectFrom(body['metadata']) : undefined
  const isPersonal = metadata?.['user_id'] !== undefined
  if (!isPersonal && !Object.keys(body).some((key) => personalFields.has(key))) return body
  const kept = Object.entries(body).filter(([key]) => !personalFields.has(key))
  const rest: Record<string, unknown> = Object.fromEntries(kept)
  if (isPersonal) {
    const { user_id, ...others } = metadata ?? {}
    const session_id = sessionInUserId(user_id)
    rest['metadata'] = session_id === '' ? others : { ...others, session_id }
  }
  return rest
}

/** A text may be cut anywhere, also between a backslash and what it escapes. */
const personalText =
  /"(?:user_id|x-codex-[a-z-]{1,40}|installation_id)"\s{0,8}:\s{0,8}"(?:[^"\\]|\\.)*(?:"|\\?$)/gs
/** An object whose members are texts, as Codex sends it. */
const personalObject =
  /"client_metadata"\s{0,8}:\s{0,8}\{(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^"}])*\}?/gs

/** Removes the same values from the text of a request that was cut and cannot be parsed. */
export function withoutPersonalText(text: string): string {
  const remove = (found: string) => `${found.slice(0, found.indexOf(':'))}:"[removed]"`
  return text.replace(personalText, remove).replace(personalObject, remove)
}
