import { z } from 'zod'
import { Answer, defineRoute, etagOf, type Route } from '../../../platform/http/index.ts'
import { policyId } from '../policy/policy.ts'
import { defaultPolicyId } from './default-policy.ts'
import { builtIn, policySchema, toPolicyReply } from './policy-reply.ts'
import { type PolicyDeps, readsPolicies } from './release-policies.ts'
import { policyTable } from './store.ts'

/**
 * GET /api/v1/reliability/phase10/benchmark-policy: the policy in force. A project without a policy
 * `default` has the built-in one.
 */
export function getBenchmarkPolicy({ db }: Pick<PolicyDeps, 'db'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/benchmark-policy',
    id: 'getBenchmarkPolicy',
    summary: 'Policy that release certifications follow',
    etag: true,
    auth: 'jwt_or_key',
    scope: readsPolicies,
    query: z.strictObject({
      policy_id: policyId
        .default(defaultPolicyId)
        .describe('Id of the policy. Default: `default`.'),
    }),
    reply: policySchema,
    errors: ['release_policy_not_found', 'store_unavailable'],
    handle: async ({ query: { policy_id }, caller: { project_id } }) => {
      const stored = await policyTable.findBy(db, project_id, { id: policy_id })
      if (stored === undefined && policy_id !== defaultPolicyId) {
        throw policyTable.notFound(policy_id)
      }
      const reply = stored === undefined ? builtIn : toPolicyReply(stored)
      return new Answer(reply, { headers: { etag: etagOf(reply.version) } })
    },
  })
}
