import {
  countUpTo,
  type RetentionTables,
  type Selectable,
  sql,
} from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'

/** A request to delete a user's data. */
export type Erasure = Selectable<RetentionTables['erasures']>

/** Returns the key of a project's digests; the first call creates it. */
export async function erasureKey(
  db: RetentionDb,
  project_id: string,
  random: () => Buffer,
): Promise<Buffer> {
  await db
    .insertInto('erasure_keys')
    .values({ project_id, key: random() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { key } = await db
    .selectFrom('erasure_keys')
    .select('key')
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  return key
}

export type NewErasure = Pick<
  Erasure,
  'id' | 'project_id' | 'user_id_digest' | 'reason' | 'purge' | 'requested_by'
> & { user_id: string; created_at: Date }

export function insertErasure(db: RetentionDb, erasure: NewErasure): Promise<Erasure> {
  return db.insertInto('erasures').values(erasure).returningAll().executeTakeFirstOrThrow()
}

export async function noteJob(db: RetentionDb, id: string, job_id: string): Promise<void> {
  await db.updateTable('erasures').set({ job_id }).where('id', '=', id).execute()
}

export function findErasure(
  db: RetentionDb,
  { project_id, id }: Pick<Erasure, 'project_id' | 'id'>,
): Promise<Erasure | undefined> {
  return db
    .selectFrom('erasures')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns an unended erasure of the user, so that repeated requests run once. */
export function findOpenErasure(
  db: RetentionDb,
  { project_id, user_id_digest }: Pick<Erasure, 'project_id' | 'user_id_digest'>,
): Promise<Erasure | undefined> {
  return db
    .selectFrom('erasures')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('user_id_digest', '=', user_id_digest)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst()
}

/** Returns erasures, newest first. */
export function selectErasures(
  db: RetentionDb,
  { project_id, after, limit }: { project_id: string; after: string | undefined; limit: number },
): Promise<Erasure[]> {
  return db
    .selectFrom('erasures')
    .selectAll()
    .where('project_id', '=', project_id)
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts erasures up to `limit`. */
export function countErasures(
  db: RetentionDb,
  { project_id, limit }: { project_id: string; limit: number },
): Promise<number> {
  const erasures = db.selectFrom('erasures').select('id').where('project_id', '=', project_id)
  return countUpTo(db, erasures, limit)
}

type OfDigest = Pick<Erasure, 'project_id' | 'user_id_digest'>

/** Stores traces of a user; idempotent. */
export async function noteTraces(
  db: RetentionDb,
  { project_id, user_id_digest }: OfDigest,
  trace_ids: readonly string[],
): Promise<void> {
  if (trace_ids.length === 0) return
  await sql`
    insert into erased_traces (project_id, user_id_digest, trace_id)
    select ${project_id}, ${user_id_digest}, id from unnest(${[...trace_ids]}::uuid[]) as id
    on conflict do nothing`.execute(db)
}

/** Reads a page of the user's traces that this erasure and earlier ones stored, sorted. */
export async function selectTraces(
  db: RetentionDb,
  { project_id, user_id_digest }: OfDigest,
  page: { after: string | undefined; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('erased_traces')
    .select('trace_id')
    .where('project_id', '=', project_id)
    .where('user_id_digest', '=', user_id_digest)
    .$if(page.after !== undefined, (query) => query.where('trace_id', '>', page.after ?? ''))
    .orderBy('trace_id')
    .limit(page.limit)
    .execute()
  return rows.map(({ trace_id }) => trace_id)
}

/** Stores when the user's data became unreadable; the first time counts. */
export async function noteUnreadable(db: RetentionDb, id: string, at: Date): Promise<void> {
  await db
    .updateTable('erasures')
    .set({ unreadable_at: at })
    .where('id', '=', id)
    .where('unreadable_at', 'is', null)
    .execute()
}

/** Ends an erasure: writes the receipt and deletes the user's id. */
export async function endErasure(
  db: RetentionDb,
  id: string,
  { receipt, ended_at }: { receipt: object; ended_at: Date },
): Promise<void> {
  await db
    .updateTable('erasures')
    .set({ user_id: null, receipt: JSON.stringify(receipt), ended_at })
    .where('id', '=', id)
    .execute()
}

type OfUser = { project_id: string; user_id: string; held_ids: string[]; held_talks: string[] }

/** Deletes a user's tasks with their events, and conversations, except those under a hold. */
export async function deleteOwned(
  db: RetentionDb,
  { project_id, user_id, held_ids, held_talks }: OfUser,
): Promise<{ tasks: number; conversations: number }> {
  const tasks = await sql<{ rows: number }>`
    with gone as (
      delete from tasks
      where project_id = ${project_id} and user_id = ${user_id}
        and not (task_id = any(${held_ids}))
        and (conversation_id is null or not (conversation_id::text = any(${held_talks})))
        and not exists (
          select from conversations as talk
          where talk.project_id = tasks.project_id
            and talk.conversation_id = tasks.conversation_id
            and talk.external_id = any(${held_talks}))
      returning task_id
    ), told as (
      delete from task_events
      where project_id = ${project_id} and task_id in (select task_id from gone)
    ), forgotten as (
      delete from large_rollups where project_id = ${project_id} and kind = 'task'
        and id in (select task_id from gone)
    )
    select count(*)::int as rows from gone`.execute(db)
  const conversations = await sql<{ rows: number }>`
    with gone as (
      delete from conversations
      where project_id = ${project_id} and user_id = ${user_id}
        and not (conversation_id::text = any(${held_talks}))
        and (external_id is null or not (external_id = any(${held_talks})))
      returning conversation_id
    ), forgotten as (
      delete from large_rollups where project_id = ${project_id} and kind = 'conversation'
        and id in (select conversation_id::text from gone)
    )
    select count(*)::int as rows from gone`.execute(db)
  return {
    tasks: tasks.rows[0]?.rows ?? 0,
    conversations: conversations.rows[0]?.rows ?? 0,
  }
}

/** Most archive runs of one receipt: thirty years of daily runs. */
const runs_max = 10_000

/** The archive runs of a project whose files exist or are being written, newest first. */
export async function archiveRuns(db: RetentionDb, project_id: string): Promise<string[]> {
  const runs = await db
    .selectFrom('job_runs')
    .select('id')
    .where('project_id', '=', project_id)
    .where('kind', '=', 'archive')
    .where('state', 'in', ['queued', 'running', 'succeeded'])
    .orderBy('id', 'desc')
    .limit(runs_max)
    .execute()
  return runs.map(({ id }) => id)
}
