import { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import { cutPage, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import {
  cursorAt,
  cursorParameter,
  expected,
  instantParameter,
  isoWindow,
  limitParameter,
  orderParameter,
  positionIn,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type TaskDeps, taskSchema, tasksOfConversation } from '../tasks/index.ts'
import {
  conversationFields,
  conversationFrom,
  conversationNamed,
  conversationPath,
  conversationSchema,
} from './conversation-record.ts'
import {
  type ConversationSort,
  conversationSorts,
  countConversations,
  findConversations,
} from './store.ts'

/** GET /api/v1/conversations: a project's conversations, with pages like those of tasks. */
export function listConversations({ db }: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations',
    id: 'listConversations',
    summary: 'Conversations, filtered and sorted',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    query: querySchema,
    reply: replySchema,
    errors: ['invalid_cursor'],
    handle: async ({ query, caller: { project_id } }) => {
      const { sort, order, limit, cursor, user_id, model } = query
      const { column, kind } = conversationSorts[sort]
      const sorted = { list: 'conversations', sort, order, kind }
      const after = cursor === undefined ? undefined : positionIn(sorted, cursor, isUuid)
      const filter = { user_id, model, ...isoWindow(query) }
      const [rows, total] = await Promise.all([
        findConversations(db, project_id, filter, { sort, order, after, limit: limit + 1 }),
        countConversations(db, project_id, filter, totalExactMax + 1),
      ])
      const { items: page, last } = cutPage(rows, limit)
      const next = last && cursorAt(sorted, { value: last[column], id: last.conversation_id })
      return { conversations: page.map(conversationFrom), ...pageInfo(total, next ?? null) }
    },
  })
}

const sorts = Object.keys(conversationSorts) as ConversationSort[]

const querySchema = z.strictObject({
  user_id: textParameter('Only conversations of this user.'),
  model: textParameter('Only conversations in which this model answered.'),
  from: instantParameter('Only those whose last activity is at or after this instant.'),
  to: instantParameter('Only those that started before this instant.'),
  sort: z
    .enum(sorts, { error: expected(`one of ${sorts.join(', ')}`) })
    .default('last_activity_at')
    .describe('Sort field; ties are ordered by conversation_id.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

const replySchema = record('ConversationList', {
  conversations: z.array(conversationSchema).describe('The page, in order.'),
  total: z.int().nonnegative().describe('Conversations that match the filters.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe('`false`: the number is larger than `total`. Left out when `total` is exact.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
})

/** GET /api/v1/conversations/{conversation_id}: one conversation with its sums and first tasks. */
export function getConversation(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}',
    id: 'getConversation',
    summary: 'One conversation: sums, states and first tasks',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    reply: detailSchema,
    errors: ['conversation_not_found'],
    handle: async ({ params, caller: { project_id } }) => {
      const row = await conversationNamed(deps, project_id, params.conversation_id)
      const { conversation_id } = row
      const first = await tasksOfConversation(deps, project_id, conversation_id, shownTasks_max)
      return {
        ...conversationFrom(row),
        task_states: first.states,
        tasks: first.tasks,
        tasks_url: `/api/v1/tasks?${new URLSearchParams({ conversation_id })}`,
      }
    },
  })
}

/** Most tasks in a reply; `tasks_url` lists all of them. */
const shownTasks_max = 50

const detailSchema = z
  .strictObject({
    ...conversationFields,
    task_states: z
      .strictObject({
        running: z.int().nonnegative().describe('Running tasks, stalled ones included.'),
        completed: z.int().nonnegative().describe('Completed tasks.'),
        failed: z.int().nonnegative().describe('Failed tasks.'),
        stalled: z
          .int()
          .nonnegative()
          .describe('Running tasks that have had no call for the configured time.'),
      })
      .meta({ id: 'TaskStateCounts' })
      .describe('Numbers of its tasks by state.'),
    tasks: z
      .array(taskSchema)
      .describe(`Its first ${shownTasks_max} tasks, in the order they started.`),
    tasks_url: z.string().describe('The path that lists all of its tasks.'),
  })
  .meta({ id: 'ConversationDetail' })
