import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField } from '../../fields.ts'
import { keyNotFound, keySchema } from '../../keys/key-record.ts'
import { findKey } from '../../keys/store.ts'

/** GET /api/v2/access/projects/{project_id}/api-keys/{api_key_id}: one key, without its secret. */
export function getApiKey({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}',
    id: 'getApiKey',
    summary: 'One key of a project',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    reply: keySchema,
    errors: ['project_not_found', 'api_key_not_found'],
    handle: async ({ params }) => {
      const key = await findKey(db, params)
      if (key === undefined) throw keyNotFound(params.api_key_id)
      return key
    },
  })
}
