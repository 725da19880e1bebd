import { createServer, type Server } from 'node:http'
import { newId } from '../../kernel/ids.ts'
import type { RawRoute, Route } from './route.ts'
import { pathOf, type Unroutable } from './unroutable.ts'

/** The routes and limits of Node's server. */
export type NodeServerOptions = {
  routes: readonly (Route | RawRoute)[]
  header_bytes_max: number
  request_timeout_ms: number
  keep_alive_ms: number
}

type NodeHandler = Parameters<typeof createServer>[1]

/** Creates Node's server, which passes requests to raw routes before Fastify sees them. */
export function nodeServer(
  options: NodeServerOptions,
  unroutable: Unroutable,
  handler: NodeHandler,
): Server {
  const raw = new Map<string, RawRoute['handle']>()
  const everyMethod = new Map<string, RawRoute['handle']>()
  for (const route of options.routes) {
    if (route.kind !== 'raw') continue
    raw.set(`${route.method} ${route.url}`, route.handle)
    if (route.every_method) everyMethod.set(route.url, route.handle)
  }
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
      const handle = raw.get(`${request.method} ${path}`) ?? everyMethod.get(path)
      if (handle !== undefined) return handle(request, response)
      const beside = raw.size === 0 ? undefined : unroutable.rawBeside(path)
      if (beside === undefined) return handler?.(request, response)
      const allow = unroutable.allowed(path).join(', ')
      if (request.method === 'OPTIONS' && allow !== '') {
        const id = requestIdFrom(request.headers['x-request-id'])
        return response.writeHead(204, { allow, 'x-request-id': id }).end()
      }
      return beside.refuse(request, response, unroutable.faultOf(request.method, url))
    },
  )
}

const sane = /^[\x21-\x7e]{1,128}$/

/** Returns the client's X-Request-ID if it is short and printable, otherwise a new id. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && sane.test(header) ? header : newId()
}
