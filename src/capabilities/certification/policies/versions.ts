import { z } from 'zod'
import { decodeCursor, invalidCursor, totalExactMax } from '../../../kernel/pages.ts'
import { keyPage } from '../../../model/id-pages.ts'
import { cursorParameter, limitParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type PolicyDeps, policyNotFound } from './change-policy.ts'
import { toVersionReply, versionSchema } from './policy-reply.ts'
import { policyPath, readsPolicies } from './release-policies.ts'
import { findVersion, selectVersions } from './store.ts'

/**
 * GET /api/v1/reliability/phase10/release-policies/{policy_id}/versions: the versions of a policy, newest
 * first, also of a deleted one.
 */
export function listReleasePolicyVersions({ db }: PolicyDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/release-policies/{policy_id}/versions',
    id: 'listReleasePolicyVersions',
    summary: 'Versions of a release policy, newest first',
    auth: 'jwt_or_key',
    scope: readsPolicies,
    params: policyPath,
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: record('ReleasePolicyVersionList', {
      versions: z.array(versionSchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['release_policy_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { policy_id }, query: { limit, cursor }, caller: { project_id } }) => {
      const list = `versions of ${policy_id}`
      const before = cursor === undefined ? undefined : versionBefore(list, cursor)
      const found = await selectVersions(
        db,
        { project_id, policy_id },
        { before, limit: limit + 1, count_max: totalExactMax + 1 },
      )
      if (found.counted === 0) throw policyNotFound(policy_id)
      const { items, info } = keyPage(found, { list, limit, keyOf: ({ version }) => version })
      return { versions: items.map(toVersionReply), ...info }
    },
  })
}

/** Returns the version that the page comes before. Throws `invalid_cursor`. */
function versionBefore(list: string, cursor: string): number {
  const [version] = decodeCursor(list, cursor, 1)
  if (typeof version === 'number' && Number.isInteger(version) && version > 0 && version < 2 ** 31)
    return version
  throw invalidCursor(cursor)
}

/**
 * GET /api/v1/reliability/phase10/release-policies/{policy_id}/versions/{version}: one version, also of a
 * deleted policy. `looptrace verify --policy` reads its `policy`.
 */
export function getReleasePolicyVersion({ db }: PolicyDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/release-policies/{policy_id}/versions/{version}',
    id: 'getReleasePolicyVersion',
    summary: 'Read a version of a release policy',
    auth: 'jwt_or_key',
    scope: readsPolicies,
    params: policyPath.extend({
      version: z
        .string()
        .regex(/^[1-9]\d{0,5}$/, 'expected a whole number from 1')
        .describe('Number of the version, from 1.'),
    }),
    reply: versionSchema,
    errors: ['release_policy_not_found', 'store_unavailable'],
    handle: async ({ params: { policy_id, version }, caller: { project_id } }) => {
      const found = await findVersion(db, { project_id, policy_id, version: Number(version) })
      if (found === undefined) throw policyNotFound(policy_id)
      return toVersionReply(found)
    },
  })
}
