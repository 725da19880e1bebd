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
import { idField, keyScopesLimitField, nameField, withEtag } from '../fields.ts'
import { replaceSettings } from './change-store.ts'
import { seenProjectSchema } from './projects.ts'

/**
 * PUT /api/v2/access/projects/{project_id}/settings: renames a project, and limits what its keys may
 * do; keys lose scopes beyond the limit within 30 s. Refused for a project that a resource declares.
 * Only admins of the organization change the limit, because it binds the admins of the project.
 */
export function putProjectSettings({ db, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/settings',
    id: 'putProjectSettings',
    summary: 'Change the name of a project and the limit of its keys',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField }),
    body: record('PutProjectSettingsRequest', { name: nameField, key_scopes: keyScopesLimitField }),
    reply: seenProjectSchema,
    errors: ['project_not_found', 'managed_by_kubernetes', 'name_taken', 'precondition_failed'],
    handle: async ({ params, body, caller, headers }) => {
      const changed = await replaceSettings(db, {
        ...{ ...params, ...body, actor_id: caller.id },
        check: (version) => assertVersion(headers, version),
      })
      if (changed === undefined) throw problem('project_not_found')
      if (changed === 'name_taken') {
        throw problem('name_taken', {
          detail: `The organization has a project "${body.name}" already, which may be archived`,
        })
      }
      if (changed === 'limit_denied') {
        throw problem('permission_denied', {
          detail: 'Only an admin of the organization changes the limit of keys',
        })
      }
      roles.forget()
      return withEtag({ ...changed, role: 'admin' as const })
    },
  })
}
