import type { IncomingMessage } from 'node:http'
import { type Dialect, type Endpoint, formats } from '../formats.ts'

type Asked = Pick<IncomingMessage, 'headers'> & { url?: string | undefined }

/** A wire format, and the API whose clients ask for it. */
export type CallFormat = { endpoint: Endpoint; dialect: Dialect }

/**
 * Returns the format of a call of a route. `/v1/models` is a path of three APIs: the headers of the
 * client tell which one it means.
 */
export function dialectOfRoute(endpoint: Endpoint, request: Asked): CallFormat {
  if (endpoint !== 'models') return { endpoint, dialect: formats[endpoint].dialect }
  const dialect = dialectOfPath(request)
  return { endpoint: dialect === 'google' ? 'generate_content.models' : endpoint, dialect }
}

/**
 * Returns the dialect of a request by its path and headers. Clients of Anthropic send the version of
 * the API with each request.
 */
export function dialectOfPath({ url = '', headers }: Asked): Dialect {
  if (googlePath.test(url)) return 'google'
  if (/^\/v1\/messages(?:[/?]|$)/.test(url)) return 'anthropic'
  if (headers['anthropic-version'] !== undefined) return 'anthropic'
  return headers['x-goog-api-key'] === undefined ? 'openai' : 'google'
}

/** A path below a version that only Google has, or one of version 1 that only Google has. */
const googlePath =
  /^\/v1(?:alpha|beta)(?:[/?]|$)|^\/v1\/(?:interactions(?:[/?]|$)|[^?]*:[a-z]+(?:\?|$))/i
