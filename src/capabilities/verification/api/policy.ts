import type { Route } from '../../../platform/http/index.ts'
import { projectDocumentRoutes } from '../../documents/index.ts'
import { policyBody, policySchema, toPolicyReply } from '../policy/rules.ts'
import { policyTable } from '../policy/store.ts'
import { chooseVerifiers } from '../verifiers/choose-verifiers.ts'
import { readScope, type VerificationRoutesDeps } from './contract.ts'

/**
 * Routes GET and PUT of /api/v1/verification/policy. A change applies to tasks that become quiet
 * afterwards.
 */
export function verificationPolicyRoutes(deps: VerificationRoutesDeps): Route[] {
  return projectDocumentRoutes(deps, {
    table: policyTable,
    url: '/api/v1/verification/policy',
    get: {
      id: 'getVerificationPolicy',
      summary: 'Policy of automatic verification',
      auth: 'jwt',
      scope: readScope,
    },
    put: { id: 'putVerificationPolicy', summary: 'Set the policy of automatic verification' },
    body: policyBody,
    reply: policySchema,
    errors: ['store_unavailable'],
    toColumns: (policy) => {
      chooseVerifiers(deps.verifiers, policy.verifiers)
      return { policy }
    },
    toReply: toPolicyReply,
  })
}
