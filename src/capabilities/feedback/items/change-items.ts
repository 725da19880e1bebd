import { problem } from '../../../kernel/problem.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { FeedbackDb, FeedbackLimits } from '../ports.ts'
import { deriveSentiment, type Sentiment } from '../votes/sentiment.ts'
import { type FeedbackTaskRow, settleVotes } from '../votes/settle-votes.ts'
import { type FeedbackSource, hourOf } from '../votes/vote.ts'
import { findFeedbackTask, findSeenTask, lockFeedbackTask } from './feedback-tasks.ts'
import {
  addDrops,
  addRevision,
  countBrowserItems,
  countPending,
  type FeedbackRow,
  findItem,
  type ItemKey,
} from './items-store.ts'

/** The editable values of an item. `sentiment` is the given sentiment, not the derived one. */
export type ItemValue = {
  rating: number | null
  thumbs: 'up' | 'down' | null
  labels: string[]
  comment: string | null
  correction: string | null
  metadata: Record<string, string>
  sentiment: Sentiment | null
}

/** An item to store. */
export type NewItem = ItemKey & {
  source: FeedbackSource
  subject: string
  user_id: string | null
  trace_id: string | null
  /** ISO 8601. */
  at: string
  time_adjusted: boolean
  by_browser: boolean
  /** Tag of the client network; null for an item that no browser key creates. */
  network_tag: number | null
  /** `user:<id>`, `key:<id>` or `service_account:<id>`. */
  actor: string
  value: ItemValue
  /** SHA-256 of what the client sent. */
  body_digest: Buffer
}

type Ports = { db: FeedbackDb; limits: FeedbackLimits; now_ms: number }

/**
 * Stores an item, or returns the item that an equal call stored earlier. Throws `feedback_conflict`
 * if the id has another body, `limit_reached` and `feedback_queue_full`.
 */
export async function createItem(
  { db, limits, now_ms }: Ports,
  item: NewItem,
): Promise<{ row: FeedbackRow; is_new: boolean }> {
  try {
    return await db.transaction().execute(async (trx) => {
      const task = await lockFeedbackTask(trx, { ...item, ...limits, now_ms })
      const key = { ...item, task_id: task.task_id }
      const known = await findItem(trx, key)
      if (known !== undefined) return { row: sameItem(known, item), is_new: false }
      await admit(trx, task, { item, limits })
      const subject = { source: item.source, subject: item.subject, now_ms }
      await settleVotes(trx, task, subject, (at) => insertItem(trx, task, { item, at }))
      return { row: await storedItem(trx, key), is_new: true }
    })
  } catch (error) {
    if (error instanceof NotAdmitted) await noteDrop(db, item, { reason: error.reason, now_ms })
    throw error instanceof NotAdmitted ? error.cause : error
  }
}

function sameItem(known: FeedbackRow, item: NewItem): FeedbackRow {
  if (known.body_digest.equals(item.body_digest)) return known
  throw problem('feedback_conflict', {
    detail: `feedback_id: "${item.feedback_id}" is an item with another body. Use a new id, or change the item with PUT`,
  })
}

type DropReason = 'pending_limit' | 'task_limit'

/** An item exceeds a limit. The drop is counted after the transaction. */
class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted'
  readonly reason: DropReason

  constructor(reason: DropReason, cause: Error) {
    super(cause.message, { cause })
    this.reason = reason
  }
}

async function admit(
  trx: FeedbackDb,
  task: FeedbackTaskRow,
  { item, limits }: { item: NewItem; limits: FeedbackLimits },
): Promise<void> {
  const reached = await reachedLimit(trx, task, { item, limits })
  if (reached !== undefined) {
    const detail = `The task has ${reached}, the maximum. Change an item instead of adding one.`
    throw new NotAdmitted('task_limit', problem('limit_reached', { detail }))
  }
  if (task.attached) return
  const { by_browser } = item
  const pending_max = by_browser ? limits.browser_pending_max : limits.pending_max
  const counted = { project_id: item.project_id, by_browser, count_max: pending_max }
  if ((await countPending(trx, counted)) < pending_max) return
  const detail = `${pending_max} items of feedback wait for tasks without calls, the maximum of a project. Send feedback after the first call of its task.`
  const full = problem('feedback_queue_full', { detail, retry_after_s: 60 })
  throw new NotAdmitted('pending_limit', full)
}

/** Returns the limit of items that a task has reached, in words; undefined if there is room. */
async function reachedLimit(
  trx: FeedbackDb,
  task: FeedbackTaskRow,
  { item, limits }: { item: NewItem; limits: FeedbackLimits },
): Promise<string | undefined> {
  const { items_of_task_max, browser_items_of_task_max, browser_items_of_network_max } = limits
  if (task.items >= items_of_task_max) return `${items_of_task_max} items`
  if (!item.by_browser) return undefined
  const { items, of_network } = await countBrowserItems(trx, task, item.network_tag)
  if (items >= browser_items_of_task_max)
    return `${browser_items_of_task_max} items of browser keys`
  if (of_network < browser_items_of_network_max) return undefined
  return `${browser_items_of_network_max} items of browser keys from your network`
}

