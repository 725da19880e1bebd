import type { IncomingMessage } from 'node:http'
import { type Dialect, type Endpoint, endpoints, formats } from '../formats.ts'

type Asked = Pick<IncomingMessage, 'headers'> & { url?: string | undefined }

/** A wire format, and the API whose clients ask for it. */
export type CallFormat = { endpoint: Endpoint; dialect: Dialect }

/**
 * Returns the format of a call of a route. `/v1/models` and `/v1/files` are paths of three APIs: the
 * headers of the client tell which one it means.
 */
export function dialectOfRoute(endpoint: Endpoint, request: Asked): CallFormat {
  const { kind, dialect: usual } = formats[endpoint]
  if (kind === undefined || usual === 'google') return { endpoint, dialect: usual }
  const asked = dialectOfPath(request)
  const dialect = asked === 'openai' ? usual : asked
  return { endpoint: dialect === 'google' ? ofGoogle(endpoint) : endpoint, dialect }
}

/** Returns the endpoint of Google's own API for a path that other APIs have too. */
function ofGoogle(endpoint: Endpoint): Endpoint {
  const name = `generate_content.${endpoint}`
  return endpoints.find((one) => one === name) ?? endpoint
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
