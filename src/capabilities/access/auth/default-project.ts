import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { setDefaultProject } from './store.ts'

/** PUT /api/v1/auth/default-project: sets the caller's default project. */
export function putDefaultProject({ db, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/auth/default-project',
    id: 'setDefaultProject',
    summary: 'Set your default project, for calls that name no project',
    auth: 'jwt',
    scope: { level: 'user' },
    body: record('SetDefaultProjectRequest', { project_id: idField }),
    reply: record('DefaultProject', { project_id: z.uuid() }),
    errors: ['project_not_found'],
    handle: async ({ body: { project_id }, caller }) => {
      if (!(await setDefaultProject(db, { user_id: caller.id, project_id }))) {
        throw problem('project_not_found', {
          detail: `There is no project "${project_id}" that you can see`,
        })
      }
      roles.forget()
      return { project_id }
    },
  })
}
