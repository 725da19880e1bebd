import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField, withEtag } from '../fields.ts'
import { setArchived } from './change-store.ts'
import { seenProjectSchema } from './projects.ts'

/**
 * POST /api/v2/access/projects/{project_id}/archive: makes a project read-only. Changes and ingest
 * are refused, by other processes within 30 s. Its data is kept, and retention continues. A
 * repeated call changes nothing.
 */
export function archiveProject(access: Access): Route {
  return defineRoute({
    ...archiveRoute,
    url: '/api/v2/access/projects/{project_id}/archive',
    id: 'archiveProject',
    summary: 'Archive a project: its data can be read, and changes are refused',
    handle: ({ params }) => switchArchived(access, { ...params, archived: true }),
  })
}

/** The common parts of the routes that archive and restore a project. */
export const archiveRoute = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'project', role: 'admin', key: null, in_archived: true },
  etag: true,
  params: z.strictObject({ project_id: idField }),
  reply: seenProjectSchema,
  errors: ['project_not_found', 'managed_by_kubernetes'],
} as const

/** Archives or restores a project. Throws `project_not_found`, `managed_by_kubernetes`. */
export async function switchArchived(
  { db, clock, roles }: Access,
  change: { project_id: string; archived: boolean },
) {
  const project = await setArchived(db, { ...change, now: new Date(clock.now_ms()) })
  if (project === undefined) throw problem('project_not_found')
  roles.forget()
  return withEtag({ ...project, role: 'admin' as const })
}
