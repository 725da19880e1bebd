import { defineRoute, type Route, requesterOf } from '../../../platform/http/index.ts'
import { cancelCertification } from '../certifications/store.ts'
import { certificationSchema, toCertificationReply } from './certification-reply.ts'
import {
  type CertificationRoutesDeps,
  certificationPath,
  readCertification,
  runScope,
} from './contract.ts'

/**
 * POST /api/v1/reliability/phase10/release-certification/{certification_id}/cancel: cancels a
 * certification. One that has ended is returned unchanged, so the call can be repeated.
 */
export function cancelReleaseCertification(deps: CertificationRoutesDeps): Route {
  const { db, clock } = deps
  return defineRoute({
    method: 'POST',
    url: '/api/v1/reliability/phase10/release-certification/{certification_id}/cancel',
    id: 'cancelReleaseCertification',
    summary: 'Cancel a release certification that has not ended',
    auth: 'jwt_or_key',
    scope: runScope,
    params: certificationPath,
    reply: certificationSchema,
    errors: ['certification_not_found', 'store_unavailable'],
    handle: async ({ params: { certification_id }, caller }) => {
      const key = { project_id: caller.project_id, certification_id }
      await readCertification(db, key)
      const cancelled = await cancelCertification(deps, key, requesterOf(caller))
      return toCertificationReply(cancelled ?? (await readCertification(db, key)), clock.now_ms())
    },
  })
}
