import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'

/** GET /.well-known/jwks.json: the public keys of our access tokens (RFC 7517). */
export function getJwks({ signing_keys }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/.well-known/jwks.json',
    id: 'getJwks',
    summary: 'Public keys of the access tokens',
    auth: 'public',
    scope: { level: 'public' },
    reply: record('JwkSet', { keys: z.array(z.record(z.string(), z.unknown())) }),
    errors: ['store_unavailable'],
    handle: async () =>
      new Answer(await signing_keys.jwks(), {
        headers: { 'cache-control': `public, max-age=${keySetCachedSeconds}` },
      }),
  })
}

/**
 * How long clients may cache the key set. A new key is published for twice as long before it signs.
 */
const keySetCachedSeconds = 300
