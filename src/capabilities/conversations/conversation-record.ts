import { z } from 'zod'
import { shownDollars } from '../../kernel/dollars.ts'
import { conversationIdFrom } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { expected, isStorable } from '../../model/list-query.ts'
import { dollarsSchema } from '../../model/named-schemas.ts'
import { instantSchema, type TaskDeps } from '../tasks/index.ts'
import { type ConversationRow, findConversation } from './store.ts'

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
export const conversationFields = {
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
export type Conversation = z.infer<typeof conversationSchema>

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
