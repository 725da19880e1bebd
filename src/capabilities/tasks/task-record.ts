import { z } from 'zod'
import { shownDollars } from '../../kernel/dollars.ts'
import { expected, isStorable } from '../../model/list-query.ts'
import { dollarsSchema } from '../../model/named-schemas.ts'
import type { TaskRow } from './store.ts'
import { taskStates } from './task-state.ts'
import { verdictOf, verdictSchema } from './task-verdict.ts'

/** The path of one task; the client's own string, percent-encoded in the URL. */
export const taskPath = z.strictObject({
  task_id: z
    .string()
    .min(1, { error: expected('1 to 256 characters') })
    .max(256, { error: expected('at most 256 characters') })
    .refine(isStorable, { error: expected('text without U+0000') })
    .describe("The client's X-Task-ID, or the trace id of a call that came without one."),
})

const count = z.int().nonnegative()

/** Tokens in disjoint buckets: their sum is `total`. */
export const tokensSchema = z
  .strictObject({
    input_uncached: count.describe('Input tokens that the provider had not cached.'),
    cache_read: count.describe('Input tokens read from the provider’s cache.'),
    cache_write: count.describe('Input tokens written to the provider’s cache.'),
    output_visible: count.describe('Output tokens without reasoning.'),
    reasoning: count.describe('Output tokens spent on reasoning.'),
    total: count.describe('Sum of the five buckets.'),
    estimated_calls: count.describe('Calls whose tokens we counted, as the provider did not say.'),
  })
  .meta({ id: 'TokenTotals', description: 'Tokens in disjoint buckets.' })

/** An instant as the API shows it. */
export const instantSchema = z.iso.datetime({ offset: false })

/** What a task looks like in every reply. */
export const taskSchema = z
  .strictObject({
    task_id: z.string().describe("The client's X-Task-ID; the trace id when `implicit`."),
    name: z.string().describe('X-Task-Name of its calls, empty when none came.'),
    user_id: z.string().nullable().describe('X-User-ID of its calls.'),
    conversation: z
      .strictObject({
        id: z.uuid().describe('The UUID of the conversation.'),
        external_id: z
          .string()
          .nullable()
          .describe('What the client sent as X-Conversation-ID, when that was no UUID.'),
      })
      .meta({ id: 'TaskConversation' })
      .nullable()
      .describe('null when its calls named none.'),
    state: z.enum(taskStates).meta({ id: 'TaskState' }).describe('Where the task stands.'),
    stalled: z.boolean().describe('Running, and without a call for longer than the setting.'),
    late_activity: z.boolean().describe('A call came in after the task had ended.'),
    implicit: z.boolean().describe('No X-Task-ID came: the task is one trace.'),
    started_at: instantSchema.describe('Start of the first call.'),
    ended_at: instantSchema.nullable().describe('When it was completed or failed.'),
    last_activity_at: instantSchema.describe('End of the last call.'),
    duration_ms: count.describe('From the start of the first call to the end of the last one.'),
    calls: count.describe('Model calls.'),
    errors: count.describe('Model calls that failed.'),
    cancelled: count.describe('Model calls that the client left.'),
    tokens: tokensSchema,
    cost_usd: dollarsSchema,
    unpriced_calls: count.describe('Calls without a known price; `cost_usd` lacks them.'),
    models: z.array(z.string()).describe('As the providers answered them, sorted.'),
    providers: z.array(z.string()).describe('Providers that were called, sorted.'),
    environment: z.string().nullable().describe('As its latest call named it.'),
    release: z.string().nullable().describe('As its latest call named it.'),
    ended_by: z
      .string()
      .nullable()
      .describe('Who ended it: `<kind>:<id>`; `call` when it ended with its calls.'),
    end_note: z.string().nullable().describe('The note that came with its end.'),
    verdict: verdictSchema.nullable().describe('null until the task was looked at.'),
    url: z.string().describe('The path of this task.'),
  })
  .meta({ id: 'Task' })
export type Task = z.infer<typeof taskSchema>

/** The path of a task's own page, whatever characters its id has. */
export function taskUrl(taskId: string): string {
  return `/api/v1/tasks/${encodeURIComponent(taskId)}`
}

/** Shapes a stored task as it stands at `now_ms`. */
export function taskFrom(
  row: TaskRow,
  { now_ms, stalled_after_ms }: { now_ms: number; stalled_after_ms: number },
): Task {
  const idle_ms = now_ms - Date.parse(row.last_activity_at)
  return {
    task_id: row.task_id,
    name: row.name,
    user_id: row.user_id,
    conversation:
      row.conversation_id === null
        ? null
        : { id: row.conversation_id, external_id: row.conversation_external_id },
    state: row.state,
    stalled: row.state === 'running' && !row.implicit && idle_ms > stalled_after_ms,
    late_activity: row.late_activity,
    implicit: row.implicit,
    started_at: row.started_at,
    ended_at: row.ended_at,
    last_activity_at: row.last_activity_at,
    duration_ms: row.duration_ms,
    calls: row.calls,
    errors: row.errors,
    cancelled: row.cancelled,
    tokens: tokensOf(row),
    cost_usd: shownDollars(row.cost_usd),
    unpriced_calls: row.unpriced_calls,
    models: row.models,
    providers: row.providers,
    environment: row.environment,
    release: row.release,
    ended_by: row.ended_by,
    end_note: row.end_note,
    verdict: verdictOf(row),
    url: taskUrl(row.task_id),
  }
}

/** The buckets of a stored roll-up. */
function tokensOf(row: TaskRow): Task['tokens'] {
  return {
    input_uncached: row.input_uncached_tokens,
    cache_read: row.cache_read_tokens,
    cache_write: row.cache_write_tokens,
    output_visible: row.output_visible_tokens,
    reasoning: row.reasoning_tokens,
    total: row.total_tokens,
    estimated_calls: row.estimated_calls,
  }
}
