import { isoFromNs } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { RetentionSlice, RetentionTarget, UserErasure } from '../../storage/index.ts'
import type { FeedbackDb } from '../ports.ts'

/** Maximum items per statement. */
const items_max = 1_000

/**
 * Opens the retention of feedback. The database deletes items with their task. When observations
 * are deleted or their content is masked, the texts of the feedback on their tasks are deleted too:
 * comments, corrections and metadata of all versions. Erasing a user removes the texts and every id
 * of the user's items. The votes stay, without a user, so that rates do not change. Items under a
 * legal hold stay as they are.
 */
export function openFeedbackRetention({ db }: { db: FeedbackDb }): RetentionTarget {
  return {
    store: 'postgres',
    kinds: ['observations'],
    deleteRows: (slice, signal) => expireTexts(db, slice, signal),
    maskContent: (slice, signal) => expireTexts(db, slice, signal),
    eraseUser: (erasure, signal) => forgetUser(db, erasure, signal),
    countHeld: (erasure) => countHeld(db, erasure),
  }
}

async function expireTexts(
  db: FeedbackDb,
  slice: RetentionSlice,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (slice.kind !== 'observations') return
  await repeat(signal, async () => {
    const { rows } = await sql`
      with chosen as (
        select item.project_id, item.task_id, item.feedback_id
        from feedback_tasks as task
        join tasks on tasks.project_id = task.project_id and tasks.task_id = task.task_ref
        join feedback as item on item.project_id = task.project_id and item.task_id = task.task_id
        where task.project_id = ${slice.project_id} and ${isInSlice(slice)}
          and ${hasTexts} and not ${isHeld(slice.held_trace_ids)}
        limit ${items_max} for update of item
      ), earlier as (
        update feedback_revisions as version
        set value = value || '{"comment": null, "correction": null, "metadata": {}}'
        from chosen where (version.project_id, version.task_id, version.feedback_id)
          = (chosen.project_id, chosen.task_id, chosen.feedback_id)
      )
      update feedback as item set comment = null, correction = null, metadata = '{}'
      from chosen where (item.project_id, item.task_id, item.feedback_id)
        = (chosen.project_id, chosen.task_id, chosen.feedback_id)
      returning 1`.execute(db)
    return rows.length
  })
}

function isInSlice({ from, to, environments }: RetentionSlice) {
  const inEnvironment =
    environments === undefined
      ? sql`true`
      : sql`coalesce(tasks.environment, '') = any(${[...environments]})`
  return sql`tasks.started_at < ${isoFromNs(to)} and tasks.last_activity_at >= ${isoFromNs(from)}
    and ${inEnvironment}`
}

const hasTexts = sql`(item.comment is not null or item.correction is not null
  or item.metadata <> '{}' or item.version > 1 and exists (
    select from feedback_revisions as version
    where (version.project_id, version.task_id, version.feedback_id)
      = (item.project_id, item.task_id, item.feedback_id)
      and (version.value ->> 'comment' is not null or version.value ->> 'correction' is not null
        or version.value -> 'metadata' <> '{}')))`

/** Matches an `item` whose trace or user, or whose task, is held. */
function isHeld(held_trace_ids: readonly string[]) {
  return sql`(${isItemHeld(held_trace_ids)} or ${isTaskHeld})`
}

function isItemHeld(held_trace_ids: readonly string[]) {
  return sql`(coalesce(item.trace_id = any(${[...held_trace_ids]}::uuid[]), false) or exists (
    select from legal_holds as hold
    where hold.project_id = item.project_id and hold.released_at is null
      and (hold.kind = 'trace' and hold.value = item.trace_id::text
        or hold.kind = 'user' and hold.value = item.user_id)))`
}

/**
 * Matches a `task` with feedback by a hold of the task, its conversation or its user. A task that
 * was not seen yet, without a row in `tasks`, matches by its id.
 */
const isTaskHeld = sql`exists (
  select from legal_holds as hold
  where hold.project_id = task.project_id and hold.released_at is null and (
    hold.kind in ('task', 'trace') and hold.value in (task.task_id, tasks.task_id)
    or hold.kind = 'user' and hold.value = tasks.user_id
    or hold.kind = 'conversation' and (hold.value = tasks.conversation_id::text or exists (
      select from conversations as talk
      where talk.project_id = tasks.project_id
        and talk.conversation_id = tasks.conversation_id and talk.external_id = hold.value))))`

