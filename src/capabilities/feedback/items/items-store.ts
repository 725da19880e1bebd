import type { SortPosition } from '../../../model/list-query.ts'
import {
  afterPosition,
  allOf,
  countUpTo,
  type FeedbackTables,
  type Fragment,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import type { FeedbackDb } from '../ports.ts'
import type { Sentiment } from '../votes/sentiment.ts'
import type { FeedbackSource } from '../votes/vote.ts'

/** A stored item. */
export type FeedbackRow = Selectable<FeedbackTables['feedback']>

/** An item after one of its changes. */
export type RevisionRow = Selectable<FeedbackTables['feedback_revisions']>

/** The key of an item. */
export type ItemKey = { project_id: string; task_id: string; feedback_id: string }

/** Filters of a list of items. */
export type ItemFilter = {
  source?: FeedbackSource | undefined
  state?: FeedbackRow['state'] | undefined
  sentiment?: Sentiment | undefined
  counts?: boolean | undefined
}

type ItemPage = { order: 'asc' | 'desc'; after: SortPosition | undefined; limit: number }

/** Returns an item; undefined if the task and project have no such item. */
export function findItem(
  db: FeedbackDb,
  { project_id, task_id, feedback_id }: ItemKey,
): Promise<FeedbackRow | undefined> {
  return db
    .selectFrom('feedback')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('feedback_id', '=', feedback_id)
    .executeTakeFirst()
}

/** Returns a page of a task's items by time of creation, and the number of all matches. */
export async function listItems(
  db: FeedbackDb,
  task: Omit<ItemKey, 'feedback_id'>,
  filter: ItemFilter,
  { order, after, limit }: ItemPage,
): Promise<{ rows: FeedbackRow[]; total: number }> {
  const conditions = conditionsOf(task, filter)
  const [created, id] = [sql.ref('created_at'), sql.ref('feedback_id')]
  const position = after && afterPosition(created, id, { order, after })
  const [rows, counted] = await Promise.all([
    db
      .selectFrom('feedback')
      .selectAll()
      .where(allOf([...conditions, position]))
      .orderBy('created_at', order)
      .orderBy('feedback_id', order)
      .limit(limit)
      .execute(),
    // A task has few items.
    db
      .selectFrom('feedback')
      .select(({ fn }) => fn.countAll<number>().as('items'))
      .where(allOf(conditions))
      .executeTakeFirstOrThrow(),
  ])
  return { rows, total: counted.items }
}

function conditionsOf(
  { project_id, task_id }: Omit<ItemKey, 'feedback_id'>,
  { source, state, sentiment, counts }: ItemFilter,
): (Fragment<boolean> | undefined)[] {
  const equal = (column: string, value: string | boolean | undefined) =>
    value === undefined ? undefined : sql<boolean>`${sql.ref(column)} = ${value}`
  return [
    sql<boolean>`project_id = ${project_id} and task_id = ${task_id}`,
    ...[equal('source', source), equal('state', state)],
    ...[equal('sentiment', sentiment), equal('counts', counts)],
  ]
}

/** Returns whether the task has feedback, including feedback that waits for the task. */
export async function hasFeedback(
  db: FeedbackDb,
  { project_id, task_id }: Omit<ItemKey, 'feedback_id'>,
): Promise<boolean> {
  const row = await db
    .selectFrom('feedback_tasks')
    .select('task_id')
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the changes of an item, oldest first. */
export function listRevisions(
  db: FeedbackDb,
  { project_id, task_id, feedback_id }: ItemKey,
): Promise<RevisionRow[]> {
  return db
    .selectFrom('feedback_revisions')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('feedback_id', '=', feedback_id)
    .orderBy('version')
    .execute()
}

/** Stores the values of an item after a change, for its history. */
export async function addRevision(
  trx: FeedbackDb,
  row: FeedbackRow,
  action: RevisionRow['action'],
): Promise<void> {
  const { project_id, task_id, feedback_id, version, updated_at: at, updated_by: actor } = row
  const { rating, thumbs, labels, comment, correction, metadata, sentiment } = row
  const value = { rating, thumbs, labels, comment, correction, metadata, sentiment }
  await trx
    .insertInto('feedback_revisions')
    .values({
      project_id,
      task_id,
      feedback_id,
      version,
      action,
      at,
      actor,
      value: JSON.stringify(value),
    })
    .execute()
}

/** Counts the waiting items of a project, or only those of browser keys, up to `count_max`. */
export async function countPending(
  db: FeedbackDb,
  {
    project_id,
    by_browser,
    count_max,
  }: { project_id: string; by_browser: boolean; count_max: number },
): Promise<number> {
  const waiting = db
    .selectFrom('feedback')
    .select('feedback_id')
    .where('project_id', '=', project_id)
    .where('state', '=', 'pending')
    .$if(by_browser, (query) => query.where('by_browser', '=', true))
  return countUpTo(db, waiting, count_max)
}

/** Returns the number of items of a task that browser keys created, and of those from a network. */
export async function countBrowserItems(
  db: FeedbackDb,
  { project_id, task_id }: Omit<ItemKey, 'feedback_id'>,
  network_tag: number | null,
): Promise<{ items: number; of_network: number }> {
  return db
    .selectFrom('feedback')
    .select(({ fn }) => fn.countAll<number>().as('items'))
    .select(({ fn }) =>
      fn.countAll<number>().filterWhere('network_tag', '=', network_tag).as('of_network'),
    )
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('by_browser', '=', true)
    .executeTakeFirstOrThrow()
}

/** Adds to the number of items that were not stored. */
export async function addDrops(
  db: FeedbackDb,
  drop: {
    project_id: string
    hour: string
    reason: 'task_not_seen' | 'pending_limit' | 'task_limit'
    items: number
  },
): Promise<void> {
  await db
    .insertInto('feedback_drops')
    .values(drop)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'hour', 'reason'])
        .doUpdateSet({ items: sql`feedback_drops.items + excluded.items` }),
    )
    .execute()
}
