import { z } from 'zod'
import { totalExactMax } from '../../../kernel/pages.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { nameField } from '../fields.ts'
import { idAfter, idPage, idPageQuery } from '../id-pages.ts'
import { projectListSchema } from './project-schema.ts'
import { listAllProjects, listProjects } from './store.ts'

/**
 * GET /api/v2/access/projects: all that the caller can see, in whatever organization; an operator sees
 * every one.
 */
export function getProjects({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects',
    id: 'listProjects',
    summary: 'Projects that you can see',
    auth: 'jwt',
    scope: { level: 'user', operator: true },
    query: z.strictObject({
      name: nameField.optional().describe('Only projects of just this name.'),
      ...idPageQuery,
    }),
    reply: projectListSchema,
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const page = {
        name: query.name,
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      }
      const found = await (caller.kind === 'operator'
        ? listAllProjects(db, page)
        : listProjects(db, { ...page, user_id: caller.id }))
      const { items, info } = idPage(found, { list, limit: query.limit, idOf: ({ id }) => id })
      return { projects: items, ...info }
    },
  })
}

const list = 'projects'