async function noteDrop(
  db: FeedbackDb,
  { project_id }: NewItem,
  { reason, now_ms }: { reason: DropReason; now_ms: number },
): Promise<void> {
  const hour = hourOf(new Date(now_ms).toISOString())
  await addDrops(db, { project_id, hour, reason, items: 1 })
}

async function insertItem(
  trx: FeedbackDb,
  { project_id, task_id, attached }: FeedbackTaskRow,
  { item, at: created_at }: { item: NewItem; at: string },
): Promise<void> {
  const { feedback_id, source, subject, user_id, trace_id, at, time_adjusted } = item
  const { actor, value, by_browser, network_tag, body_digest } = item
  const row = await trx
    .insertInto('feedback')
    .values({
      project_id,
      task_id,
      feedback_id,
      source,
      subject,
      user_id,
      trace_id,
      at,
      time_adjusted,
      by_browser,
      network_tag,
      body_digest,
      ...columnsOf(value),
      state: attached ? 'attached' : 'pending',
      version: 1,
      created_at,
      created_by: actor,
      updated_at: created_at,
      updated_by: actor,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await addRevision(trx, row, 'created')
  await trx
    .updateTable('feedback_tasks')
    .set({
      items: sql`items + 1`,
      first_at: sql`least(first_at, ${at}::timestamptz)`,
      last_at: sql`greatest(last_at, ${at}::timestamptz)`,
    })
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .execute()
}

function columnsOf({ metadata, ...value }: ItemValue) {
  const sentiment = deriveSentiment(value)
  return { ...value, sentiment, metadata: JSON.stringify(metadata) }
}

async function storedItem(trx: FeedbackDb, key: ItemKey): Promise<FeedbackRow> {
  const row = await findItem(trx, key)
  if (row === undefined) throw feedbackNotFound(key.feedback_id)
  return row
}

/** Returns the error for an item that the task does not have, or that the caller may not change. */
export function feedbackNotFound(feedback_id: string): Error {
  return problem('feedback_not_found', {
    detail: `feedback_id: got "${feedback_id}", which is no feedback of this task that you can see`,
  })
}

/** A change of an item. */
export type ItemChange = {
  actor: string
  /** Throws if the caller may not change the item, or names another version. */
  check: (row: FeedbackRow) => void
}

/**
 * Replaces the values of an item. The history keeps the earlier values. Throws
 * `feedback_not_found`, `feedback_withdrawn`, `limit_reached`, and the errors of `check`.
 */
export function editItem(
  ports: Ports,
  key: ItemKey,
  change: ItemChange & { value: ItemValue },
): Promise<FeedbackRow> {
  return changeItem(ports, key, change, async (trx, row, at) => {
    if (row.state === 'withdrawn') {
      const detail = `feedback_id: "${key.feedback_id}" is withdrawn and cannot be edited. Create a new item.`
      throw problem('feedback_withdrawn', { detail })
    }
    if (row.version >= ports.limits.versions_max) {
      const detail = `The item has ${row.version} versions, the maximum. Create a new item.`
      throw problem('limit_reached', { detail })
    }
    const set = columnsOf(change.value)
    await updateItem(trx, row, { set, at, actor: change.actor, action: 'edited' })
  })
}

/**
 * Withdraws an item: it is kept with its history, and no longer counts. A second withdrawal changes
 * nothing. Throws `feedback_not_found`, and the errors of `check`.
 */
export function withdrawItem(ports: Ports, key: ItemKey, change: ItemChange): Promise<FeedbackRow> {
  return changeItem(ports, key, change, async (trx, row, at) => {
    if (row.state === 'withdrawn') return
    const set = { state: 'withdrawn' as const }
    await updateItem(trx, row, { set, at, actor: change.actor, action: 'withdrawn' })
  })
}

async function changeItem(
  { db, now_ms }: Ports,
  key: ItemKey,
  { check }: ItemChange,
  change: (trx: FeedbackDb, row: FeedbackRow, at: string) => Promise<void>,
): Promise<FeedbackRow> {
  return db.transaction().execute(async (trx) => {
    const seen = await findSeenTask(trx, key)
    const named = { ...key, task_id: seen?.task_id ?? key.task_id }
    const task = await findFeedbackTask(trx, named)
    const row = task && (await findItem(trx, named))
    if (task === undefined || row === undefined) throw feedbackNotFound(key.feedback_id)
    check(row)
    await settleVotes(trx, task, { ...row, now_ms }, (at) => change(trx, row, at))
    return storedItem(trx, named)
  })
}

type Update = {
  set: Partial<ReturnType<typeof columnsOf>> & { state?: 'withdrawn' }
  at: string
  actor: string
  action: 'edited' | 'withdrawn'
}

async function updateItem(
  trx: FeedbackDb,
  { project_id, task_id, feedback_id, version }: FeedbackRow,
  { set, at, actor, action }: Update,
): Promise<void> {
  const row = await trx
    .updateTable('feedback')
    .set({ ...set, version: version + 1, updated_at: at, updated_by: actor })
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('feedback_id', '=', feedback_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await addRevision(trx, row, action)
}
