import type { PathAlias } from '../../../platform/http/index.ts'
import type { Endpoint } from './formats.ts'

/** A route of the data plane as data. */
export type CallRoute = {
  /** POST by default. */
  method?: 'GET' | 'PATCH' | 'DELETE'
  url: string
  /** It opens a WebSocket. */
  opens_socket?: true
  /** It serves the paths below too, whose bytes are of any media type. */
  below?: true
  /** Starts of paths that clients with another base URL use. */
  aliases?: readonly PathAlias[]
  endpoint: Endpoint
  id: string
  summary: string
}

/**
 * Base URLs without a version, with the version twice, and those of other services, whose users replace
 * the host only.
 */
export const ofVersion1 = aliasesOf('/v1', ['', '/v1/v1', '/openai/v1', '/api/v1'])

/** The same for the Gemini API. */
export const ofBeta = aliasesOf('/v1beta', ['', '/v1/v1beta', '/v1beta/v1beta'])

function aliasesOf(instead_of: string, starts: readonly string[]): readonly PathAlias[] {
  return starts.map((start) => ({ start, instead_of }))
}
