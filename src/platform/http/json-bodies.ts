import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { problem } from '../../kernel/problem.ts'
import type { RawRoute, Route } from './route.ts'

/**
 * Parses JSON bodies. A JSON content type without a body gives undefined. Rejects keys that could
 * change an object's prototype, except on routes with `any_json_keys`.
 */
export function readJsonBodies(app: FastifyInstance, routes: readonly (Route | RawRoute)[]): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  const parseAnyKeys = app.getDefaultJsonParser('ignore', 'ignore')
  const anyKeys = new Set(routes.filter((route) => route.any_json_keys).map(({ url }) => url))
  app.removeContentTypeParser('application/json')
  const parseAs = 'buffer'
  app.addContentTypeParser<Buffer>('application/json', { parseAs }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined)
    // JSON is UTF-8 (RFC 8259, 8.1). Decoding would replace other bytes silently.
    if (!isUtf8(bytes)) return done(problem('invalid_json', { detail: notUtf8 }), undefined)
    const parser = anyKeys.has(request.routeOptions.url ?? '') ? parseAnyKeys : parse
    parser(request, bytes.toString(), done)
  })
}

const notUtf8 = 'The body is not valid UTF-8. Encode it as UTF-8.'
