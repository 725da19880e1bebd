import {
  prepared,
  sql,
  type TaskTables,
  type Transaction,
} from '../../../platform/relational/index.ts'
import type { ConversationRollup } from '../../storage/index.ts'
import { assignments, definitions } from './columns.ts'
import { saturate } from './saturate.ts'
import { isoFromMs, msFromNs, type TouchedConversation } from './touched.ts'

type Trx = Transaction<TaskTables>

/** A conversation's row, locked until the transaction ends. */
export type LockedConversation = { project_id: string; conversation_id: string; started_at: string }

/** Inserts new conversations, and locks all of them in the given order. */
export async function lockConversations(
  trx: Trx,
  conversations: readonly TouchedConversation[],
): Promise<LockedConversation[]> {
  const given = conversations.map((conversation) => ({
    project_id: conversation.project_id,
    conversation_id: conversation.conversation_id,
    started_at: isoFromMs(msFromNs(conversation.first_start)),
    last_activity_at: isoFromMs(msFromNs(conversation.last_end)),
  }))
  const { rows } = await sql<LockedConversation>`
    insert into conversations (project_id, conversation_id, started_at, last_activity_at)
    select project_id, conversation_id, started_at, last_activity_at
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, conversation_id uuid, started_at timestamptz, last_activity_at timestamptz
    )
    on conflict (project_id, conversation_id) do update set
      started_at = least(conversations.started_at, excluded.started_at),
      last_activity_at = greatest(conversations.last_activity_at, excluded.last_activity_at)
    returning project_id, conversation_id, started_at
  `.execute(prepared(trx, 'lock_conversations'))
  return rows
}

/** The new roll-up of a conversation. */
type ConversationUpdate = { project_id: string; rollup: ConversationRollup }

/** Writes recomputed roll-ups of locked conversations. */
export async function writeConversations(
  trx: Trx,
  updates: readonly ConversationUpdate[],
): Promise<void> {
  const given = updates.map(({ project_id, rollup }) => recordOf(rollup, { project_id }))
  await sql`
    update conversations set ${assignments('conversations', conversationColumns)}, updated_at = now()
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, conversation_id uuid, ${definitions(conversationColumns)}
    )
    where conversations.project_id = given.project_id
      and conversations.conversation_id = given.conversation_id
  `.execute(prepared(trx, 'write_conversations'))
}

/** Columns to write, with their types. */
const conversationColumns = {
  external_id: 'text',
  user_id: 'text',
  started_at: 'timestamptz',
  last_activity_at: 'timestamptz',
  tasks: 'bigint',
  traces: 'bigint',
  calls: 'bigint',
  errors: 'bigint',
  total_tokens: 'bigint',
  cost_usd: 'numeric',
  models: 'text[]',
} as const

/**
 * Converts a conversation's roll-up to a record. Empty values become null. Times are cut to whole
 * milliseconds, as the columns hold them, so a start is never stored later than it was.
 */
function recordOf(rollup: ConversationRollup, more: object): object {
  const { first_start, last_end, ...columns } = saturate(rollup)
  const known = Object.entries(columns).map(([column, value]) => [
    column,
    value === '' ? null : value,
  ])
  return {
    ...Object.fromEntries(known),
    started_at: isoFromMs(msFromNs(first_start)),
    last_activity_at: isoFromMs(msFromNs(last_end)),
    ...more,
  }
}
