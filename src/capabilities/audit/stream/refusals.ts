import { sql } from '../../../platform/relational/index.ts'
import { type RecordRow, toEvent } from '../events/event.ts'
import { type PostOptions, post } from './post.ts'
import { withoutDetails } from './receiver.ts'
import { readNext, type StreamDb, type StreamPosition, type StreamState } from './store.ts'

/** A record that a receiver refused, encoded in its shortest form. */
type Refused = StreamPosition & { id: string; encoded: string | Uint8Array; status: number }

/** Refused requests with one record, about two minutes of them, before it can be set aside. */
const refusals_max = 8

/** Records in a row that are set aside at most, before the receiver accepts a new one. */
const maxInRow = 10

/** `kept`: the stream still waits for the record. */
type Judgement = { kind: 'kept' | 'accepted' } | { kind: 'set_aside'; attempts: number }

/**
 * Decides what happens to a record that was refused alone and in its shortest form. It is set aside
 * if the receiver refused it `refusals_max` times, accepts another record now, and refuses this one
 * again right after it. So a receiver that refuses everything sets nothing aside.
 */
export async function judgeRefusal(
  trx: StreamDb,
  { refused, state }: { refused: Refused; state: StreamState },
  options: PostOptions,
): Promise<Judgement> {
  const { receiver, now_ms } = options
  const { chain_id, seq, status, id, encoded } = refused
  const now = new Date(now_ms)
  const attempts = await noteRefusal(trx, receiver.name, { chain_id, seq, status, now })
  if (attempts < refusals_max || state.set_aside_in_row >= maxInRow) return { kind: 'kept' }
  const other = await readProbe(trx, receiver.name, refused)
  if (other === undefined) return { kind: 'kept' }
  const probe = receiver.encode(withoutDetails(toEvent(other)))
  const healthy = await post({ id: `${id}_probe`, encoded: [probe] }, options)
  if (healthy.kind !== 'accepted' || healthy.refused !== undefined) return { kind: 'kept' }
  const again = await post({ id, encoded: [encoded] }, options)
  if (again.kind === 'accepted') return { kind: 'accepted' }
  if (again.kind === 'failed') return { kind: 'kept' }
  await writeSetAside(trx, receiver.name, { chain_id, seq, now })
  return { kind: 'set_aside', attempts }
}

/** A record of a chain that a receiver refused, and the stream went on without. */
export type SetAsideRecord = {
  stream: string
  seq: number
  /** Status of the receiver's last answer. */
  status: number
  /** Refused requests with this record alone. */
  attempts: number
  set_aside_at: string
}

/** Position in the list of set-aside records of a chain. */
export type SetAsidePosition = { seq: number; stream: string }

/** Counts a refused request with one record in its shortest form. Returns the count. */
async function noteRefusal(
  trx: StreamDb,
  stream: string,
  { status, now, ...position }: StreamPosition & { status: number; now: Date },
): Promise<number> {
  const { attempts } = await trx
    .insertInto('audit_stream_refusals')
    .values({ stream, ...position, status, attempts: 1, refused_at: now })
    .onConflict((conflict) =>
      conflict.columns(['stream', 'chain_id', 'seq']).doUpdateSet({
        status,
        refused_at: now,
        attempts: sql<number>`audit_stream_refusals.attempts + 1`,
      }),
    )
    .returning('attempts')
    .executeTakeFirstOrThrow()
  return attempts
}

/** Marks a refused record as set aside. */
async function writeSetAside(
  trx: StreamDb,
  stream: string,
  { chain_id, seq, now }: StreamPosition & { now: Date },
): Promise<void> {
  await trx
    .updateTable('audit_stream_refusals')
    .set({ set_aside_at: now })
    .where('stream', '=', stream)
    .where('chain_id', '=', chain_id)
    .where('seq', '=', seq)
    .execute()
}

/** Forgets the refusals of records that the receiver accepted after all. */
export async function forgetRefusals(trx: StreamDb, stream: string): Promise<void> {
  await sql`
    delete from audit_stream_refusals as refusal using audit_stream_cursors as cursor
    where refusal.stream = ${stream} and refusal.set_aside_at is null
      and cursor.stream = refusal.stream and cursor.chain_id = refusal.chain_id
      and cursor.seq >= refusal.seq`.execute(trx)
}

/** Chains in which an accepted record is looked for. The ones that were sent last come first. */
const maxProbedChains = 10

/**
 * Returns a record that shows whether a receiver accepts other records than a refused one: the last
 * one that it accepted, or else the next one of the stream. Undefined if there is no other record.
 */
async function readProbe(
  trx: StreamDb,
  stream: string,
  refused: StreamPosition,
): Promise<RecordRow | undefined> {
  const { rows } = await sql<RecordRow>`
    select record.* from (
      select chain_id, seq, sent_at from audit_stream_cursors
      where stream = ${stream} order by sent_at desc limit ${maxProbedChains}
    ) as cursor cross join lateral (
      select * from audit_records as one
      where one.chain_id = cursor.chain_id and one.seq <= cursor.seq and not exists (
        select 1 from audit_stream_refusals as refusal where refusal.stream = ${stream}
          and refusal.chain_id = one.chain_id and refusal.seq = one.seq
      )
      order by one.seq desc limit 1
    ) as record
    order by cursor.sent_at desc limit 1`.execute(trx)
  if (rows[0] !== undefined) return rows[0]
  const next = await readNext(trx, { name: stream, records_max: 2 })
  return next.find(({ chain_id, seq }) => chain_id !== refused.chain_id || seq !== refused.seq)
}

/** Returns the records of a chain that streams set aside, newest first. */
export async function selectSetAside(
  db: StreamDb,
  {
    chain_id,
    before,
    limit,
  }: { chain_id: string; before: SetAsidePosition | undefined; limit: number },
): Promise<SetAsideRecord[]> {
  return await db
    .selectFrom('audit_stream_refusals')
    .select(['stream', 'seq', 'status', 'attempts', 'set_aside_at'])
    .where('chain_id', '=', chain_id)
    .where('set_aside_at', 'is not', null)
    .$if(before !== undefined, (query) =>
      query.where(sql<boolean>`(seq, stream) < (${before?.seq}, ${before?.stream})`),
    )
    .orderBy('seq', 'desc')
    .orderBy('stream', 'desc')
    .limit(limit)
    .$narrowType<{ set_aside_at: string }>()
    .execute()
}
