import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Envelope } from '../../signing/index.ts'
import type { CertificationDb } from '../evidence/contract.ts'
import { readPublicKeySet } from '../keys/signing-key.ts'
import {
  type CertificationRoutesDeps,
  certificationPath,
  readCertification,
  readScope,
} from './contract.ts'

/**
 * GET /api/v1/reliability/phase10/release-certification/{certification_id}/statement: the signed
 * statement, which `looptrace verify` checks without the service.
 */
export function getCertificationStatement({ db }: Pick<CertificationRoutesDeps, 'db'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/release-certification/{certification_id}/statement',
    id: 'getCertificationStatement',
    summary: 'Signed statement of a release certification: an in-toto Statement in a DSSE envelope',
    auth: 'jwt_or_key',
    scope: readScope,
    params: certificationPath,
    reply: record('DsseEnvelope', {
      payloadType: z.string(),
      payload: z.string().describe('Canonical JSON of the statement, in base64.'),
      signatures: z.array(record('DsseSignature', { keyid: z.string(), sig: z.string() })),
    }),
    errors: ['certification_not_found', 'certification_without_statement', 'store_unavailable'],
    handle: async ({ params: { certification_id }, caller: { project_id } }) => {
      const { statement, state } = await readCertification(db, { project_id, certification_id })
      if (statement !== null) return JSON.parse(statement) as Envelope
      throw problem('certification_without_statement', {
        detail: `The certification is ${state}. A statement is signed when it has ended.`,
      })
    },
  })
}

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
