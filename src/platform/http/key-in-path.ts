import type { IncomingMessage } from 'node:http'

/** The start of a path with a project key, for clients that can only set a base URL. */
const start = '/k/'

/** The header in which the key goes on; nothing behind it sees a path with a key. */
const header = 'X-Looptrace-Key'

/**
 * Moves the project key of a path `/k/<key>/…` to the header X-Looptrace-Key, and removes both steps
 * from the URL. Returns whether the path had one.
 */
export function moveKeyFromPath(request: IncomingMessage): boolean {
  const { url = '' } = request
  const end = keyEnd(url)
  if (end === undefined) return false
  const key = decode(url.slice(start.length, end))
  request.url = withoutKey(url)
  // Header values of Node have no line breaks, and the key of a path must not be a list of keys.
  const value = /^[\w.~-]+$/.test(key) ? key : 'malformed'
  const known = request.headers[header.toLowerCase()]
  request.rawHeaders.push(header, value)
  request.headers[header.toLowerCase()] = known === undefined ? value : `${known}, ${value}`
  return true
}

/** Returns a URL without the steps of a project key; it is the same without one. */
export function withoutKey(url: string): string {
  const rest = url.slice(keyEnd(url) ?? 0)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Returns the offset behind the key of a path; undefined for a path without one. */
function keyEnd(url: string): number | undefined {
  if (!url.startsWith(start)) return undefined
  const [path = ''] = url.split('?', 1)
  const slash = path.indexOf('/', start.length)
  return slash === -1 ? path.length : slash
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
