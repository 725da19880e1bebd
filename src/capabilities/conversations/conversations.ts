import { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import { pageInfo, totalExactMax } from '../../kernel/pages.ts'
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
import type { TaskDeps } from '../tasks/index.ts'
import { conversationFrom, conversationSchema } from './conversation-record.ts'
import {
  type ConversationSort,
  conversationSorts,
  countConversations,
  findConversations,
} from './store.ts'

/** GET /api/v1/conversations: a project's conversations; pages like those of tasks. */
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
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
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
    .describe('What the list is sorted by; then by conversation_id.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

const replySchema = record('ConversationList', {
  conversations: z.array(conversationSchema).describe('The page, in order.'),
  total: z.int().nonnegative().describe('Conversations that the filters let through.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe('`false`: there are more than `total`. Left out when `total` is exact.'),
  next_cursor: z.string().nullable().describe('For the next page; null on the last one.'),
})
