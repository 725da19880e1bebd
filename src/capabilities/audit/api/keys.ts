import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { readJwks } from '../checkpoints/signing-key.ts'
import type { AuditDeps } from './contract.ts'

/** GET /api/v2/audit/keys: the public keys of checkpoints. */
export function getKeys({ db }: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/keys',
    id: 'listAuditKeys',
    summary: 'Public keys that verify checkpoints, as a JWKS',
    auth: 'jwt',
    scope: { level: 'user' },
    reply: record('AuditKeySet', {
      keys: z.array(
        record('AuditKey', {
          kty: z.string(),
          crv: z.string(),
          x: z.string(),
          kid: z.string().describe('SHA-256 of the SPKI, in hex.'),
          use: z.string(),
        }),
      ),
    }),
    errors: ['store_unavailable'],
    handle: () => readJwks(db),
  })
}
