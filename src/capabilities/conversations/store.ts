import type { SortPosition } from '../../model/list-query.ts'
import {
  afterPosition,
  allOf,
  countUpTo,
  type Kysely,
  type Selectable,
  sql,
  type TaskTables,
} from '../../platform/relational/index.ts'

export type ConversationRow = Selectable<TaskTables['conversations']>

/** Filters of a list of conversations. Instants are ISO 8601. */
export type ConversationFilter = {
  user_id?: string | undefined
  model?: string | undefined
  /** Conversations with activity at or after this instant. */
  from?: string | undefined
  /** Conversations that started before this instant. */
  to?: string | undefined
}

/** Sort fields of a list of conversations, with their columns. */
export const conversationSorts = {
  last_activity_at: { column: 'last_activity_at', kind: 'instant' },
  started_at: { column: 'started_at', kind: 'instant' },
  cost_usd: { column: 'cost_usd', kind: 'decimal' },
  total_tokens: { column: 'total_tokens', kind: 'count' },
  calls: { column: 'calls', kind: 'count' },
  total_tasks: { column: 'tasks', kind: 'count' },
  total_traces: { column: 'traces', kind: 'count' },
} as const
export type ConversationSort = keyof typeof conversationSorts

/** Returns one page of a project's conversations. Throws `store_unavailable`. */
export async function findConversations(
  db: Kysely<TaskTables>,
  projectId: string,
  filter: ConversationFilter,
  page: {
    sort: ConversationSort
    order: 'asc' | 'desc'
    after: SortPosition | undefined
    limit: number
  },
): Promise<ConversationRow[]> {
  const { sort, order, after, limit } = page
  const column = sql.ref(conversationSorts[sort].column)
  const position = after && afterPosition(column, sql.ref('conversation_id'), { order, after })
  return db
    .selectFrom('conversations')
    .selectAll()
    .where(allOf([...conditionsOf(projectId, filter), position]))
    .orderBy(column, order)
    .orderBy('conversation_id', order)
    .limit(limit)
    .execute()
}

/** Counts conversations up to `limit`. Throws `store_unavailable`. */
export async function countConversations(
  db: Kysely<TaskTables>,
  projectId: string,
  filter: ConversationFilter,
  limit: number,
): Promise<number> {
  const found = db.selectFrom('conversations').where(allOf(conditionsOf(projectId, filter)))
  return countUpTo(db, found.select('conversation_id'), limit)
}

/** Returns one conversation, or undefined. Throws `store_unavailable`. */
export async function findConversation(
  db: Kysely<TaskTables>,
  projectId: string,
  conversationId: string,
): Promise<ConversationRow | undefined> {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()
}

function conditionsOf(projectId: string, { user_id, model, from, to }: ConversationFilter) {
  return [
    sql<boolean>`project_id = ${projectId}`,
    user_id === undefined ? undefined : sql<boolean>`user_id = ${user_id}`,
    model === undefined ? undefined : sql<boolean>`models @> array[${model}]::text[]`,
    from === undefined ? undefined : sql<boolean>`last_activity_at >= ${from}`,
    to === undefined ? undefined : sql<boolean>`started_at < ${to}`,
  ]
}
