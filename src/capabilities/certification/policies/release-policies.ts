import { z } from 'zod'
import { decodeCursor, invalidCursor, totalExactMax } from '../../../kernel/pages.ts'
import { keyPage } from '../../../model/id-pages.ts'
import { cursorParameter, flagParameter, limitParameter } from '../../../model/list-query.ts'
import { managedByParameter } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { defineRoute, ifMatchHeader, type Route } from '../../../platform/http/index.ts'
import { declaredBy, declaredByParameter, getDeclarer } from '../../access/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import { policyBody, policyFields, policyId } from '../policy/policy.ts'
import { deletePolicy, type PolicyDeps, policyNotFound, putPolicy } from './change-policy.ts'
import {
  policySchema,
  toPolicyAnswer,
  toPolicyReply,
  toVersionReply,
  versionSchema,
} from './policy-reply.ts'
import { findPolicy, findVersion, selectPolicies, selectVersions } from './store.ts'

const url = '/api/v1/reliability/phase10/release-policies'
const list = 'release policies'

/** Who may read policies. */
export const readsPolicies = {
  level: 'project',
  role: 'viewer',
  key: 'certification:run',
  operator: true,
} as const

/** Who may write policies. */
const writes = { level: 'project', role: 'admin', key: null, operator: true } as const

/** Path of a policy. */
const policyPath = z.strictObject({ policy_id: policyId.describe('Id of the policy.') })

const putBody = z
  .strictObject({ ...policyFields, managed_by: declaredBy })
  .superRefine(({ managed_by: _, ...rules }, context) => {
    // The faults of gates are already reported.
    if (context.issues.length > 0) return
    const { error } = policyBody.safeParse(rules)
    for (const { path, message } of error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
  })
  .superRefine(refuseUnstorable)
  .meta({ id: 'ReleasePolicyRequest' })

/** GET /api/v1/reliability/phase10/release-policies: the policies of a project by id. */
export function listReleasePolicies({ db }: PolicyDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listReleasePolicies',
    summary: 'Release policies of the project, without the built-in one',
    auth: 'jwt_or_key',
    scope: readsPolicies,
    query: z.strictObject({
      managed_by: managedByParameter
        .optional()
        .describe('Only policies that this resource declares.'),
      limit: limitParameter,
      cursor: cursorParameter,
    }),
    reply: record('ReleasePolicyList', {
      policies: z.array(policySchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, managed_by }, caller: { project_id } }) => {
      const [after] = cursor === undefined ? [] : decodeCursor(list, cursor, 1)
      const found = await selectPolicies(
        db,
        { project_id, managed_by },
        {
          after: after === undefined ? undefined : String(after),
          limit: limit + 1,
          count_max: totalExactMax + 1,
        },
      )
      const { items, info } = keyPage(found, { list, limit, keyOf: ({ policy_id }) => policy_id })
      return { policies: items.map(toPolicyReply), ...info }
    },
  })
}

/** GET /api/v1/reliability/phase10/release-policies/{policy_id}: one policy of the project. */
export function getReleasePolicy({ db }: PolicyDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/release-policies/{policy_id}',
    id: 'getReleasePolicy',
    summary: 'Read a release policy',
    etag: true,
    auth: 'jwt_or_key',
    scope: readsPolicies,
    params: policyPath,
    reply: policySchema,
    errors: ['release_policy_not_found', 'store_unavailable'],
    handle: async ({ params: { policy_id }, caller: { project_id } }) => {
      const stored = await findPolicy(db, { project_id, policy_id })
      if (stored === undefined) throw policyNotFound(policy_id)
      return toPolicyAnswer(stored)
    },
  })
}

/**
 * PUT /api/v1/reliability/phase10/release-policies/{policy_id}: creates a policy or its next
 * version. Equal rules change nothing. Certifications that have started keep their version.
 */
export function putReleasePolicy(deps: PolicyDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/reliability/phase10/release-policies/{policy_id}',
    id: 'putReleasePolicy',
    summary: 'Create a release policy, or its next version',
    etag: true,
    auth: 'jwt',
    scope: writes,
    headers: [ifMatchHeader],
    params: policyPath,
    body: putBody,
    reply: policySchema,
    errors: ['managed_by_kubernetes', 'limit_reached', 'precondition_failed', 'store_unavailable'],
    handle: async ({ params, body: { managed_by, ...rules }, caller, headers }) => {
      const stored = await putPolicy(
        deps,
        { ...params, project_id: caller.project_id, headers },
        {
          ...{ rules, managed_by: getDeclarer(caller, { managed_by }) },
          at: new Date(deps.clock.now_ms()),
          by: requesterOf(caller),
        },
      )
      return toPolicyAnswer(stored)
    },
  })
}

/**
 * DELETE /api/v1/reliability/phase10/release-policies/{policy_id}: deletes a policy. Its versions
 * remain, because statements name them. With `retain` the policy is kept, and only its declaration
 * is removed.
 */
export function deleteReleasePolicy(deps: PolicyDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v1/reliability/phase10/release-policies/{policy_id}',
    id: 'deleteReleasePolicy',
    summary: 'Delete a release policy',
    status: 204,
    auth: 'jwt',
    scope: writes,
    headers: [ifMatchHeader],
    params: policyPath,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter(
        '`true`: keep the policy and remove only its declaration. Requires `managed_by`.',
      ),
    }),
    reply: z.undefined(),
    errors: [
      ...(['release_policy_not_found', 'managed_by_kubernetes'] as const),
      ...(['precondition_failed', 'store_unavailable'] as const),
    ],
    handle: async ({ params, query: { managed_by, retain = false }, caller, headers }) => {
      const by = getDeclarer(caller, { managed_by, take_over: retain })
      await deletePolicy(
        deps,
        { ...params, project_id: caller.project_id, headers },
        { by, is_operator: caller.kind === 'operator', retain },
      )
      return undefined
    },
  })
}

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
