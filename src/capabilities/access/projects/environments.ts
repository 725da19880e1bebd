import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  assertVersion,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { environmentsField, idField, withEtag } from '../fields.ts'
import { seenProjectSchema } from './projects.ts'
import { replaceEnvironments } from './store.ts'

/**
 * PUT /api/v2/access/projects/{project_id}/environments: replaces the names that the environment of
 * a new key can have. Keys that exist stay valid. Refused for a project that a resource declares.
 */
export function putProjectEnvironments({ db }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/environments',
    id: 'putProjectEnvironments',
    summary: 'Replace the environments of a project',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField }),
    body: record('PutProjectEnvironmentsRequest', { environments: environmentsField }),
    reply: seenProjectSchema,
    errors: ['project_not_found', 'managed_by_kubernetes', 'precondition_failed'],
    handle: async ({ params, body, headers }) => {
      const check = (version: number) => assertVersion(headers, version)
      const changed = await replaceEnvironments(db, { ...params, ...body, check })
      if (changed === undefined) throw problem('project_not_found')
      return withEtag({ ...changed, role: 'admin' as const })
    },
  })
}
