import { type AuditTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { RecordRow } from '../events/event.ts'

/** A database with the tables of the trail. */
export type StreamDb = Kysely<AuditTables>

/** The state of a stream. Times are ms since 1970. */
export type StreamState = {
  /** Failed requests since the last success. */
  attempts: number
  /** No request is sent before this time; 0: at any time. */
  next_attempt_ms: number
  /** Records that were set aside since the receiver last accepted a new one. */
  set_aside_in_row: number
}

/** A position of a stream in a chain. */
export type StreamPosition = { chain_id: string; seq: number }

/** Creates the row of a stream, if it is missing. */
export async function ensureStream(db: StreamDb, name: string): Promise<void> {
  await db
    .insertInto('audit_streams')
    .values({ name })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Takes the lock of a stream for the transaction, and returns its state. Returns undefined if
 * another worker has it. PostgreSQL ends the transaction of a process that does nothing for
 * `idle_ms_max`, so that a lost machine does not keep the lock.
 */
export async function lockStream(
  trx: StreamDb,
  { name, idle_ms_max }: { name: string; idle_ms_max: number },
): Promise<StreamState | undefined> {
  await sql`set local idle_in_transaction_session_timeout = ${sql.lit(idle_ms_max)}`.execute(trx)
  const row = await trx
    .selectFrom('audit_streams')
    .select(['attempts', 'next_attempt_at', 'set_aside_in_row'])
    .where('name', '=', name)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { next_attempt_at, ...state } = row
  return { ...state, next_attempt_ms: next_attempt_at === null ? 0 : Date.parse(next_attempt_at) }
}

/** Waits for the requests that all streams send now. Later requests read the records again. */
export async function waitForStreams(db: StreamDb): Promise<void> {
  await sql`select name from audit_streams for share`.execute(db)
}

/** Writes the state of a stream, whose lock the transaction has. */
export async function writeState(
  trx: StreamDb,
  name: string,
  { next_attempt_ms, ...state }: StreamState,
): Promise<void> {
  const next_attempt_at = next_attempt_ms === 0 ? null : new Date(next_attempt_ms)
  await trx
    .updateTable('audit_streams')
    .set({ ...state, next_attempt_at })
    .where('name', '=', name)
    .execute()
}

/** Chains in one batch. The chains that waited longest come first. */
const chains_max = 50

/**
 * Returns the next records of a stream: of each chain in their order, and of each chain a share, so
 * that a busy organization does not delay the others. The records of a chain are committed in the
 * order of their numbers, because each one locks the chain, so no record appears behind the cursor.
 */
export async function readNext(
  trx: StreamDb,
  { name, records_max }: { name: string; records_max: number },
): Promise<RecordRow[]> {
  const { rows } = await sql<RecordRow>`
    with waiting as (
      select chain.chain_id, coalesce(cursor.seq, 0) as seq
      from audit_chains as chain
      left join audit_stream_cursors as cursor
        on cursor.stream = ${name} and cursor.chain_id = chain.chain_id
      where chain.seq > greatest(coalesce(cursor.seq, 0), chain.pruned_seq)
      order by cursor.sent_at nulls first, chain.chain_id
      limit ${Math.min(chains_max, records_max)}
    )
    select record.* from waiting cross join lateral (
      select * from audit_records as one
      where one.chain_id = waiting.chain_id and one.seq > waiting.seq
      order by one.seq
      limit greatest(1, ${records_max}::integer / (select count(*) from waiting)::integer)
    ) as record
    order by record.chain_id, record.seq`.execute(trx)
  return rows
}

/** Advances the cursors of a stream to the last accepted records. */
export async function writeCursors(
  trx: StreamDb,
  name: string,
  { positions, now }: { positions: readonly StreamPosition[]; now: Date },
): Promise<void> {
  await trx
    .insertInto('audit_stream_cursors')
    .values(positions.map((position) => ({ stream: name, ...position, sent_at: now })))
    .onConflict((conflict) =>
      conflict.columns(['stream', 'chain_id']).doUpdateSet({
        seq: sql<number>`excluded.seq`,
        sent_at: now,
      }),
    )
    .execute()
}

/** Records that a stream has not sent yet, and the time of the oldest one; null without one. */
export type Lag = { records: number; oldest_ms: number | null }

/** Measures the lag of a stream. */
export async function measureLag(db: StreamDb, name: string): Promise<Lag> {
  const { rows } = await sql<Lag>`
    with waiting as (
      select chain.chain_id, chain.seq, greatest(coalesce(cursor.seq, 0), chain.pruned_seq) as sent
      from audit_chains as chain
      left join audit_stream_cursors as cursor
        on cursor.stream = ${name} and cursor.chain_id = chain.chain_id
      where chain.seq > greatest(coalesce(cursor.seq, 0), chain.pruned_seq)
    )
    select coalesce(sum(seq - sent), 0)::float8 as records,
      floor(extract(epoch from min(oldest.recorded_at)) * 1000)::float8 as oldest_ms
    from waiting left join lateral (
      select recorded_at from audit_records as one
      where one.chain_id = waiting.chain_id and one.seq > waiting.sent order by one.seq limit 1
    ) as oldest on true`.execute(db)
  return rows[0] ?? { records: 0, oldest_ms: null }
}
