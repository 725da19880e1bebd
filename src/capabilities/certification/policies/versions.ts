import { z } from 'zod'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { toVersionReply, versionSchema } from './policy-reply.ts'
import { type PolicyDeps, readsPolicies } from './release-policies.ts'
import { type StoredVersion, versionTable } from './store.ts'

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
    params: versionTable.path,
    query: z.strictObject(idPageQuery),
    reply: record('ReleasePolicyVersionList', {
      versions: z.array(versionSchema),
      ...pageFields,
    }),
    errors: ['release_policy_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params, query, caller: { project_id } }) => {
      const id = versionTable.idIn(params)
      const list = `versions of ${id}`
      const rows = idPageAfter(list, query, isVersion)
      const found = await versionTable.select(db, project_id, { ...rows, filter: { id } })
      if (found.counted === 0) throw versionTable.notFound(id)
      const page = { list, limit: query.limit, idOf: ({ version }: StoredVersion) => `${version}` }
      const { items, info } = idPage(found, page)
      return { versions: items.map(toVersionReply), ...info }
    },
  })
}

const versionPattern = /^[1-9]\d{0,5}$/

const isVersion = (text: string) => versionPattern.test(text)

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
    params: versionTable.path.extend({
      version: z
        .string()
        .regex(versionPattern, 'expected a whole number from 1')
        .describe('Number of the version, from 1.'),
    }),
    reply: versionSchema,
    errors: ['release_policy_not_found', 'store_unavailable'],
    handle: async ({ params: { version, ...named }, caller: { project_id } }) => {
      const filter = { id: versionTable.idIn(named), version: Number(version) }
      const found = await versionTable.findBy(db, project_id, filter)
      if (found === undefined) throw versionTable.notFound(filter.id)
      return toVersionReply(found)
    },
  })
}
