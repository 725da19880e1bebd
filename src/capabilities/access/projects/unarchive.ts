import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { archiveRoute, switchArchived } from './archive.ts'

/**
 * POST /api/v2/access/projects/{project_id}/unarchive: accepts changes and ingest again, in other
 * processes within 30 s. Keys that were not revoked are valid again.
 */
export function unarchiveProject(access: Access): Route {
  return defineRoute({
    ...archiveRoute,
    url: '/api/v2/access/projects/{project_id}/unarchive',
    id: 'unarchiveProject',
    summary: 'Restore an archived project',
    handle: ({ params }) => switchArchived(access, { ...params, archived: false }),
  })
}
