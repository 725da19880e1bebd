import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { seenProjectSchema } from './project-schema.ts'
import { findProject } from './store.ts'

/** GET /api/v2/access/projects/{project_id}. */
export function getProject({ db, roles }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}',
    id: 'getProject',
    summary: 'One project',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'access:read', operator: true },
    params: z.strictObject({ project_id: idField }),
    reply: seenProjectSchema,
    errors: ['project_not_found'],
    handle: async ({ params, caller }) => {
      const project = await findProject(db, params.project_id)
      if (project === undefined) throw problem('project_not_found')
      const seen =
        caller.kind === 'user' ? await roles.projectRole(caller.id, project.id) : undefined
      return { ...project, role: seen?.role ?? null }
    },
  })
}