/** The items of a user, each with its task. */
function itemsOf({ project_id, user_id }: Pick<UserErasure, 'project_id' | 'user_id'>) {
  return sql`feedback as item
    join feedback_tasks as task using (project_id, task_id)
    left join tasks on tasks.project_id = task.project_id and tasks.task_id = task.task_ref
    where item.project_id = ${project_id} and item.user_id = ${user_id}`
}

async function countHeld(db: FeedbackDb, erasure: Omit<UserErasure, 'trace_ids'>): Promise<number> {
  const { rows } = await sql<{ items: number }>`
    select count(*)::int as items from ${itemsOf(erasure)}
      and ${isHeld(erasure.held_trace_ids)}`.execute(db)
  return rows[0]?.items ?? 0
}

async function forgetUser(
  db: FeedbackDb,
  erasure: UserErasure,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { project_id, user_id, held_trace_ids } = erasure
  await repeat(signal, () => db.transaction().execute((trx) => forgetSome(trx, erasure)))
  await sql`
    update feedback_tasks as changed set cluster = ${'erased:'} || gen_random_uuid()
    from feedback_tasks as task
    left join tasks on tasks.project_id = task.project_id and tasks.task_id = task.task_ref
    where task.project_id = ${project_id} and task.cluster = ${`user:${user_id}`}
      and (changed.project_id, changed.task_id) = (task.project_id, task.task_id)
      and not ${isTaskHeld} and not exists (
        select from feedback as item
        where (item.project_id, item.task_id) = (task.project_id, task.task_id)
          and item.user_id = ${user_id} and ${isItemHeld(held_trace_ids)})`.execute(db)
}

/**
 * Removes the user from items, and returns their number. Votes lock the row of their task before
 * they read items, so the tasks are locked first, in one order, and then their items are read.
 */
async function forgetSome(trx: FeedbackDb, erasure: UserErasure): Promise<number> {
  const { project_id, held_trace_ids } = erasure
  const free = sql`${itemsOf(erasure)} and not ${isHeld(held_trace_ids)}`
  const found = await sql<{ task_id: string }>`
    select item.task_id from ${free} limit ${items_max}`.execute(trx)
  const task_ids = [...new Set(found.rows.map(({ task_id }) => task_id))]
  if (task_ids.length === 0) return 0
  await sql`
    select from feedback_tasks
    where project_id = ${project_id} and task_id = any(${task_ids}::text[])
    order by task_id for update`.execute(trx)
  const { rows } = await sql<{ task_id: string; feedback_id: string }>`
    select item.task_id, item.feedback_id from ${free} and item.task_id = any(${task_ids}::text[])
    limit ${items_max} for update of item`.execute(trx)
  await forgetItems(trx, project_id, rows)
  return found.rows.length
}

/** Removes ids that identify the user. The id of an item is replaced, as it may contain a name. */
async function forgetItems(
  trx: FeedbackDb,
  project_id: string,
  items: readonly { task_id: string; feedback_id: string }[],
): Promise<void> {
  if (items.length === 0) return
  const given = sql`json_to_recordset(${JSON.stringify(items)}::json)
    as given (task_id text, feedback_id text)`
  await sql`
    delete from feedback_revisions as version using ${given}
    where version.project_id = ${project_id} and version.task_id = given.task_id
      and version.feedback_id = given.feedback_id`.execute(trx)
  await sql`
    update feedback as item set
      feedback_id = gen_random_uuid()::text, user_id = null, trace_id = null, comment = null,
      correction = null, metadata = '{}', body_digest = sha256(gen_random_uuid()::text::bytea),
      subject = case source when 'end_user' then 'erased:' || gen_random_uuid() else subject end
    from ${given}
    where item.project_id = ${project_id} and item.task_id = given.task_id
      and item.feedback_id = given.feedback_id`.execute(trx)
}

/** Repeats a statement of bounded items until it finds none: items may move meanwhile. */
async function repeat(signal: AbortSignal | undefined, run: () => Promise<number>): Promise<void> {
  for (let found = items_max; found > 0; ) {
    signal?.throwIfAborted()
    found = await run()
  }
}
