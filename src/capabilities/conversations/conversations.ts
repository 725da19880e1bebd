import { z } from 'zod'
import { shownDollars } from '../../kernel/dollars.ts'
import { conversationIdFrom, isUuid } from '../../kernel/ids.ts'
import { cutPage, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import {
  cursorAt,
  cursorParameter,
  expected,
  instantParameter,
  isoWindow,
  isStorable,
  limitParameter,
  orderParameter,
  positionIn,
  textParameter,
} from '../../model/list-query.ts'
import { dollarsSchema, record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { instantSchema, type TaskDeps, taskSchema, tasksOfConversation } from '../tasks/index.ts'
import {
  type ConversationRow,
  type ConversationSort,
  conversationSorts,
  countConversations,
  findConversation,
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

/** The path of one conversation. */
export const conversationPath = z.strictObject({
  conversation_id: z
    .string()
    .min(1, { error: expected('1 to 256 characters') })
    .max(256, { error: expected('at most 256 characters') })
    .refine(isStorable, { error: expected('text without U+0000') })
    .describe("The conversation's UUID, or the client's X-Conversation-ID."),
})

const count = z.int().nonnegative()

/** Fields of a conversation in every reply. */
const conversationFields = {
  conversation_id: z.uuid().describe('Its UUID.'),
  external_id: z
    .string()
    .nullable()
    .describe('X-Conversation-ID as the client sent it; null when it is a UUID.'),
  user_id: z.string().nullable().describe('X-User-ID of its calls.'),
  started_at: instantSchema.describe('Start of the first call.'),
  last_activity_at: instantSchema.describe('End of the last call.'),
  duration_ms: count.describe('From the start of the first call to the end of the last one.'),
  total_tasks: count.describe('Number of tasks.'),
  total_traces: count.describe('Number of traces.'),
  calls: count.describe('Model calls.'),
  errors: count.describe('Model calls that failed.'),
  total_tokens: count.describe('Tokens of all buckets.'),
  cost_usd: dollarsSchema,
  models: z.array(z.string()).describe('Models that answered, sorted.'),
  url: z.string().describe('The path of this conversation.'),
}

export const conversationSchema = z.strictObject(conversationFields).meta({ id: 'Conversation' })
type Conversation = z.infer<typeof conversationSchema>

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
  total: count.describe('Conversations that match the filters.'),
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
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    reply: detailSchema,
    errors: ['conversation_not_found'],
    handle: async ({ params, caller: { project_id } }) => {
      const row = await conversationNamed(deps, project_id, params.conversation_id)
      const { conversation_id } = row
      const first = await tasksOfConversation(deps, project_id, conversation_id, maxShownTasks)
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
const maxShownTasks = 50

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
      .describe(`Its first ${maxShownTasks} tasks, in the order they started.`),
    tasks_url: z.string().describe('The path that lists all of its tasks.'),
  })
  .meta({ id: 'ConversationDetail' })

/** Shapes a stored conversation for a reply. */
export function conversationFrom(row: ConversationRow): Conversation {
  const { started_at, last_activity_at } = row
  return {
    conversation_id: row.conversation_id,
    external_id: row.external_id,
    user_id: row.user_id,
    started_at,
    last_activity_at,
    duration_ms: Math.max(0, Date.parse(last_activity_at) - Date.parse(started_at)),
    total_tasks: row.tasks,
    total_traces: row.traces,
    calls: row.calls,
    errors: row.errors,
    total_tokens: row.total_tokens,
    cost_usd: shownDollars(row.cost_usd),
    models: row.models,
    url: `/api/v1/conversations/${row.conversation_id}`,
  }
}

/**
 * Returns the project's conversation by the id in a path: its UUID or the client's own id. Throws
 * `conversation_not_found`, also for a conversation of another project.
 */
export async function conversationNamed(
  { db }: Pick<TaskDeps, 'db'>,
  projectId: string,
  given: string,
): Promise<ConversationRow> {
  const { conversation_id } = conversationIdFrom(projectId, given)
  const row = await findConversation(db, projectId, conversation_id)
  if (row !== undefined) return row
  throw problem('conversation_not_found', {
    detail: `conversation_id: got "${given}", which is no conversation of this project`,
  })
}
