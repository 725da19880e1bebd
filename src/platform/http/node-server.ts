import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../../kernel/ids.ts'
import { holdsProjectKey } from '../../kernel/project-key-text.ts'
import type { Clock } from '../../kernel/time.ts'
import type { CallLimits } from './call-limits.ts'
import { createClientNetworks, keyOf } from './client-of-request.ts'
import type { CrossOrigin } from './cross-origin.ts'
import { hostFault } from './host-header.ts'
import { headersFrom } from './rate-limit.ts'
import type { PathAlias, RawRoute, Route } from './route.ts'
import { securityHeaders } from './security-headers.ts'
import { isUpgrade, upgradeFault } from './socket-request.ts'
import { pathOf, patternOf, type Unroutable } from './unroutable.ts'

/** The routes and limits of Node's server. */
export type NodeServerOptions = {
  routes: readonly (Route | RawRoute)[]
  header_bytes_max: number
  request_timeout_ms: number
  keep_alive_ms: number
  trusted_proxies?: readonly string[]
  clock: Clock
}

/** A request on a path that no raw route has. */
type BesideRequest = { request: IncomingMessage; response: ServerResponse; isKeyed: boolean }

type NodeServerParts = { unroutable: Unroutable; crossOrigin: CrossOrigin; limits: CallLimits }

type NodeHandler = Parameters<typeof createServer>[1]

/** Creates Node's server, which passes requests to raw routes before Fastify sees them. */
export function nodeServer(
  options: NodeServerOptions,
  { unroutable, crossOrigin, limits }: NodeServerParts,
  handler: NodeHandler,
): Server {
  const routes = options.routes.filter((route) => route.kind === 'raw')
  const find = createRawFinder(routes)
  const findAlias = createAliasFinder(routes, find)
  const byAlias = (request: IncomingMessage, path: string) => {
    const found = findAlias(request.method, path)
    if (found !== undefined) request.url = found.path + (request.url ?? '').slice(path.length)
    return found?.route
  }
  const opensSocket = (request: IncomingMessage) => {
    if (!isUpgrade(request)) return false
    const path = pathOf(withoutKey(request.url ?? ''))
    const route = find(request.method, path) ?? findAlias(request.method, path)?.route
    return route?.opens_socket === true
  }
  const [fallback] = routes
  const enter = createRawEntry(options, limits)
  const answerBeside = (beside: RawRoute, { request, response, isKeyed }: BesideRequest) => {
    const { url = '' } = request
    const fault = hostFault(request.rawHeaders)
    if (fault !== undefined) return beside.refuse(request, response, fault)
    const allow = unroutable.allowed(pathOf(url)).join(', ')
    if (request.method === 'OPTIONS' && allow !== '' && !isKeyed) {
      const id = requestIdFrom(request.headers['x-request-id'])
      return response.writeHead(204, { ...securityHeaders, allow, 'x-request-id': id }).end()
    }
    return beside.refuse(request, response, unroutable.faultOf(request.method, url))
  }
  const server = createServer(
    {
      shouldUpgradeCallback: opensSocket,
      maxHeaderSize: options.header_bytes_max,
      requestTimeout: options.request_timeout_ms,
      keepAliveTimeout: options.keep_alive_ms,
      noDelay: true,
    },
    (request, response) => {
      // The client may have sent frames behind a request that is refused.
      if (isUpgrade(request)) response.shouldKeepAlive = false
      const keyed = fallback !== undefined && moveKeyFromPath(request)
      const url = request.url ?? ''
      const path = pathOf(url)
      const route = find(request.method, path) ?? byAlias(request, path)
      // No other route is reached below a key: rules of gateways for their paths would not apply.
      const beside = route ?? unroutable.rawBeside(path) ?? (keyed ? fallback : undefined)
      if (beside === undefined) return handler?.(request, response)
      const isPreflight = admitPage(crossOrigin, request, response, path)
      if (route !== undefined && !isPreflight) return enter(route, request, response)
      return answerBeside(beside, { request, response, isKeyed: keyed })
    },
  )
  server.on('upgrade', (request, socket: Socket, head) => {
    socket.on('error', () => socket.destroy())
    if (head.length > 0) socket.unshift(head)
    server.emit('request', request, responseOn(socket, request))
  })
  return server
}

