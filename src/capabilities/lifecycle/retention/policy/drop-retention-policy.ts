import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { flagParameter } from '../../../../model/list-query.ts'
import { managedByParameter } from '../../../../model/managed-by.ts'
import { defineRoute, ifMatchHeader, type Route } from '../../../../platform/http/index.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { changeOf, throwChanged } from './retention-policy.ts'
import { retentionAnswer, retentionReply, shownPolicy } from './retention-reply.ts'
import { resetRetention, withdrawRetention } from './store.ts'

/**
 * DELETE /api/v2/observability/retention-policy: the default holds again, and everything stays. What
 * a resource declares is taken back by that resource alone; with `retain` it lets go of the policy
 * and its holds and leaves them as they are. Answers what stands then; again is fine.
 */
export function deleteRetentionPolicy(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/retention-policy',
    id: 'deleteRetentionPolicy',
    summary: 'Go back to keeping a project’s data for ever',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write', operator: true },
    headers: [ifMatchHeader],
    query: z.strictObject({
      managed_by: managedByParameter
        .optional()
        .describe(
          'The resource that takes back what it declares, as `Kind/namespace/name`: for the operator of a cluster.',
        ),
      retain: flagParameter(
        '`true`: policy and holds stay, and nothing declares them. With `managed_by`.',
      ),
    }),
    reply: retentionReply,
    errors: ['managed_by_kubernetes', 'precondition_failed', 'store_unavailable'],
    handle: async ({ query: { managed_by, retain = false }, caller, headers }) => {
      const is_operator = caller.kind === 'operator'
      if (is_operator !== (managed_by !== undefined) || (retain && !is_operator)) {
        const detail = is_operator
          ? 'managed_by: missing, expected the resource as Kind/namespace/name'
          : 'managed_by, retain: only the operator of a cluster may say it'
        throw problem('invalid_request', { detail })
      }
      const change = changeOf(deps, caller, headers)
      const { project_id } = change
      const left = await (managed_by === undefined
        ? resetRetention(deps.db, change)
        : withdrawRetention(deps.db, change, { owner: managed_by, retain }))
      if (left === 'changed') return throwChanged(deps, project_id, headers)
      return retentionAnswer(deps, shownPolicy(project_id, left))
    },
  })
}
