import {
  type RetentionTables,
  type Selectable,
  sql,
} from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'

/** Rows of a day, kind and environment, and the action of a run on them. */
export type RunBucket = Selectable<RetentionTables['retention_buckets']>

/**
 * Records rows before they are deleted, so that the record exists even if the run is killed. Rows
 * that are found again after a kill count once; rows that came after the bucket was done are added.
 */
export async function beginBucket(
  db: RetentionDb,
  bucket: Omit<RunBucket, 'state'>,
): Promise<void> {
  const known = (column: 'row_count' | 'bytes') => {
    const old = sql.ref(`retention_buckets.${column}`)
    const given = sql.ref(`excluded.${column}`)
    return sql<number>`case when retention_buckets.state = 'begun'
      then greatest(${old}, ${given}) else ${old} + ${given} end`
  }
  await db
    .insertInto('retention_buckets')
    .values({ ...bucket, state: 'begun' })
    .onConflict((conflict) =>
      conflict.columns(['job_id', 'day', 'kind', 'environment', 'action']).doUpdateSet({
        state: 'begun',
        reason: bucket.reason,
        row_count: known('row_count'),
        bytes: known('bytes'),
        held_rows: bucket.held_rows,
      }),
    )
    .execute()
}

type BucketKey = Pick<RunBucket, 'job_id' | 'day' | 'kind' | 'environment' | 'action'>

export async function endBucket(db: RetentionDb, key: BucketKey): Promise<void> {
  await db
    .updateTable('retention_buckets')
    .set({ state: 'done' })
    .where('job_id', '=', key.job_id)
    .where('day', '=', key.day)
    .where('kind', '=', key.kind)
    .where('environment', '=', key.environment)
    .where('action', '=', key.action)
    .execute()
}

/** Returns the buckets that a killed run had begun. */
export function begunBuckets(db: RetentionDb, job_id: string): Promise<RunBucket[]> {
  return db
    .selectFrom('retention_buckets')
    .selectAll()
    .where('job_id', '=', job_id)
    .where('state', '=', 'begun')
    .execute()
}

/** Ends the buckets that a killed run had begun and that have no rows left. */
export async function endAllBuckets(db: RetentionDb, job_id: string): Promise<void> {
  await db
    .updateTable('retention_buckets')
    .set({ state: 'done' })
    .where('job_id', '=', job_id)
    .where('state', '=', 'begun')
    .execute()
}

/** Records rows that stay; replaces an earlier record. */
export async function noteKept(
  db: RetentionDb,
  bucket: Omit<RunBucket, 'state' | 'action'>,
): Promise<void> {
  await db
    .insertInto('retention_buckets')
    .values({ ...bucket, action: 'keep', state: 'kept' })
    .onConflict((conflict) =>
      conflict.columns(['job_id', 'day', 'kind', 'environment', 'action']).doUpdateSet({
        reason: bucket.reason,
        row_count: bucket.row_count,
        bytes: bucket.bytes,
        held_rows: bucket.held_rows,
      }),
    )
    .execute()
}

/** Adds deleted rows; call it in the transaction that deletes them. */
export async function addDone(
  db: RetentionDb,
  bucket: Omit<RunBucket, 'state' | 'reason' | 'bytes' | 'held_rows' | 'action'>,
): Promise<void> {
  await db
    .insertInto('retention_buckets')
    .values({ ...bucket, bytes: 0, held_rows: 0, action: 'delete', state: 'done' })
    .onConflict((conflict) =>
      conflict.columns(['job_id', 'day', 'kind', 'environment', 'action']).doUpdateSet({
        row_count: sql<number>`retention_buckets.row_count + excluded.row_count`,
      }),
    )
    .execute()
}

/** A bucket that a dry run counted. */
export type PlannedBucket = Omit<RunBucket, 'job_id' | 'state'>

/** Most buckets of one statement: each has nine parameters; PostgreSQL allows 65,535. */
const planned_max = 1_000

/** Stores the buckets of a dry run; idempotent. */
export async function notePlanned(
  db: RetentionDb,
  job_id: string,
  buckets: readonly PlannedBucket[],
): Promise<void> {
  for (let at = 0; at < buckets.length; at += planned_max) {
    await db
      .insertInto('retention_buckets')
      .values(
        buckets
          .slice(at, at + planned_max)
          .map((bucket) => ({ ...bucket, job_id, state: 'kept' as const })),
      )
      .onConflict((conflict) =>
        conflict.columns(['job_id', 'day', 'kind', 'environment', 'action']).doNothing(),
      )
      .execute()
  }
}

/** Deletes the buckets of an earlier attempt at a dry run. */
export async function forgetBuckets(db: RetentionDb, job_id: string): Promise<void> {
  await db.deleteFrom('retention_buckets').where('job_id', '=', job_id).execute()
}

/** Position of a bucket in its run. */
export type BucketPosition = Pick<RunBucket, 'day' | 'kind' | 'environment' | 'action'>

/** Returns a page of a run's buckets, oldest day first. */
export function selectBuckets(
  db: RetentionDb,
  job_id: string,
  { after, limit }: { after: BucketPosition | undefined; limit: number },
): Promise<RunBucket[]> {
  return db
    .selectFrom('retention_buckets')
    .selectAll()
    .where('job_id', '=', job_id)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(day, kind, environment, action) >
          (${after?.day ?? 0}, ${after?.kind ?? ''}, ${after?.environment ?? ''}, ${after?.action ?? ''})`,
      ),
    )
    .orderBy('day')
    .orderBy('kind')
    .orderBy('environment')
    .orderBy('action')
    .limit(limit)
    .execute()
}

/** Returns the sums over the buckets of a run. */
export async function bucketTotals(db: RetentionDb, job_id: string) {
  type Totals = Record<
    'buckets' | 'deleted_rows' | 'deleted_bytes' | 'masked_rows' | 'held_rows' | 'kept_rows',
    number
  >
  const summed = await sql<Totals>`
    select count(*)::bigint as buckets,
      coalesce(sum(row_count) filter (where action = 'delete'), 0)::bigint as deleted_rows,
      coalesce(sum(bytes) filter (where action = 'delete'), 0)::bigint as deleted_bytes,
      coalesce(sum(row_count) filter (where action = 'mask'), 0)::bigint as masked_rows,
      coalesce(sum(held_rows), 0)::bigint as held_rows,
      coalesce(sum(row_count) filter (where action = 'keep'), 0)::bigint as kept_rows
    from retention_buckets where job_id = ${job_id}`.execute(db)
  const [totals] = summed.rows
  if (totals === undefined) throw new TypeError('got no row of sums, expected one')
  return totals
}
