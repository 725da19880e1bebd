import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { taskPath } from '../tasks/index.ts'
import { feedbackNotFound } from './items/change-items.ts'
import { feedbackIdField, revisionSchema } from './items/feedback-record.ts'
import { findItem, listRevisions, type RevisionRow } from './items/items-store.ts'
import { type FeedbackDeps, findKey } from './named-item.ts'

/** GET /api/v1/tasks/{task_id}/feedback/{feedback_id}/history: at most 100 versions. */
export function getFeedbackHistory(deps: FeedbackDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/feedback/{feedback_id}/history',
    id: 'getFeedbackHistory',
    summary: 'Versions of an item, oldest first',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath.extend({ feedback_id: feedbackIdField }),
    reply: record('FeedbackHistory', {
      versions: z.array(revisionSchema),
      total: z.int().nonnegative(),
    }),
    errors: ['feedback_not_found'],
    handle: async ({ params, caller }) => {
      const key = await findKey(deps, caller, params)
      if ((await findItem(deps.db, key)) === undefined) throw feedbackNotFound(params.feedback_id)
      const rows = await listRevisions(deps.db, key)
      return { versions: rows.map(toRevision), total: rows.length }
    },
  })
}

type Shown = z.input<typeof revisionSchema>

function toRevision({ version, action, at, actor, value }: RevisionRow): Shown {
  return { version, action, at, actor, value: value as Shown['value'] }
}