/**
 * Sets the headers of a response for the page of another origin that may read it. Returns whether the
 * request is the preflight of such a page.
 */
function admitPage(
  crossOrigin: CrossOrigin,
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
  path: string,
): boolean {
  const admitted = crossOrigin.headersFor(method, path, headers)
  if (admitted === undefined) return false
  response.setHeaders(new Map(Object.entries(admitted)))
  return method === 'OPTIONS'
}

/**
 * Returns the response to a request that asks for a WebSocket. A route that opens one takes the socket from
 * the response; after another answer, the connection closes.
 */
function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  response.on('finish', () => socket.destroySoon())
  return response
}

/**
 * Makes the search for the raw route of a request: by its whole path, and then by the paths with
 * parameters.
 */
function createRawFinder(
  routes: readonly RawRoute[],
): (method: string | undefined, path: string) => RawRoute | undefined {
  const exact = new Map<string, RawRoute>()
  const everyMethod = new Map<string, RawRoute>()
  const patterns: { pattern: RegExp; route: RawRoute }[] = []
  for (const route of routes) {
    if (route.url.includes('{') || route.below) {
      patterns.push({ pattern: patternOf(route.url, route.below), route })
    }
    exact.set(`${route.method} ${route.url}`, route)
    if (route.every_method) everyMethod.set(route.url, route)
  }
  return (method, path) =>
    exact.get(`${method} ${path}`) ??
    everyMethod.get(path) ??
    patterns.find(({ pattern, route }) => route.method === method && pattern.test(path))?.route
}

/** Makes the function that passes a call to its raw route, unless its network is over the limit. */
function createRawEntry(
  { clock, trusted_proxies }: NodeServerOptions,
  limits: CallLimits,
): (route: RawRoute, request: IncomingMessage, response: ServerResponse) => void {
  const networkOf = createClientNetworks(trusted_proxies)
  return (route, request, response) => {
    const fault =
      hostFault(request.rawHeaders) ?? (route.opens_socket ? undefined : upgradeFault(request))
    if (fault !== undefined) return route.refuse(request, response, fault)
    const entering = { network: networkOf(request), credentials: keyOf(request) }
    const call = limits.enterRaw(entering, clock.now_ms())
    const { decision } = call
    if (decision.allowed) {
      return route.handle(request, response, () => void limits.authorise(call, clock.now_ms()))
    }
    route.refuse(request, response, decision.fault.withHeaders(headersFrom(decision.headers)))
  }
}

const sane = /^[\x21-\x7e]{1,128}$/

/**
 * Returns the client's X-Request-ID if it is short and printable, otherwise a new id. It is logged, so
 * it must not hold a project key.
 */
export function requestIdFrom(header: string | string[] | undefined): string {
  if (typeof header !== 'string' || !sane.test(header) || holdsProjectKey(header)) return newId()
  return header
}

type Find = (method: string | undefined, path: string) => RawRoute | undefined

/**
 * Makes the search for the raw route of a path by its aliases. Returns the route and its own path. It
 * is used for paths that no raw route has.
 */
function createAliasFinder(
  routes: readonly RawRoute[],
  find: Find,
): (method: string | undefined, path: string) => { route: RawRoute; path: string } | undefined {
  const known = new Set(routes.flatMap(({ aliases = [] }) => aliases))
  const aliases = [...known].toSorted((a, b) => b.start.length - a.start.length)
  return (method, asked) => {
    for (const alias of aliases) {
      const path = ownPath(asked, alias)
      const route = path === undefined ? undefined : find(method, path)
      if (path !== undefined && route?.aliases?.includes(alias)) return { route, path }
    }
    return undefined
  }
}

function ownPath(path: string, { start, instead_of }: PathAlias): string | undefined {
  return path.startsWith(`${start}/`) ? instead_of + path.slice(start.length) : undefined
}

/** The start of a path with a project key, for clients that can only set a base URL. */
const start = '/k/'

/** The header in which the key goes on; nothing behind it sees a path with a key. */
const header = 'X-Looptrace-Key'

/**
 * Moves the project key of a path `/k/<key>/…` to the header X-Looptrace-Key, and removes both steps
 * from the URL. Returns whether the path had one.
 */
function moveKeyFromPath(request: IncomingMessage): boolean {
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
function withoutKey(url: string): string {
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
