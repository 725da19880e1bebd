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
import { idField, taskRulesOffField, withEtag } from '../fields.ts'
import { seenProjectSchema } from './projects.ts'
import { replaceTaskRulesOff } from './store.ts'

/**
 * PUT /api/v2/access/projects/{project_id}/task-rules: switches off rules that find the sessions and
 * tasks of calls. A proxy follows within 30 s; stored calls stay as they are. Also for a project that
 * a resource declares, because resources say nothing about these rules.
 */
export function putProjectTaskRules({ db }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/task-rules',
    id: 'putProjectTaskRules',
    summary: 'Switch off rules that find the sessions and tasks of calls',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField }),
    body: record('PutProjectTaskRulesRequest', { off: taskRulesOffField }),
    reply: seenProjectSchema,
    errors: ['project_not_found', 'precondition_failed'],
    handle: async ({ params, body, headers }) => {
      const check = (version: number) => assertVersion(headers, version)
      const changed = await replaceTaskRulesOff(db, { ...params, ...body, check })
      if (changed === undefined) throw problem('project_not_found')
      return withEtag({ ...changed, role: 'admin' as const })
    },
  })
}
