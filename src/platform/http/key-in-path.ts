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
  if (!url.startsWith(start)) return false
  const [path = ''] = url.split('?', 1)
  const slash = path.indexOf('/', start.length)
  const end = slash === -1 ? path.length : slash
  const key = decode(path.slice(start.length, end))
  const rest = url.slice(end)
  request.url = rest.startsWith('/') ? rest : `/${rest}`
  // Header values of Node have no line breaks, and the key of a path must not be a list of keys.
  const value = /^[\w.~-]+$/.test(key) ? key : 'malformed'
  const known = request.headers[header.toLowerCase()]
  request.rawHeaders.push(header, value)
  request.headers[header.toLowerCase()] = known === undefined ? value : `${known}, ${value}`
  return true
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
