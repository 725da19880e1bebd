import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { CertificationDb } from '../evidence/contract.ts'
import { readPublicKeySet } from '../keys/signing-key.ts'

/**
 * GET /.well-known/looptrace-certification-keys.json: the public keys of statements (RFC 7517),
 * including those of earlier signing keys.
 */
export function getCertificationKeys({ db }: { db: CertificationDb }): Route {
  return defineRoute({
    method: 'GET',
    url: '/.well-known/looptrace-certification-keys.json',
    id: 'getCertificationKeys',
    summary: 'Public keys of the statements of release certifications',
    auth: 'public',
    scope: { level: 'public' },
    reply: record('CertificationKeySet', { keys: z.array(z.record(z.string(), z.unknown())) }),
    errors: ['store_unavailable'],
    handle: async () => {
      const { keys } = await readPublicKeySet(db)
      return new Answer(
        { keys: keys.map((key) => ({ ...key })) },
        { headers: { 'cache-control': `public, max-age=${cached_s}` } },
      )
    },
  })
}

/** How long clients may cache the key set. */
const cached_s = 300
