import type { IncomingHttpHeaders } from 'node:http'
import type { RawRoute, Route } from './route.ts'
import { admitsBrowsers } from './route-access.ts'
import { patternOf } from './unroutable.ts'

/**
 * Response headers for pages of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */
export type CrossOrigin = {
  /** Returns the headers of a response; undefined when a page of another origin may not read it. */
  headersFor(
    method: string,
    path: string,
    headers: IncomingHttpHeaders,
  ): Record<string, string> | undefined
}

/** How long a browser keeps the answer to a preflight request. */
const preflightKeptSeconds = 600

const sentHeaders = 'Content-Type, Idempotency-Key, If-Match, X-API-Key, X-Request-ID'
const readHeaders =
  'ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-ID'

/** Headers that pages of allowed origins may send too: those of people and of OTLP exporters. */
const sentByAllowed = [
  sentHeaders,
  ...['Authorization', 'Baggage', 'Content-Encoding', 'If-None-Match', 'Last-Event-ID'],
  ...['Traceparent', 'Tracestate', 'X-Project-ID'],
].join(', ')

/**
 * Prepares the headers for pages of other origins. Browsers never send cookies with them, because
 * `Access-Control-Allow-Credentials` is missing: a page must bring a key or an access token.
 *
 * Routes that admit browser keys answer pages of any origin, because a preflight request has no key;
 * the authorizer compares the origin with the origins of the key. `Authorization` is not allowed
 * there, so a browser key is the only usable credential. Pages cannot read replies of other methods
 * of the same paths. Pages of an origin in `allowed` can call each route of the API and of OTLP.
 */
export function createCrossOrigin(
  routes: readonly (Route | RawRoute)[],
  allowed: readonly string[] = [],
): CrossOrigin {
  const findForAll = createMethodFinder(routes.filter(({ scope }) => admitsBrowsers(scope)))
  const findForAllowed = createMethodFinder(routes.filter(isForPrograms))
  const origins: ReadonlySet<string> = new Set(allowed)
  return {
    headersFor(method, path, { origin, 'access-control-request-method': preflight }) {
      if (origin === undefined) return undefined
      const isAllowed = origins.has(origin)
      const methods = (isAllowed ? findForAllowed : findForAll)(path)
      const isPreflight = method === 'OPTIONS'
      const wanted = isPreflight ? preflight : method
      if (wanted === undefined || !methods?.includes(wanted)) return undefined
      const granted = isAllowed
        ? { 'access-control-allow-origin': origin, vary: 'Origin' }
        : { 'access-control-allow-origin': '*' }
      if (!isPreflight) return { ...granted, 'access-control-expose-headers': readHeaders }
      return { ...granted, ...preflightHeaders(methods, isAllowed ? sentByAllowed : sentHeaders) }
    },
  }
}

function preflightHeaders(methods: readonly string[], headers: string): Record<string, string> {
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': headers,
    'access-control-max-age': String(preflightKeptSeconds),
  }
}

/** Pages are not for programs, and calls of models need a key that no page should hold. */
function isForPrograms(route: Route | RawRoute): boolean {
  return route.kind === 'raw' ? route.cross_origin === true : route.page !== true
}

/** Makes the search for the methods of a path. */
function createMethodFinder(
  routes: readonly (Route | RawRoute)[],
): (path: string) => readonly string[] | undefined {
  const paths = [...Map.groupBy(routes, ({ url }) => url)].map(([url, same]) => ({
    pattern: patternOf(url),
    methods: same.map(({ method }): string => method),
  }))
  return (path) => paths.find(({ pattern }) => pattern.test(path))?.methods
}
