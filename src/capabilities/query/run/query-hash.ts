import { createHash } from 'node:crypto'

/** What a query is known by in logs and cursors: the same for the same project and words. */
export function hashOf(project_id: string, form: object): string {
  const { limit: _page, ...asked } = form as { limit?: unknown }
  const text = JSON.stringify([project_id, asked])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
