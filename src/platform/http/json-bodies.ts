import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { problem } from '../../kernel/problem.ts'
import type { RawRoute, Route } from './route.ts'

/** Maximum levels of lists and objects in a body. Bodies of the product have up to 25. */
const maxJsonDepth = 128

/**
 * Parses JSON bodies. A JSON content type without a body gives undefined. Rejects keys that could
 * change an object's prototype, and bodies deeper than `maxJsonDepth`, which would overflow the
 * stack of code that follows them. Routes with `any_json_keys` check their records themselves.
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
    const isAnyKeys = anyKeys.has(request.routeOptions.url ?? '')
    if (!isAnyKeys && isDeeper(bytes, maxJsonDepth)) {
      return done(problem('invalid_json', { detail: tooDeep }), undefined)
    }
    const parser = isAnyKeys ? parseAnyKeys : parse
    parser(request, bytes.toString(), done)
  })
}

const notUtf8 = 'The body is not valid UTF-8. Encode it as UTF-8.'
const tooDeep = `The body is nested too deeply: expected at most ${maxJsonDepth} levels.`

const [quote, backslash] = Buffer.from('"\\')
/** By byte: 1 for the start of a list or object, −1 for its end, else 0. */
const steps = Int8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return Number('[{'.includes(character)) - Number(']}'.includes(character))
})

/** Returns whether lists and objects of a JSON text are nested in more than `levels_max` levels. */
export function isDeeper(bytes: Uint8Array, levels_max: number): boolean {
  let [levels, isText] = [0, false]
  for (let at = 0; at < bytes.length && levels <= levels_max; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === quote) isText = !isText
    else if (!isText) levels += steps[byte] ?? 0
    else if (byte === backslash) at += 1
  }
  return levels > levels_max
}
