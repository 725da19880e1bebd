import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { newId } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import type { CallLimits } from './call-limits.ts'
import { createClientNetworks, keyOf } from './client-of-request.ts'
import { hostFault } from './host-header.ts'
import { headersFrom } from './rate-limit.ts'
import type { RawRoute, Route } from './route.ts'
import { securityHeaders } from './security-headers.ts'
import { pathOf, type Unroutable } from './unroutable.ts'

/** The routes and limits of Node's server. */
export type NodeServerOptions = {
  routes: readonly (Route | RawRoute)[]
  header_bytes_max: number
  request_timeout_ms: number
  keep_alive_ms: number
  trusted_proxies?: readonly string[]
  clock: Clock
}

type NodeHandler = Parameters<typeof createServer>[1]

/** Creates Node's server, which passes requests to raw routes before Fastify sees them. */
export function nodeServer(
  options: NodeServerOptions,
  { unroutable, limits }: { unroutable: Unroutable; limits: CallLimits },
  handler: NodeHandler,
): Server {
  const raw = new Map<string, RawRoute>()
  const everyMethod = new Map<string, RawRoute>()
  for (const route of options.routes) {
    if (route.kind !== 'raw') continue
    raw.set(`${route.method} ${route.url}`, route)
    if (route.every_method) everyMethod.set(route.url, route)
  }
  const enter = createRawEntry(options, limits)
  return createServer(
    {
      maxHeaderSize: options.header_bytes_max,
      requestTimeout: options.request_timeout_ms,
      keepAliveTimeout: options.keep_alive_ms,
      noDelay: true,
    },
    (request, response) => {
      const url = request.url ?? ''
      const path = pathOf(url)
      const route = raw.get(`${request.method} ${path}`) ?? everyMethod.get(path)
      if (route !== undefined) return enter(route, request, response)
      const beside = raw.size === 0 ? undefined : unroutable.rawBeside(path)
      if (beside === undefined) return handler?.(request, response)
      const fault = hostFault(request.rawHeaders)
      if (fault !== undefined) return beside.refuse(request, response, fault)
      const allow = unroutable.allowed(path).join(', ')
      if (request.method === 'OPTIONS' && allow !== '') {
        const id = requestIdFrom(request.headers['x-request-id'])
        return response.writeHead(204, { ...securityHeaders, allow, 'x-request-id': id }).end()
      }
      return beside.refuse(request, response, unroutable.faultOf(request.method, url))
    },
  )
}

/** Makes the function that passes a call to its raw route, unless its network is over the limit. */
function createRawEntry(
  { clock, trusted_proxies }: NodeServerOptions,
  limits: CallLimits,
): (route: RawRoute, request: IncomingMessage, response: ServerResponse) => void {
  const networkOf = createClientNetworks(trusted_proxies)
  return (route, request, response) => {
    const fault = hostFault(request.rawHeaders)
    if (fault !== undefined) return route.refuse(request, response, fault)
    const entering = { network: networkOf(request), credentials: keyOf(request.headers) }
    const call = limits.enterRaw(entering, clock.now_ms())
    const { decision } = call
    if (decision.allowed) {
      return route.handle(request, response, () => void limits.authorise(call, clock.now_ms()))
    }
    route.refuse(request, response, decision.fault.withHeaders(headersFrom(decision.headers)))
  }
}

const sane = /^[\x21-\x7e]{1,128}$/

/** Returns the client's X-Request-ID if it is short and printable, otherwise a new id. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && sane.test(header) ? header : newId()
}
