import { z } from 'zod'
import { totalExactMax } from '../../../../kernel/pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField, pageFields } from '../../fields.ts'
import { idAfter, idPage, idPageQuery } from '../../id-pages.ts'
import { projectMember, projectMemberSchema } from './project-member.ts'
import { listProjectMembers } from './store.ts'

/** GET /api/v2/access/projects/{project_id}/members. */
export function getProjectMembers({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/members',
    id: 'listProjectMembers',
    summary: 'People who can see a project',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: z.strictObject({ project_id: idField }),
    query: z.strictObject(idPageQuery),
    reply: record('ProjectMemberList', { members: z.array(projectMemberSchema), ...pageFields }),
    errors: ['project_not_found', 'invalid_cursor'],
    handle: async ({ params, query }) => {
      const found = await listProjectMembers(db, {
        ...params,
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      })
      const about = { list, limit: query.limit }
      const { items, info } = idPage(found, { ...about, idOf: ({ user_id }) => user_id })
      return { members: items.map(projectMember), ...info }
    },
  })
}

const list = 'project members'
