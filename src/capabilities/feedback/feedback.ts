import { z } from 'zod'
import { cutPage, pageInfo } from '../../kernel/pages.ts'
import {
  cursorAt,
  cursorParameter,
  expected,
  flagParameter,
  limitParameter,
  orderParameter,
  positionIn,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import {
  Answer,
  assertVersion,
  type Caller,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
} from '../../platform/http/index.ts'
import { taskNotFound, taskPath } from '../tasks/index.ts'
import { createItem, editItem, feedbackNotFound, withdrawItem } from './items/change-items.ts'
import {
  createFeedbackBody,
  editFeedbackBody,
  endUserParameter,
  feedbackIdField,
  feedbackSchema,
  toBrowserFeedback,
  toFeedback,
} from './items/feedback-record.ts'
import { type FeedbackRow, findItem, hasFeedback, listItems } from './items/items-store.ts'
import { maskOf, readNewItem, readValue, refuseGivenSentiment } from './items/read-item.ts'
import { changeBy, type FeedbackDeps, findKey, findTask } from './named-item.ts'
import { sentiments } from './votes/sentiment.ts'
import { feedbackSources } from './votes/vote.ts'

/** Maximum size of a body: two texts of 10,000 characters fit, even if each is escaped. */
const body_bytes_max = 256 * 1024

const reads = { level: 'project', role: 'viewer', key: 'tasks:read' } as const
const writes = {
  level: 'project',
  role: 'editor',
  key: 'feedback:write',
  browser: true,
} as const

/** POST /api/v1/tasks/{task_id}/feedback: stores an item. The task may arrive later. */
export function createFeedback(deps: FeedbackDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/tasks/{task_id}/feedback',
    id: 'createFeedback',
    summary: 'Record feedback on a task',
    audit: 'people',
    auth: 'jwt_or_key',
    scope: writes,
    status: 201,
    also: {
      status: 200,
      description: 'The item exists already, from an identical call.',
      reply: feedbackSchema,
    },
    etag: true,
    idempotent: true,
    body_bytes_max,
    params: taskPath,
    body: createFeedbackBody,
    reply: feedbackSchema,
    errors: ['feedback_conflict', 'limit_reached', 'feedback_queue_full'],
    handle: async ({ params, body, caller, network }) => {
      const now_ms = deps.clock.now_ms()
      deps.browsers.take({ caller, user_id: body.user_id, network, now_ms })
      const policy = await deps.policies.policyOf(caller.project_id)
      const task_id = maskOf(policy)(params.task_id)
      const network_tag = deps.network_tags({ project_id: caller.project_id, task_id, network })
      const item = readNewItem({ ...params, caller, body, policy, network_tag, now_ms })
      const { row, is_new } = await createItem({ ...deps, now_ms }, item)
      return changed(row, { caller, task_id, status: is_new ? 201 : 200 })
    },
  })
}

/** GET /api/v1/tasks/{task_id}/feedback: lists items, even of a task that was not seen yet. */
export function listFeedback(deps: FeedbackDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/feedback',
    id: 'listFeedback',
    summary: 'Feedback of a task, newest first',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: reads,
    params: taskPath,
    query: listQuery,
    reply: record('FeedbackList', {
      feedback: z.array(feedbackSchema).describe('The page, in order.'),
      total: z.int().nonnegative().describe('Items that match the filters.'),
      next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
    }),
    errors: ['task_not_found', 'invalid_cursor'],
    handle: async ({ params, query, caller }) => {
      const { order, limit, cursor, counts, ...filter } = query
      const sorted = { list: 'feedback', sort: 'created_at', kind: 'instant', order } as const
      const after = cursor === undefined ? undefined : positionIn(sorted, cursor, isItemId)
      const seen = await findTask(deps, caller, params.task_id)
      const task = { project_id: caller.project_id, task_id: seen.task_id }
      if (!seen.is_seen && !(await hasFeedback(deps.db, task))) throw taskNotFound(params.task_id)
      const page = { order, after, limit: limit + 1 }
      const { rows, total } = await listItems(deps.db, task, { ...filter, counts }, page)
      const { items, last } = cutPage(rows, limit)
      return {
        feedback: items.map(toFeedback),
        ...pageInfo(
          total,
          last ? cursorAt(sorted, { value: last.created_at, id: last.feedback_id }) : null,
        ),
      }
    },
  })
}

