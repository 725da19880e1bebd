import type { Access } from '../capabilities/access/index.ts'
import { type OtlpReceiver, otlpRoutes } from '../capabilities/edge/otlp/index.ts'
import { type CompletionProxy, proxyRoutes } from '../capabilities/edge/proxy/index.ts'
import { frontPageRoute, openapiRoute, type RawRoute, type Route } from '../platform/http/index.ts'
import { controlRoutes } from './control.ts'
import { version } from './version.ts'

/**
 * Every route of every role, to describe and not to serve: the parts that would do the work are
 * not there. The reference pages and the route tests are made of it.
 */
export function routeCatalogue(): (Route | RawRoute)[] {
  const absent: object = new Proxy({}, { get: () => absent })
  const routes: (Route | RawRoute)[] = [
    ...proxyRoutes(absent as CompletionProxy),
    ...otlpRoutes(absent as OtlpReceiver),
    ...controlRoutes(absent as Access, absent as Parameters<typeof controlRoutes>[1]),
  ]
  routes.push(
    openapiRoute(() => routes, version),
    frontPageRoute(() => routes, version),
  )
  return routes
}
