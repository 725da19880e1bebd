import type { Json } from './json-schema.ts'

/** Response headers, for `components.headers`. */
export const headerComponents: Record<string, Json> = {
  XRequestID: {
    description: 'Id of the request: the client’s X-Request-ID if it sent one.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 0 },
  },
  Location: {
    description: 'URL that the browser opens next.',
    schema: { type: 'string' },
  },
  ETag: {
    description:
      'Version of the object, for `If-Match`; in a read with a digest of the answer, for `If-None-Match`.',
    schema: { type: 'string' },
  },
}

/** Refers to headers of `components.headers`, by their names on the wire. */
export function headers(...names: string[]): Json {
  const wire: Record<string, string> = { XRequestID: 'X-Request-ID', RetryAfter: 'Retry-After' }
  return Object.fromEntries(
    names.map((name) => [wire[name] ?? name, { $ref: `#/components/headers/${name}` }]),
  )
}
