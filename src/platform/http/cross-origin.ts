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

/**
 * Prepares the headers for the routes that admit browser keys. The allowed origin is `*`, because a
 * preflight request has no key; the authorizer compares the origin with the origins of the key.
 * Browsers send no cookies with `*`, and `Authorization` is not allowed, so a browser key is the
 * only usable credential. Pages cannot read replies of other methods of the same paths.
 */
export function createCrossOrigin(routes: readonly (Route | RawRoute)[]): CrossOrigin {
  const admitting = routes.filter(({ scope }) => admitsBrowsers(scope))
  const paths = [...Map.groupBy(admitting, ({ url }) => url)].map(([url, same]) => ({
    pattern: patternOf(url),
    methods: same.map(({ method }): string => method),
  }))
  return {
    headersFor(method, path, headers) {
      if (headers.origin === undefined) return undefined
      const methods = paths.find(({ pattern }) => pattern.test(path))?.methods
      const isPreflight = method === 'OPTIONS'
      const wanted = isPreflight ? headers['access-control-request-method'] : method
      if (wanted === undefined || !methods?.includes(wanted)) return undefined
      const allowed = { 'access-control-allow-origin': '*' }
      if (!isPreflight) return { ...allowed, 'access-control-expose-headers': readHeaders }
      return {
        ...allowed,
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': sentHeaders,
        'access-control-max-age': String(preflightKeptSeconds),
      }
    },
  }
}