/** GET /api/v1/tasks/{task_id}/feedback/{feedback_id}. */
export function getFeedback(deps: FeedbackDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/feedback/{feedback_id}',
    id: 'getFeedback',
    summary: 'An item of feedback',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: reads,
    etag: true,
    params: itemPath,
    reply: feedbackSchema,
    errors: ['feedback_not_found'],
    handle: async ({ params, caller }) => {
      const key = await findKey(deps, caller, params)
      const row = await findItem(deps.db, key)
      if (row === undefined) throw feedbackNotFound(params.feedback_id)
      return answer(row, 200)
    },
  })
}

/** PUT /api/v1/tasks/{task_id}/feedback/{feedback_id}: replaces the values. */
export function editFeedback(deps: FeedbackDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/tasks/{task_id}/feedback/{feedback_id}',
    id: 'editFeedback',
    summary: 'Replace the values of an item',
    audit: 'people',
    auth: 'jwt_or_key',
    scope: writes,
    etag: true,
    headers: [ifMatchHeader],
    body_bytes_max,
    params: itemPath,
    query: z.strictObject({ user_id: endUserParameter }),
    body: editFeedbackBody,
    reply: feedbackSchema,
    errors: ['feedback_not_found', 'feedback_withdrawn', 'limit_reached', 'precondition_failed'],
    handle: async ({ params, query, body, caller, headers, network }) => {
      const now_ms = deps.clock.now_ms()
      deps.browsers.take({ caller, user_id: query.user_id, network, now_ms })
      const policy = await deps.policies.policyOf(caller.project_id)
      const key = await findKey(deps, caller, params)
      const proof = changeBy(caller, { user_id: query.user_id && maskOf(policy)(query.user_id) })
      const row = await editItem({ ...deps, now_ms }, key, {
        ...proof,
        value: readValue(body, policy),
        check: (stored) => {
          proof.check(stored)
          refuseGivenSentiment(body, stored.source)
          assertVersion(headers, stored.version)
        },
      })
      return changed(row, { caller, task_id: maskOf(policy)(params.task_id), status: 200 })
    },
  })
}

/** DELETE /api/v1/tasks/{task_id}/feedback/{feedback_id}: withdraws it; its history stays. */
export function withdrawFeedback(deps: FeedbackDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v1/tasks/{task_id}/feedback/{feedback_id}',
    id: 'withdrawFeedback',
    summary: 'Withdraw an item, so that rates no longer count it',
    audit: 'people',
    auth: 'jwt_or_key',
    scope: writes,
    etag: true,
    headers: [ifMatchHeader],
    params: itemPath,
    query: z.strictObject({ user_id: endUserParameter }),
    reply: feedbackSchema,
    errors: ['feedback_not_found', 'precondition_failed'],
    handle: async ({ params, query, caller, headers, network }) => {
      const now_ms = deps.clock.now_ms()
      deps.browsers.take({ caller, user_id: query.user_id, network, now_ms })
      const policy = await deps.policies.policyOf(caller.project_id)
      const key = await findKey(deps, caller, params)
      const proof = changeBy(caller, { user_id: query.user_id && maskOf(policy)(query.user_id) })
      const check = (stored: FeedbackRow) => {
        proof.check(stored)
        assertVersion(headers, stored.version)
      }
      const row = await withdrawItem({ ...deps, now_ms }, key, { ...proof, check })
      return changed(row, { caller, task_id: maskOf(policy)(params.task_id), status: 200 })
    },
  })
}

const itemPath = taskPath.extend({ feedback_id: feedbackIdField })

const listQuery = z.strictObject({
  source: z
    .enum(feedbackSources, { error: expected(feedbackSources.join(', ')) })
    .optional()
    .describe('Only items of this source.'),
  state: z
    .enum(['pending', 'attached', 'withdrawn'], {
      error: expected('pending, attached or withdrawn'),
    })
    .optional()
    .describe('Only items in this state.'),
  sentiment: z
    .enum(sentiments, { error: expected(sentiments.join(', ')) })
    .optional()
    .describe('Only items with this sentiment.'),
  counts: flagParameter('`true`: only items that rates count. `false`: only the others.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

function isItemId(id: string): boolean {
  return feedbackIdField.safeParse(id).success
}

function answer(row: FeedbackRow, status: 200 | 201, shown = toFeedback(row)) {
  return new Answer(shown, { status, headers: { etag: etagOf(row.version) } })
}

/** Answers a change. A browser key does not learn from it whether the task was seen. */
function changed(
  row: FeedbackRow,
  { caller, task_id, status }: { caller: Caller; task_id: string; status: 200 | 201 },
) {
  const isBrowser = caller.browser !== undefined
  return answer(row, status, isBrowser ? toBrowserFeedback(row, task_id) : toFeedback(row))
}
